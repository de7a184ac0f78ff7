//===- Characters.cpp - bytes and characters as tokens --------------------===//
#include "runtime/text/Tokenizer.h"
#include "runtime/text/Unicode.h"
#include "support/Error.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mp::tokenizers {

namespace {

class Bytes : public Tokenizer {
public:
  Error encode(StringRef text, Tokens &tokens) const override {
    tokens.insert(tokens.end(), text.bytes_begin(), text.bytes_end());
    return Error::success();
  }
  std::string decode(ArrayRef<Token> tokens) const override {
    return {tokens.begin(), tokens.end()};
  }
  std::optional<Token> find(StringRef name) const override {
    if (name.size() != 1)
      return std::nullopt;
    return *name.bytes_begin();
  }
  uint64_t vocabularySize() const override { return 256; }
};

class Characters : public Tokenizer {
public:
  explicit Characters(std::vector<char32_t> characters)
      : characters(std::move(characters)) {
    for (auto [token, character] : enumerate(this->characters))
      tokenOf[character] = token;
  }

  Error encode(StringRef text, Tokens &tokens) const override {
    for (StringRef rest = text; !rest.empty();) {
      size_t at = text.size() - rest.size();
      auto found = tokenOf.find(takeCharacter(rest));
      if (found == tokenOf.end())
        return makeError("byte {0}: the vocabulary has no character like {1}",
                         at, printableHead(text.substr(at), 4));
      tokens.push_back(found->second);
    }
    return Error::success();
  }
  std::string decode(ArrayRef<Token> tokens) const override {
    std::string text;
    for (Token token : tokens)
      appendCharacter(characters[token], text);
    return text;
  }
  std::optional<Token> find(StringRef name) const override {
    if (name.empty() || characterLength(name) != name.size())
      return std::nullopt;
    auto found = tokenOf.find(takeCharacter(name));
    if (found == tokenOf.end())
      return std::nullopt;
    return found->second;
  }
  uint64_t vocabularySize() const override { return characters.size(); }

private:
  std::vector<char32_t> characters;
  DenseMap<uint32_t, Token> tokenOf; ///< by the character
};

} // namespace

std::unique_ptr<Tokenizer> byteTokenizer() { return std::make_unique<Bytes>(); }

std::unique_ptr<Tokenizer>
characterTokenizer(std::vector<char32_t> characters) {
  return std::make_unique<Characters>(std::move(characters));
}

/// Leaves at most `most` tokens of texts. Of two texts, the shorter one stays
/// whole where it takes no more than half.
static void cutOff(MutableArrayRef<Tokens> texts, size_t most) {
  if (texts.size() == 1)
    return texts[0].resize(std::min(texts[0].size(), most));
  bool isFirstShorter = texts[0].size() <= texts[1].size();
  Tokens &shorter = texts[isFirstShorter ? 0 : 1];
  Tokens &longer = texts[isFirstShorter ? 1 : 0];
  if (shorter.size() + longer.size() <= most)
    return;
  shorter.resize(std::min(shorter.size(), most / 2));
  longer.resize(most - shorter.size());
}

Expected<Sample> encodeSample(const Tokenizer &tokenizer,
                              ArrayRef<StringRef> texts, size_t most) {
  const Template &parts =
      texts.size() == 1 ? tokenizer.oneText : tokenizer.twoTexts;
  std::vector<Tokens> encoded(texts.size());
  for (auto [text, tokens] : zip_equal(texts, encoded))
    if (Error error = tokenizer.encode(text, tokens))
      return error;
  size_t around =
      count_if(parts, [](const TemplatePart &part) { return !part.text; });
  cutOff(encoded, std::max(most, around) - around);
  Sample sample;
  for (const TemplatePart &part : parts) {
    if (part.text)
      append_range(sample.tokens, encoded[*part.text]);
    else
      sample.tokens.push_back(part.token);
    sample.types.resize(sample.tokens.size(), part.type);
  }
  sample.tokens.resize(std::min(sample.tokens.size(), most));
  sample.types.resize(sample.tokens.size());
  return sample;
}

Error CharacterSet::add(StringRef text) {
  if (std::optional<size_t> at = firstInvalid(text))
    return makeError("byte {0} is not UTF-8", *at);
  seen.resize(0x110000);
  while (!text.empty())
    seen[takeCharacter(text)] = true;
  return Error::success();
}

std::vector<char32_t> CharacterSet::sorted() const {
  std::vector<char32_t> characters;
  for (size_t character = 0; character < seen.size(); ++character)
    if (seen[character])
      characters.push_back(static_cast<char32_t>(character));
  return characters;
}

} // namespace mp::tokenizers
