//===- SentenceModels.cpp - the best pieces of a text ---------------------===//
#include "runtime/text/SentencePieces.h"
#include "runtime/text/Unicode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>
#include <queue>

using namespace llvm;

namespace mp::tokenizers {

namespace {

/// The best way to a place in the text: the piece that ends there.
struct Step {
  float score = 0;
  Token token = 0;
  size_t begin = kNowhere;

  static constexpr size_t kNowhere = SIZE_MAX;

  /// Of equal ones, the first stays.
  void improve(float other, size_t otherBegin, Token otherToken) {
    if (begin == kNowhere || other > score)
      *this = {other, otherToken, otherBegin};
  }
};

/// A part of a text that is merged with its neighbours.
struct Symbol {
  StringRef piece;         ///< empty once it is part of another one
  ptrdiff_t before, after; ///< -1: none
  bool isWhole;            ///< is of a user, and not merged
};

/// Two neighbours that make a piece.
struct Proposal {
  float score;
  ptrdiff_t left, right;
  size_t length;

  /// Whether it comes after another one: of equal scores, the left one is
  /// first.
  bool operator<(const Proposal &other) const {
    return score < other.score || (score == other.score && left > other.left);
  }
};

class Merger {
public:
  Merger(const SentenceModel &model, StringRef text);

  void merge();
  void forEach(PieceSink piece) const;

private:
  void propose(ptrdiff_t left, ptrdiff_t right);

  const SentenceModel &model;
  std::vector<Symbol> symbols;
  std::priority_queue<Proposal> proposals;
  /// Unused pieces, and what they were merged from last.
  StringMap<std::pair<StringRef, StringRef>> partsOfUnused;
};

Merger::Merger(const SentenceModel &model, StringRef text) : model(model) {
  while (!text.empty()) {
    size_t whole = model.userDefined.longestAt(text);
    StringRef piece = text.take_front(whole ? whole : characterLength(text));
    text = text.drop_front(piece.size());
    auto at = static_cast<ptrdiff_t>(symbols.size());
    symbols.push_back({piece, at - 1, text.empty() ? -1 : at + 1, whole != 0});
  }
  for (size_t i = 1; i < symbols.size(); ++i)
    propose(static_cast<ptrdiff_t>(i) - 1, static_cast<ptrdiff_t>(i));
}

void Merger::propose(ptrdiff_t left, ptrdiff_t right) {
  if (left < 0 || right < 0 || symbols[left].isWhole || symbols[right].isWhole)
    return;
  StringRef first = symbols[left].piece, second = symbols[right].piece;
  StringRef made(first.data(), first.size() + second.size());
  std::optional<Token> token = model.findInText(made);
  if (!token)
    return;
  proposals.push({model.scores[*token], left, right, made.size()});
  if (model.isOf(*token, PieceType::Unused))
    partsOfUnused[made] = {first, second};
}

void Merger::merge() {
  while (!proposals.empty()) {
    Proposal best = proposals.top();
    proposals.pop();
    Symbol &left = symbols[best.left], &right = symbols[best.right];
    // One of the two may have been merged with another one since.
    if (left.piece.empty() || right.piece.empty() ||
        left.piece.size() + right.piece.size() != best.length)
      continue;
    left.piece = StringRef(left.piece.data(), best.length);
    left.after = right.after;
    if (right.after >= 0)
      symbols[right.after].before = best.left;
    right.piece = {};
    propose(left.before, best.left);
    propose(best.left, left.after);
  }
}

void Merger::forEach(PieceSink piece) const {
  for (const Symbol &symbol : symbols) {
    // Unused ones are taken apart again.
    SmallVector<StringRef> rest = {symbol.piece};
    while (!rest.empty()) {
      StringRef part = rest.pop_back_val();
      if (part.empty())
        continue;
      Token token = model.findInText(part).value_or(model.unknown);
      if (!model.isOf(token, PieceType::Unused)) {
        piece(token, part);
      } else if (auto parts = partsOfUnused.find(part);
                 parts != partsOfUnused.end()) {
        auto [first, second] = parts->second;
        rest.append({second, first});
      } else {
        piece(model.unknown, part);
      }
    }
  }
}

/// Returns the score of a piece of so many bytes. Those of users have one that
/// is above all others, where these are logarithms of probabilities.
float scoreOf(const SentenceModel &model, Token token, size_t bytes) {
  if (model.isOf(token, PieceType::UserDefined))
    return static_cast<float>(0.1 * static_cast<double>(bytes - 1));
  return model.scores[token];
}

/// Keeps the sums of long texts small, which floats hold to more digits: all
/// that are still needed are made less by the first of them.
void rebase(MutableArrayRef<Step> steps) {
  constexpr float mostScore = 100000;
  float offset = steps[0].score;
  if (std::abs(offset) <= mostScore)
    return;
  steps[0].score = 0;
  for (Step &step : steps.drop_front())
    if (step.begin != Step::kNowhere)
      step.score -= offset;
}

std::vector<Step> bestSteps(const SentenceModel &model, StringRef text) {
  constexpr float unknownPenalty = 10;
  std::vector<Step> steps(text.size() + 1);
  float unknownScore = model.lowestScore - unknownPenalty;
  size_t reached = 0;
  for (size_t at = 0, length = 0; at < text.size(); at += length) {
    rebase(MutableArrayRef(steps).slice(at, std::max(reached, at) + 1 - at));
    float here = steps[at].score;
    length = characterLength(text.substr(at));
    bool isKnown = false;
    model.inText.forEachAt(text.substr(at), [&](Token token, size_t bytes) {
      if (model.isOf(token, PieceType::Unused))
        return;
      float score = scoreOf(model, token, bytes);
      steps[at + bytes].improve(here + score, at, token);
      reached = std::max(reached, at + bytes);
      isKnown |= bytes == length;
    });
    if (isKnown)
      continue;
    steps[at + length].improve(here + unknownScore, at, model.unknown);
    reached = std::max(reached, at + length);
  }
  return steps;
}

} // namespace

/// Viterbi's algorithm, with the logarithms of probabilities as scores.
void forEachUnigram(const SentenceModel &model, StringRef text,
                    PieceSink piece) {
  std::vector<Step> steps = bestSteps(model, text);
  std::vector<size_t> ends; // from the last one to the first
  for (size_t end = text.size(); end > 0; end = steps[end].begin)
    ends.push_back(end);
  for (size_t end : reverse(ends))
    piece(steps[end].token, text.slice(steps[end].begin, end));
}

void forEachMerged(const SentenceModel &model, StringRef text,
                   PieceSink piece) {
  Merger merger(model, text);
  merger.merge();
  merger.forEach(piece);
}

} // namespace mp::tokenizers
