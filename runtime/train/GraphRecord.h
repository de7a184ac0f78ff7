//===- GraphRecord.h - the graph that made a checkpoint ---------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_GRAPHRECORD_H
#define MP_RUNTIME_TRAIN_GRAPHRECORD_H

#include "program/Program.h"
#include "llvm/ADT/ArrayRef.h"

namespace mp {

/// Returns the ops as a JSON list of [name, type, [operand, ...], {attribute:
/// text, ...}], without their locations.
std::string graphToText(llvm::ArrayRef<SourceOp> graph);
/// Reads what graphToText wrote; nothing if the text is malformed.
std::optional<std::vector<SourceOp>> parseGraph(llvm::StringRef text);

struct GraphDifference {
  /// "mp.tanh (f.mlir:4:8) instead of the checkpoint's mp.relu"
  std::string text;
  /// Whether a run may go on with it: a learning rate, another hyperparameter
  /// of the same optimizer, or a schedule.
  bool isHyperparameter = false;
};

/// Returns the differences between two graphs. Locations are those of `now`.
std::vector<GraphDifference> compareGraphs(llvm::ArrayRef<SourceOp> before,
                                           llvm::ArrayRef<SourceOp> now);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_GRAPHRECORD_H
