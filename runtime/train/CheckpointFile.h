//===- CheckpointFile.h - the format of checkpoint files --------*- C++ -*-===//
//
// What reading a whole state and reading weights alone share.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_TRAIN_CHECKPOINTFILE_H
#define MP_RUNTIME_TRAIN_CHECKPOINTFILE_H

#include "program/Program.h"
#include "runtime/data/Safetensors.h"

namespace mp {

/// The keys of a checkpoint's metadata, and the format that is written.
inline constexpr llvm::StringLiteral kFormatKey = "mantissa.checkpoint";
inline constexpr llvm::StringLiteral kFormatVersion = "2";
/// The format of files with tensors whose dimensions are permuted. Readers of
/// format 2 would take them for those of the graph.
inline constexpr llvm::StringLiteral kPermutedFormatVersion = "3";
inline constexpr llvm::StringLiteral kFingerprintKey = "fingerprint";
/// The names of parameters and buffers, a JSON list.
inline constexpr llvm::StringLiteral kWeightsKey = "weights";
/// What graphToText writes. Files of earlier versions lack it.
inline constexpr llvm::StringLiteral kGraphKey = "mantissa.graph";
inline constexpr llvm::StringLiteral kClassesKey = "mantissa.classes";
/// The lengths of the run's buckets, if it has any.
inline constexpr llvm::StringLiteral kBucketsKey = "mantissa.buckets";

/// Reads a file of weights, which may be a checkpoint: one of a newer format
/// may mean something else by the same names.
llvm::Expected<Safetensors> readWeights(llvm::StringRef path);

bool isWeight(const Variable &variable);
/// Whether the variable keeps the magnitudes of earlier steps, for fp8 scales.
bool isHistory(const Variable &variable);

/// Collects the differences between a file and a session into one short
/// message.
class Differences {
public:
  void add(std::string line) { lines.push_back(std::move(line)); }
  /// Fails with the headline and the first lines, if there are any.
  llvm::Error finish(const llvm::Twine &headline) const;

private:
  std::vector<std::string> lines;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_CHECKPOINTFILE_H
