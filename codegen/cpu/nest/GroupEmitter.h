//===- GroupEmitter.h - a group of stages to a function ---------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_NEST_GROUPEMITTER_H
#define MP_CODEGEN_CPU_NEST_GROUPEMITTER_H

#include "codegen/stages/StageGroup.h"

namespace mp::cpu {

/// A function for ObjectCompiler and how to launch it.
struct StageFunction {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  int64_t grid = 1, block = 1;
  uint64_t shared = 0;
  /// The tensors that the memref arguments hold, in order.
  llvm::SmallVector<mlir::Value> arguments;
};

/// Emits a group of any schedule but General. If `predicate`, a tensor<i1> or
/// null, is false, the function does nothing.
StageFunction emitGroup(const StageGroup &group, mlir::Value predicate);

/// Emits a stage of any maps: one loop nest over its parallel loops, the last
/// of them vectorised if memory allows, and the reductions inside.
StageFunction emitGeneral(mlir::linalg::GenericOp stage, mlir::Value predicate);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_NEST_GROUPEMITTER_H
