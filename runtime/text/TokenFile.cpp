//===- TokenFile.cpp - files of tokens and what is known of them ----------===//
#include "runtime/text/TokenFile.h"
#include "runtime/data/Convert.h"
#include "runtime/text/Unicode.h"
#include "support/Error.h"

using namespace llvm;

namespace mp::tokenizers {

Error TokenizerChoice::add(StringRef text) {
  return isCharacters() ? characters.add(text) : Error::success();
}

Expected<std::unique_ptr<Tokenizer>> TokenizerChoice::make() const {
  if (name == "bytes")
    return byteTokenizer();
  if (isCharacters())
    return characterTokenizer(characters.sorted());
  return readTokenizer(name);
}

void TokenizerChoice::describe(json::Object &description) const {
  description["tokenizer"] = name;
  if (!isCharacters())
    return;
  std::string all;
  for (char32_t character : characters.sorted())
    appendCharacter(character, all);
  description["characters"] = all;
}

Expected<ElementType> tokenType(uint64_t vocabularySize, StringRef asked) {
  constexpr uint64_t mostOfShort = uint64_t(1) << 16;
  if (asked == "uint16" && vocabularySize > mostOfShort)
    return makeError("the vocabulary has {0} tokens, and uint16 holds {1}: "
                     "give --dtype uint32",
                     vocabularySize, mostOfShort);
  if (asked == "uint32" || vocabularySize > mostOfShort)
    return ElementType::U32;
  return ElementType::U16;
}

StringRef dtypeName(ElementType type) {
  return type == ElementType::U16 ? "uint16" : "uint32";
}

void appendTokens(ArrayRef<Token> tokens, ElementType type,
                  std::string &bytes) {
  unsigned width = byteWidth(type);
  size_t before = bytes.size();
  bytes.resize(before + tokens.size() * width);
  char *to = bytes.data() + before;
  for (Token token : tokens) {
    storeInteger(type, token, to);
    to += width;
  }
}

Tokens tokensOf(StringRef bytes, ElementType type) {
  Tokens tokens;
  unsigned width = byteWidth(type);
  for (size_t at = 0; at + width <= bytes.size(); at += width)
    tokens.push_back(static_cast<Token>(loadInteger(type, bytes.data() + at)));
  return tokens;
}

std::string descriptionOf(StringRef path) { return (path + ".json").str(); }

} // namespace mp::tokenizers
