//===- Monitor.cpp - the best evaluation of a run -------------------------===//
#include "runtime/train/Monitor.h"
#include "support/Error.h"
#include <cmath>

using namespace llvm;

namespace mp {

Expected<Monitor> Monitor::parse(StringRef text) {
  auto [direction, score] = text.split(':');
  if ((direction != "max" && direction != "min") || score.empty())
    return makeError("'{0}' is not a score to monitor: expected max: or min:, "
                     "whichever is better, and the name of a result, such as "
                     "max:accuracy",
                     text);
  return Monitor{score.str(), direction == "max"};
}

bool Monitor::record(double score, RunState &state) const {
  bool isFirst = state.bestStep == 0;
  if (std::isnan(score) || (!isFirst && !isBetter(score, state.bestScore))) {
    ++state.evaluationsSinceBest;
    return false;
  }
  state.bestStep = state.step;
  state.bestScore = score;
  state.evaluationsSinceBest = 0;
  return true;
}

} // namespace mp
