//===- SentencePieces.cpp - SentencePiece's way to tokens and back --------===//
#include "runtime/text/SentencePieces.h"
#include "runtime/text/Stages.h"
#include "runtime/text/Unicode.h"
#include "support/Error.h"

using namespace llvm;

namespace mp::tokenizers {

static constexpr StringLiteral kSpace = "\u2581", kReplacement = "\uFFFD";

std::optional<Token> SentenceModel::findInText(StringRef name) const {
  std::optional<Token> token = vocabulary.find(name);
  if (token && !isOf(*token, PieceType::Normal) &&
      !isOf(*token, PieceType::UserDefined) && !isOf(*token, PieceType::Unused))
    token.reset();
  return token;
}

/// Returns what a text begins with, and what stands for it.
CharacterMap::Rule SentencePieces::ruleAt(StringRef text) const {
  if (size_t length = model->userDefined.longestAt(text))
    return {length, text.take_front(length)};
  if (model->characterMap)
    if (CharacterMap::Rule rule = model->characterMap->longestAt(text);
        rule.length)
      return rule;
  // A key of the map may end within a character.
  StringRef character = text.take_front(characterLength(text));
  return {character.size(),
          firstInvalid(character) ? StringRef(kReplacement) : character};
}

std::string SentencePieces::normalized(StringRef text) const {
  bool removes = model->removeExtraWhitespaces;
  StringRef space = model->escapeWhitespaces ? StringRef(kSpace) : " ";
  while (removes && !text.empty()) {
    CharacterMap::Rule rule = ruleAt(text);
    if (rule.with != " ")
      break;
    text = text.drop_front(rule.length);
  }
  std::string changed;
  if (text.empty())
    return changed;
  if (model->addDummyPrefix)
    changed += space;
  for (bool afterSpace = removes; !text.empty();) {
    CharacterMap::Rule rule = ruleAt(text);
    text = text.drop_front(rule.length);
    StringRef with = afterSpace ? rule.with.ltrim(' ') : rule.with;
    for (char c : with)
      if (c == ' ')
        changed += space;
      else
        changed += c;
    if (!with.empty())
      afterSpace = removes && with.ends_with(" ");
  }
  while (removes && StringRef(changed).ends_with(space))
    changed.resize(changed.size() - space.size());
  return changed;
}

Error SentencePieces::encode(StringRef text, Tokens &tokens) const {
  if (std::optional<size_t> at = firstInvalid(text))
    return makeError("byte {0} is not UTF-8", *at);
  std::string changed = normalized(text);
  if (Error grown = checkGrowth(text.size(), changed.size()))
    return grown;
  bool afterUnknown = false;
  auto forEach = model->type == SentenceModel::Type::Unigram ? forEachUnigram
                                                             : forEachMerged;
  forEach(*model, changed, [&](Token token, StringRef piece) {
    bool isUnknown = token == model->unknown;
    // Unknown ones that follow one another are one.
    if (isUnknown && model->byteFallback)
      model->vocabulary.appendBytes(piece, tokens);
    else if (!isUnknown || !afterUnknown)
      tokens.push_back(token);
    afterUnknown = isUnknown;
  });
  return Error::success();
}

/// Appends bytes that stand for characters, and U+FFFD for each that does not.
static void appendBytes(StringRef bytes, std::string &text) {
  while (!bytes.empty()) {
    StringRef character = bytes.take_front(characterLength(bytes));
    bytes = bytes.drop_front(character.size());
    text += firstInvalid(character) ? StringRef(kReplacement) : character;
  }
}

/// Appends the text of a piece.
static void appendPiece(StringRef piece, std::string &text) {
  while (!piece.empty()) {
    auto [before, after] = piece.split(kSpace);
    text += before;
    if (before.size() < piece.size())
      text += ' ';
    piece = after;
  }
}

std::string SentencePieces::decode(ArrayRef<Token> tokens) const {
  std::string text, bytes;
  // The first piece loses the space before the text, or, where such spaces are
  // removed, each that comes before any text.
  bool isBegin = true, hadSpace = false;
  for (Token token : tokens) {
    StringRef piece = model->vocabulary.nameOf(token);
    if (model->isOf(token, PieceType::Byte)) {
      bytes += *byteOf(piece);
      continue;
    }
    appendBytes(bytes, text);
    bytes.clear();
    isBegin = isBegin && !hadSpace && text.empty();
    hadSpace = false;
    if (model->isOf(token, PieceType::Control))
      continue;
    if (model->isOf(token, PieceType::Unknown)) {
      text += model->unknownSurface;
      continue;
    }
    if (isBegin && (model->addDummyPrefix || model->removeExtraWhitespaces))
      hadSpace = piece.consume_front(kSpace) && !model->removeExtraWhitespaces;
    appendPiece(piece, text);
  }
  appendBytes(bytes, text);
  return text;
}

size_t SentencePieces::settled(ArrayRef<Token> tokens) const {
  while (!tokens.empty() && model->isOf(tokens.back(), PieceType::Byte))
    tokens = tokens.drop_back();
  return tokens.size();
}

} // namespace mp::tokenizers
