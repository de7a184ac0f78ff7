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
  auto addToken = [&](Token token) { tokens.push_back(token); };
  Error failed = Error::success();
  auto addPiece = [&](StringRef piece) {
    bool isFirst = piece.begin() == text.begin();
    if (!failed)
      failed = encodePiece({piece, isFirst}, tokens);
  };
  inText.split(text, addPiece, addToken);
  return failed;
}

Error Pipeline::encodePiece(Piece piece, Tokens &tokens) const {
  std::string changed;
  if (normalizer) {
    auto made = normalizer(piece.text);
    if (!made)
      return made.takeError();
    piece.text = changed = std::move(*made);
  }
  auto addWord = [&](Piece word) { model->encode(word.text, tokens); };
  auto addToken = [&](Token token) { tokens.push_back(token); };
  Error failed = Error::success();
  auto addPlain = [&](StringRef plain) {
    bool isFirst = piece.isFirst && plain.begin() == piece.text.begin();
    if (!preTokenizer)
      addWord({plain, isFirst});
    else if (!failed)
      failed = preTokenizer({plain, isFirst}, addWord);
  };
  inNormalized.split(piece.text, addPlain, addToken);
  return failed;
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
  if (token.isNormalized && normalizer) {
    auto changed = normalizer(token.content);
    if (!changed)
      return changed.takeError();
    token.content = normalizedNames[token.token] = std::move(*changed);
  }
  (token.isNormalized ? inNormalized : inText).add(std::move(token));
  return Error::success();
}

std::string Pipeline::decode(ArrayRef<Token> tokens) const {
  std::vector<std::string> pieces;
  for (Token token : tokens)
    if (auto changed = normalizedNames.find(token);
        changed != normalizedNames.end())
      pieces.push_back(changed->second);
    else if (StringRef name = nameOf(token); name.data())
      pieces.push_back(name.str());
  decoder(pieces);
  std::string text;
  for (const std::string &piece : pieces)
    text += piece;
  return text;
}

size_t Pipeline::settled(ArrayRef<Token> tokens) const {
  while (!tokens.empty() && byteOf(nameOf(tokens.back())))
    tokens = tokens.drop_back();
  return tokens.size();
}

} // namespace mp::tokenizers
