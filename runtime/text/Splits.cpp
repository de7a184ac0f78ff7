//===- Splits.cpp - words between matches ---------------------------------===//
#include "runtime/text/Stages.h"
#include "runtime/text/Unicode.h"

using namespace llvm;

namespace mp::tokenizers {

namespace {

/// Makes words of the parts of a piece as they come.
class Words {
public:
  Words(Behavior behavior, Piece piece, WordSink word)
      : behavior(behavior), piece(piece), word(word) {}

  void add(Stretch part) {
    if (held && joins(part.isMatch)) {
      held->end = part.end;
    } else {
      end();
      held = part;
    }
    afterMatch = part.isMatch;
  }
  void end() {
    bool isRemoved = behavior == Behavior::Removed && held && held->isMatch;
    if (held && !isRemoved && held->begin < held->end)
      word(piece.slice(held->begin, held->end));
    held.reset();
  }

private:
  /// Whether a part belongs to the word of the one before it.
  bool joins(bool isMatch) const {
    switch (behavior) {
    case Behavior::Isolated:
    case Behavior::Removed:
      return false;
    case Behavior::MergedWithPrevious:
      return isMatch && !afterMatch;
    case Behavior::MergedWithNext:
      return !isMatch && afterMatch;
    case Behavior::Contiguous:
      return isMatch == afterMatch;
    }
    llvm_unreachable("all behaviors are handled");
  }

  Behavior behavior;
  Piece piece;
  WordSink word;
  std::optional<Stretch> held; ///< a word that may not be over
  bool afterMatch = false;
};

/// Of the characters that `matches` is true of, each is a match.
Error splitAtEach(Piece piece, Behavior behavior, WordSink word,
                  function_ref<bool(char32_t)> matches) {
  Words words(behavior, piece, word);
  StringRef rest = piece.text;
  size_t done = 0;
  while (!rest.empty()) {
    size_t at = piece.text.size() - rest.size();
    if (!matches(takeCharacter(rest)))
      continue;
    if (done < at)
      words.add({done, at, false});
    done = piece.text.size() - rest.size();
    words.add({at, done, true});
  }
  if (done < piece.text.size())
    words.add({done, piece.text.size(), false});
  words.end();
  return Error::success();
}

} // namespace

Error Split::operator()(Piece piece, WordSink word) const {
  Words words(behavior, piece, word);
  Error error = pattern.split(piece.text, [&](Stretch part) {
    part.isMatch = part.isMatch != isInverted;
    words.add(part);
  });
  words.end();
  return error;
}

Error Digits::operator()(Piece piece, WordSink word) const {
  return splitAtEach(piece,
                     isEachAlone ? Behavior::Isolated : Behavior::Contiguous,
                     word, isNumber);
}

Error Punctuation::operator()(Piece piece, WordSink word) const {
  return splitAtEach(piece, behavior, word, isAnyPunctuation);
}

Error Metaspace::operator()(Piece piece, WordSink word) const {
  std::string changed;
  for (char c : piece.text)
    if (c == ' ')
      changed += replacement;
    else
      changed += c;
  bool isPrepended = prepends == Prepends::Always ||
                     (prepends == Prepends::First && piece.isFirst);
  if (isPrepended && !StringRef(changed).starts_with(replacement))
    changed.insert(0, replacement);
  Piece whole = {changed, piece.isFirst};
  size_t begin = 0;
  for (size_t at = 0;
       splits && (at = changed.find(replacement, at)) != std::string::npos;) {
    if (begin < at)
      word(whole.slice(begin, at));
    begin = at;
    at += replacement.size();
  }
  word(whole.slice(begin, changed.size()));
  return Error::success();
}

} // namespace mp::tokenizers
