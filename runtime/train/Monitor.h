//===- Monitor.h - the best evaluation of a run -----------------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_MONITOR_H
#define MP_RUNTIME_TRAIN_MONITOR_H

#include "runtime/train/Checkpoint.h"

namespace mp {

/// A score by which evaluations are compared: "max:accuracy" or "min:loss".
struct Monitor {
  std::string score;
  bool isHighestBest = false;

  /// Fails unless the text is a direction, a colon and a name.
  static llvm::Expected<Monitor> parse(llvm::StringRef text);

  bool isBetter(double score, double than) const {
    return isHighestBest ? score > than : score < than;
  }
  /// Records an evaluation of the state's step. Returns whether it is the best
  /// so far; one that is not a number is never better.
  bool record(double score, RunState &state) const;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_MONITOR_H
