//===- Pipeline.cpp - a tokenizer of stages -------------------------------===//
#include "runtime/text/Pipeline.h"
#include "runtime/text/Unicode.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mp::tokenizers {

Error Pipeline::encode(StringRef text, Tokens &tokens) const {
  if (std::optional<size_t> at = firstInvalid(text))
    return makeError("byte {0} is not UTF-8", *at);
  auto addWord = [&](StringRef word) { model->encode(word, tokens); };
  auto addToken = [&](Token token) { tokens.push_back(token); };
  auto addPlain = [&](StringRef plain) {
    if (preTokenizer)
      preTokenizer(plain, addWord);
    else if (!plain.empty())
      addWord(plain);
  };
  auto addPiece = [&](StringRef piece) {
    std::string changed;
    if (normalizer)
      piece = changed = normalizer(piece);
    inNormalized.split(piece, addPlain, addToken);
  };
  inText.split(text, addPiece, addToken);
  return Error::success();
}

std::optional<Token> Pipeline::find(StringRef name) const {
  std::optional<Token> token = added.find(name);
  return token ? token : model->vocabulary.find(name);
}

uint64_t Pipeline::vocabularySize() const {
  return std::max(added.size(), model->vocabulary.size());
}

StringRef Pipeline::nameOf(Token token) const {
  StringRef name = added.nameOf(token);
  return name.data() ? name : model->vocabulary.nameOf(token);
}

Error Pipeline::add(AddedToken token) {
  const Vocabulary &known = model->vocabulary;
  std::optional<Token> same = known.find(token.content);
  StringRef name = known.nameOf(token.token);
  if ((same && *same != token.token) || (name.data() && name != token.content))
    return makeError("token {0} is '{1}' here, and another one in the model",
                     token.token, printableName(token.content));
  if (Error error = added.add(token.content, token.token))
    return error;
  if (token.isNormalized && normalizer)
    token.content = normalizer(token.content);
  (token.isNormalized ? inNormalized : inText).add(std::move(token));
  return Error::success();
}

std::string Pipeline::decode(ArrayRef<Token> tokens) const {
  std::vector<std::string> pieces;
  for (Token token : tokens)
    if (StringRef name = nameOf(token); name.data())
      pieces.push_back(name.str());
  decoder(pieces);
  std::string text;
  for (const std::string &piece : pieces)
    text += piece;
  return text;
}

} // namespace mp::tokenizers
