//===- LoopGradient.h - the backward of a loop ------------------*- C++ -*-===//
#ifndef MP_PASSES_AUTODIFF_LOOPGRADIENT_H
#define MP_PASSES_AUTODIFF_LOOPGRADIENT_H

#include "passes/autodiff/Differentiate.h"

namespace mp {

/// Builds the loop of backward at the builder's place: it runs the other way,
/// and carries the gradients of what the loop carries. What it reads of
/// forward, a new loop in the place of `loop` stacks, which takes over the
/// uses of its results; `loop` stays, unused.
///
/// `arrived` has the gradients of the results, or null; `wanted` says which
/// operands' gradients are asked for. Returns those of the operands, or null.
/// Errors: an op of the body without a gradient.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
differentiateLoop(LoopOp loop, llvm::ArrayRef<mlir::Value> arrived,
                  llvm::ArrayRef<bool> wanted, const GradientOrigins &origins,
                  mlir::ImplicitLocOpBuilder &builder);

} // namespace mp

#endif // MP_PASSES_AUTODIFF_LOOPGRADIENT_H
