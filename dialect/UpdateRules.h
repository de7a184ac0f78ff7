//===- UpdateRules.h - what the updates of all optimizers share -----------===//
#ifndef MP_DIALECT_UPDATERULES_H
#define MP_DIALECT_UPDATERULES_H

#include "dialect/Fields.h"
#include "dialect/Scalars.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Math.h"

namespace mp {

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// A scalar of f32 in the parameter's compute type (f32, or f64 for reference).
inline mlir::Value widen(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                         mlir::Type type) {
  return x.getType() == type
             ? x
             : mlir::Value(mlir::arith::ExtFOp::create(b, type, x));
}
inline double toDouble(const llvm::APFloat &value) {
  return value.convertToDouble();
}

/// The type rule of updates: all tensors have the parameter's type, the first
/// of them, and so have the results.
llvm::LogicalResult inferUpdate(std::optional<mlir::Location> location,
                                mlir::ValueRange tensors, unsigned results,
                                llvm::SmallVectorImpl<mlir::Type> &types);

/// gradient + decay * parameter, on scalars: L2 regularisation.
mlir::Value addDecay(mlir::ImplicitLocOpBuilder &b, mlir::Value gradient,
                     mlir::Value parameter, double decay);

//===----------------------------------------------------------------------===//
// Bounds: what an update can do at most
//===----------------------------------------------------------------------===//
//
// Bounds on the parameters and slots that an update leaves, from bounds on
// those it finds, without reading any: docs/decisions/0008. Every bound is
// widened by `kSlack`, which is more than the roundings of the update, of the
// gradient's norm and of the bound itself.

inline constexpr double kSlack = 1 + 0x1p-18;
/// What the squares of a gradient's elements may lose to underflow, as a value:
/// more than the root of f32's smallest number.
inline constexpr double kUnderflow = 0x1p-50;

/// f32 arithmetic on tensors that reads as formulas. A number takes the shape
/// of what it meets by broadcasting.
struct Formula {
  mlir::ImplicitLocOpBuilder &b;

  mlir::Value number(double value) {
    return splat(b, mlir::RankedTensorType::get({}, b.getF32Type()), value);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return AddOp::create(b, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return SubOp::create(b, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return MulOp::create(b, x, y);
  }
  mlir::Value mul(double x, mlir::Value y) { return mul(number(x), y); }
  mlir::Value div(mlir::Value x, mlir::Value y) {
    return DivOp::create(b, x, y);
  }
  mlir::Value max(mlir::Value x, mlir::Value y) {
    return MaximumOp::create(b, x, y);
  }
  mlir::Value abs(mlir::Value x) { return AbsOp::create(b, x); }
  mlir::Value sqrt(mlir::Value x) { return SqrtOp::create(b, x); }
  mlir::Value widen(mlir::Value x) { return mul(kSlack, x); }
  /// `x` where the other is a number, else NaN.
  mlir::Value unlessNaN(mlir::Value x, mlir::Value other);
  /// `x` where the other is not negative, else NaN.
  mlir::Value whereNotNegative(mlir::Value x, mlir::Value other);
  /// An upper bound on the elements of a gradient of that norm.
  mlir::Value largest(mlir::Value norm) {
    return add(widen(norm), number(kUnderflow));
  }
};

/// A tensor's elements without sign, in f32.
mlir::Value magnitude(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

} // namespace mp

#endif // MP_DIALECT_UPDATERULES_H
