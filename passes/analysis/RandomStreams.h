//===- RandomStreams.h - streams of ops that are copied ---------*- C++ -*-===//
#ifndef MP_PASSES_ANALYSIS_RANDOMSTREAMS_H
#define MP_PASSES_ANALYSIS_RANDOMSTREAMS_H

#include "dialect/Mp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mp {

/// The streams of random ops: those of the module, and those of the function
/// into which ops are copied.
class RandomStreams {
public:
  explicit RandomStreams(mlir::ModuleOp module);

  void enter(mlir::func::FuncOp function);

  /// Gives a second copy of ops other streams than the first, if their streams
  /// are written. Ops of a copy that share a stream, as backward does with
  /// forward, go on sharing it.
  void separate(llvm::ArrayRef<mlir::Operation *> copy);

private:
  static void collect(mlir::Operation *root, llvm::DenseSet<uint64_t> &streams);
  uint64_t fresh();

  llvm::DenseSet<uint64_t> taken, own;
  uint64_t next = 0;
};

} // namespace mp

#endif // MP_PASSES_ANALYSIS_RANDOMSTREAMS_H
