//===- Unigram.cpp - the most probable pieces of a text -------------------===//
#include "runtime/text/Stages.h"
#include "runtime/text/Unicode.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mp::tokenizers {

/// What an unknown character costs beyond the least probable piece.
static constexpr double kUnknownPenalty = 10;

/// The best way to a place in the text: the piece that ends there.
struct Unigram::Step {
  double score = 0;
  size_t begin = kNowhere;
  Token token = 0;

  static constexpr size_t kNowhere = SIZE_MAX;

  /// Of equal ones, the first stays.
  void improve(double other, size_t otherBegin, Token otherToken) {
    if (begin == kNowhere || other > score)
      *this = {other, otherBegin, otherToken};
  }
};

Error Unigram::add(StringRef piece, double score) {
  if (Error error = vocabulary.add(piece, scores.size()))
    return error;
  scores.push_back(score);
  lowestScore = std::min(lowestScore, score);
  return Error::success();
}

void Unigram::sortPieces() {
  for (Token token = 0; token < scores.size(); ++token)
    search.add(vocabulary.nameOf(token), token);
  search.sort();
}

/// Viterbi's algorithm: the pieces whose scores, which are logarithms of
/// probabilities, have the largest sum.
std::vector<Unigram::Step> Unigram::bestSteps(StringRef word) const {
  std::vector<Step> steps(word.size() + 1);
  double unknownScore = lowestScore - kUnknownPenalty;
  for (size_t at = 0, length = 0; at < word.size(); at += length) {
    double here = steps[at].score;
    length = characterLength(word.substr(at));
    bool isKnown = false;
    search.forEachAt(word.substr(at), [&](Token token, size_t bytes) {
      steps[at + bytes].improve(here + scores[token], at, token);
      isKnown |= bytes == length;
    });
    if (!isKnown)
      steps[at + length].improve(here + unknownScore, at, unknown);
  }
  return steps;
}

void Unigram::encode(StringRef word, Tokens &tokens) const {
  if (const Tokens *known = words.find(word))
    return append_range(tokens, *known);
  std::vector<Step> steps = bestSteps(word);
  std::vector<StringRef> pieces; // from the last one to the first
  bool isUnknown = false;
  for (size_t end = word.size(); end > 0;) {
    const Step &step = steps[end];
    // Unknown ones that follow one another are one.
    if (isUnknown && step.token == unknown)
      pieces.back() = word.slice(step.begin, end + pieces.back().size());
    else
      pieces.push_back(word.slice(step.begin, end));
    isUnknown = step.token == unknown;
    end = step.begin;
  }
  size_t before = tokens.size();
  for (StringRef piece : reverse(pieces)) {
    if (std::optional<Token> token = vocabulary.find(piece))
      tokens.push_back(*token);
    else if (!byteFallback || !vocabulary.appendBytes(piece, tokens))
      tokens.push_back(unknown);
  }
  words.keep(word, ArrayRef(tokens).drop_front(before));
}

} // namespace mp::tokenizers
