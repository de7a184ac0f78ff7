//===- RoundingFacts.h - roundings to bf16 that are free --------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_ROUNDINGFACTS_H
#define MP_CODEGEN_CPU_ROUNDINGFACTS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mp::cpu {

/// Facts about f32 values that follow from how they are computed. Ask before
/// the ops after them are rewritten; answers are cached.
class RoundingFacts {
public:
  /// A bf16 value already: one that was extended, or the choice of such.
  bool isBF16Value(mlir::Value x);
  /// Whether a NaN in `x` has zeros in its lower 16 bits, so that adding to
  /// them cannot carry: arithmetic returns the payload of an operand or a NaN
  /// of its own that has none, and payloads of bf16 are in the upper bits.
  bool hasShortNaN(mlir::Value x);

private:
  llvm::DenseMap<mlir::Value, bool> bf16Values, shortNaNs;
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_ROUNDINGFACTS_H
