//===- Wide.h - arithmetic on tensors in their compute type ---------------===//
#ifndef MP_DIALECT_WIDE_H
#define MP_DIALECT_WIDE_H

#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Math.h"
#include <array>
#include <tuple>

namespace mp {

/// Builds ops on tensors for gradient rules of several ops: operands are cast
/// to their compute type first, so that nothing is rounded to 16 bits before
/// the walker casts the gradient to its operand's type. Where the operands are
/// f32 or f64 there is no cast.
class Wide {
public:
  explicit Wide(mlir::ImplicitLocOpBuilder &builder) : b(builder) {}

  mlir::Value operator()(mlir::Value x) {
    return castTo(b, x, computeType(elementType(x)));
  }
  /// A number in the compute type of `like`.
  mlir::Value number(mlir::Value like, double value) {
    mlir::Type element = computeType(elementType(like));
    return splat(b, mlir::RankedTensorType::get({}, element), value);
  }

  mlir::Value add(mlir::Value x, mlir::Value y) { return make<AddOp>(x, y); }
  mlir::Value add(mlir::Value x, double y) { return add(x, number(x, y)); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return make<SubOp>(x, y); }
  mlir::Value sub(double x, mlir::Value y) { return sub(number(y, x), y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return make<MulOp>(x, y); }
  mlir::Value mul(mlir::Value x, double y) { return mul(x, number(x, y)); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return make<DivOp>(x, y); }
  mlir::Value neg(mlir::Value x) { return make<NegOp>(x); }
  mlir::Value exp(mlir::Value x) { return make<ExpOp>(x); }

  /// Whether `relation` holds between `x` and a number of its own type.
  mlir::Value is(Comparison relation, mlir::Value x, double y) {
    mlir::Value wide = (*this)(x);
    return CompareOp::create(b, relation, wide, number(wide, y));
  }
  mlir::Value select(mlir::Value flag, mlir::Value x, mlir::Value y) {
    mlir::Value chosen = (*this)(x), other = (*this)(y);
    return SelectOp::create(b, flag, chosen, other);
  }

  /// An op on wide operands, which are cast in order.
  template <typename Op, typename... Tensors>
  mlir::Value make(Tensors... operands) {
    std::array<mlir::Value, sizeof...(operands)> wide{(*this)(operands)...};
    return std::apply([&](auto... x) { return Op::create(b, x...); }, wide);
  }

private:
  mlir::ImplicitLocOpBuilder &b;
};

} // namespace mp

#endif // MP_DIALECT_WIDE_H
