//===- Largest.h - the largest of 16-bit floats -----------------*- C++ -*-===//
//
// Softmax looks for the largest element of each row. In 16 bits it need not be
// widened for that: its bits become an integer in the order of the floats.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_NEST_LARGEST_H
#define MP_CODEGEN_CPU_NEST_LARGEST_H

#include "codegen/stages/StageGroup.h"
#include "mlir/IR/Builders.h"

namespace mp::cpu {

/// Matches a stage that reduces a row of bf16 or f16 in memory to its largest
/// element in f32, where any value will do beside a NaN. Returns that tensor,
/// or null.
mlir::Value matchLargest(const StageGroup &group, const Stage &stage);

/// Returns integers, as vectors or scalars, in the order of 16-bit floats.
mlir::Value keysOf(mlir::OpBuilder &b, mlir::Value floats);
/// Returns the float of type `element` that a key stands for, in f32.
mlir::Value floatOfKey(mlir::OpBuilder &b, mlir::Value key, mlir::Type element);
/// The key of negative infinity.
mlir::TypedAttr leastKey(mlir::Type element);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_NEST_LARGEST_H
