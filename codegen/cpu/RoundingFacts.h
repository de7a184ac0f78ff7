//===- RoundingFacts.h - what need not be done to round to bf16 -*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_ROUNDINGFACTS_H
#define MP_CODEGEN_CPU_ROUNDINGFACTS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mp::cpu {

/// What is known of f32 values from how they are computed. Ask before the ops
/// behind them are rewritten; answers are kept.
class RoundingFacts {
public:
  /// A bf16 value already: one that was widened, or the choice of such.
  bool isBF16Value(mlir::Value x);
  /// If it is NaN, the lower 16 bits are zero, so that adding to them cannot
  /// carry: arithmetic returns the payload of an operand or a NaN of its own
  /// that has none, and payloads of bf16 are in the upper bits.
  bool hasShortNaN(mlir::Value x);

private:
  llvm::DenseMap<mlir::Value, bool> bf16Values, shortNaNs;
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_ROUNDINGFACTS_H
