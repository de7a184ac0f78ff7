//===- KernelFunction.h - the shell of a kernel's function ------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_NEST_KERNELFUNCTION_H
#define MP_CODEGEN_CPU_NEST_KERNELFUNCTION_H

#include "codegen/cpu/nest/GroupEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mp::cpu {

/// A function `(memrefs..., begin, end, shared)` in a module of its own, with a
/// builder inside. Memrefs are declared when first asked for.
class KernelFunction {
public:
  /// `predicate` may be null; if its element is false, `end` becomes `begin`.
  KernelFunction(mlir::MLIRContext *context, mlir::Location location,
                 mlir::Value predicate);

  /// Returns the memref of a tensor. `shape` is the view that the code takes of
  /// it: sizes of leading dimensions do not change the code, so it leaves them
  /// out.
  mlir::Value memory(mlir::Value tensor, llvm::ArrayRef<int64_t> shape);

  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value c);
  /// A loop of `body(index, accumulators) -> accumulators`, and its results.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value, mlir::ValueRange)>;
  using Opened = llvm::function_ref<void(mlir::Operation *)>;
  llvm::SmallVector<mlir::Value> loop(
      mlir::Value lower, mlir::Value upper, int64_t step,
      mlir::ValueRange start, Body body,
      Opened opened = [](mlir::Operation *) {});

  /// The number of terms of a sum that are added one after the other: n of them
  /// err by up to n units of roundoff.
  static constexpr int64_t serialTerms = 64;

  /// Emits a loop of at most `steps` steps whose accumulators are `reductions`.
  /// Long sums are taken in parts of `stepsInPart` steps, each from zero, and
  /// sums of parts likewise, so that the error grows with the logarithm of
  /// `steps`.
  llvm::SmallVector<mlir::Value> reductionLoop(
      mlir::Value lower, mlir::Value upper, int64_t step, int64_t steps,
      llvm::ArrayRef<Reduction> reductions, mlir::ValueRange start, Body body,
      Opened opened = [](mlir::Operation *) {},
      int64_t stepsInPart = serialTerms);

  /// Loads `lanes` elements, or one (0), at `indices`. Lanes off `mask` are 1,
  /// on which no body can trap.
  mlir::Value load(mlir::Value memref, mlir::ValueRange indices, int64_t lanes,
                   mlir::Value mask);
  void store(mlir::Value value, mlir::Value memref, mlir::ValueRange indices,
             mlir::Value mask);

  /// Prefetches the cache line of an element, which need not exist.
  void prefetch(mlir::Value memref, mlir::ValueRange indices, bool isWrite);

  /// Returns `bytes` of scratch at a multiple of 64, as a memref of `count`
  /// elements.
  mlir::Value scratch(int64_t count, mlir::Type element);

  /// Ends the function.
  StageFunction finish(int64_t grid, int64_t block);

  mlir::OpBuilder b;
  mlir::Location location;
  mlir::Value begin, end;
  /// A leading dimension whose size does not matter.
  static constexpr int64_t any = int64_t(1) << 30;

private:
  StageFunction function;
  mlir::func::FuncOp func;
  mlir::Value shared;
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_NEST_KERNELFUNCTION_H
