//===- ScalarBody.h - a stage's body on scalars or vectors ------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_NEST_SCALARBODY_H
#define MP_CODEGEN_CPU_NEST_SCALARBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace mp::cpu {

/// The point of a nest at which a body is computed.
struct BodyPoint {
  int64_t lanes = 0; ///< 0: scalars
  mlir::Value mask;  ///< lanes that count; null: all
  /// The index of each loop of the stage (of lane 0, along `laneLoop`).
  llvm::SmallVector<mlir::Value> indices;
  int laneLoop = -1; ///< the loop that neighbouring lanes follow
  /// Whether lane 0's index of that loop is a multiple of `lanes`.
  bool isAligned = false;
  bool isPaired = false; ///< see PairedLanes.h
};

/// Clones the ops that `wanted` (values of the body of `stage`) depend on and
/// returns their values. `arguments` match the block's; those not read may be
/// null. Scalars become vectors where `point` has lanes.
llvm::SmallVector<mlir::Value> cloneBody(mlir::OpBuilder &b,
                                         mlir::linalg::GenericOp stage,
                                         llvm::ArrayRef<mlir::Value> arguments,
                                         mlir::ValueRange wanted,
                                         const BodyPoint &point);

/// Returns `value` in every one of `lanes` lanes, if it is not a vector
/// already; unchanged for `lanes` 0.
mlir::Value broadcast(mlir::OpBuilder &b, mlir::Value value, int64_t lanes);

/// A constant of `type` or, with lanes, a vector of it.
mlir::Value constant(mlir::OpBuilder &b, mlir::Location location,
                     mlir::TypedAttr value, int64_t lanes);

/// Applies the `combiner` of a body to other operands.
mlir::Value combine(mlir::OpBuilder &b, mlir::Operation *combiner,
                    mlir::Value accumulator, mlir::Value element);

/// Combines the lanes of a vector in a fixed tree: halves, quarters, ...
mlir::Value combineLanes(mlir::OpBuilder &b, mlir::Operation *combiner,
                         mlir::Value vector);

/// The mask of lanes below `count` (an index).
mlir::Value lanesBelow(mlir::OpBuilder &b, mlir::Location location,
                       mlir::Value count, int64_t lanes);
mlir::Value lanesBelow(mlir::OpBuilder &b, mlir::Location location,
                       int64_t count, int64_t lanes);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_NEST_SCALARBODY_H
