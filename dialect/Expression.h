//===- Expression.h - operators that build arithmetic ops -----------------===//
//
// `half * x * (1 - t * t)` builds ops. Scalars and vectors give ops of arith
// and math, for the bodies of elementwise ops and for math expansions. Tensors
// give ops of mp in the compute type: operands are cast to it first, so that no
// intermediate value is rounded to 16 bits. A number becomes a constant of the
// other operand's type.
//
//===----------------------------------------------------------------------===//
#ifndef MP_DIALECT_EXPRESSION_H
#define MP_DIALECT_EXPRESSION_H

#include "dialect/Mp.h"
#include <array>

namespace mp {

/// A scalar, a vector or a tensor, with the builder for ops that use it. It may
/// be null, like a Value.
class Expression {
public:
  Expression() = default;
  Expression(mlir::ImplicitLocOpBuilder &b, mlir::Value value)
      : b(&b), value(value) {}
  operator mlir::Value() const { return value; }
  explicit operator bool() const { return bool(value); }

  /// A constant of a scalar type, or a splat of a vector type.
  static Expression constant(mlir::ImplicitLocOpBuilder &b, mlir::Type type,
                             double number);
  /// A constant of the same type. For a tensor it has rank 0 and the tensor's
  /// compute type.
  Expression number(double constant) const;
  /// The same numbers in another element type.
  Expression to(mlir::Type element) const;
  Expression toTypeOf(const Expression &other) const {
    return to(other.value.getType());
  }

  mlir::Type getType() const { return value.getType(); }
  bool isTensor() const {
    return mlir::isa<mlir::RankedTensorType>(value.getType());
  }
  /// A tensor in its compute type; anything else, and null, unchanged.
  Expression wide() const;
  mlir::ImplicitLocOpBuilder &builder() const { return *b; }

private:
  mlir::ImplicitLocOpBuilder *b = nullptr;
  mlir::Value value;
};

/// The first operands of an op as expressions, so that they can be named.
template <size_t N>
std::array<Expression, N> expressions(mlir::ImplicitLocOpBuilder &b,
                                      mlir::ValueRange operands) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return std::array<Expression, N>{Expression(b, operands[I])...};
  }(std::make_index_sequence<N>());
}

Expression operator-(Expression x);
Expression abs(Expression x);
Expression cos(Expression x);
Expression erf(Expression x);
Expression exp(Expression x);
Expression expm1(Expression x);
Expression floor(Expression x);
Expression log(Expression x);
Expression log1p(Expression x);
Expression rsqrt(Expression x);
Expression sigmoid(Expression x);
Expression sin(Expression x);
Expression sqrt(Expression x);
Expression tanh(Expression x);

// Either operand may be a number.
#define MP_BINARY(NAME)                                                        \
  Expression NAME(Expression x, Expression y);                                 \
  inline Expression NAME(Expression x, double y) {                             \
    return NAME(x, x.number(y));                                               \
  }                                                                            \
  inline Expression NAME(double x, Expression y) {                             \
    return NAME(y.number(x), y);                                               \
  }
MP_BINARY(operator+)
MP_BINARY(operator-)
MP_BINARY(operator*)
MP_BINARY(operator/)
/// NaN if one operand is NaN.
MP_BINARY(max)
MP_BINARY(min)
MP_BINARY(pow)
/// The results are flags. With a NaN, every relation but `!=` is false.
MP_BINARY(operator==)
MP_BINARY(operator!=)
MP_BINARY(operator<)
MP_BINARY(operator<=)
MP_BINARY(operator>)
MP_BINARY(operator>=)
/// Bitwise, which for flags means "and" and "or".
MP_BINARY(operator&)
MP_BINARY(operator|)

/// `x` where the flag is set, else `y`.
Expression select(Expression flag, Expression x, Expression y);
inline Expression select(Expression flag, Expression x, double y) {
  return select(flag, x, x.number(y));
}
inline Expression select(Expression flag, double x, Expression y) {
  return select(flag, y.number(x), y);
}

//===----------------------------------------------------------------------===//
// For scalars and vectors only
//===----------------------------------------------------------------------===//

/// x * y + z, rounded once.
Expression fma(Expression x, Expression y, Expression z);
inline Expression fma(Expression x, Expression y, double z) {
  return fma(x, y, x.number(z));
}
inline Expression fma(Expression x, double y, Expression z) {
  return fma(x, x.number(y), z);
}
inline Expression fma(Expression x, double y, double z) {
  Expression factor = x.number(y);
  return fma(x, factor, x.number(z));
}
/// 1 or -1; 0 for zero and NaN.
Expression sign(Expression x);
/// Whether x or y is NaN.
Expression isUnordered(Expression x, Expression y);

MP_BINARY(operator^)
MP_BINARY(operator<<)
/// Shifts in copies of the sign.
MP_BINARY(operator>>)
/// Shifts in zeros.
MP_BINARY(shiftRightLogical)
#undef MP_BINARY

/// The value with the same bits in another element type.
Expression bitcast(Expression x, mlir::Type element);
/// An integer widened with zeros.
Expression zeroExtend(Expression x, unsigned width);
/// The low bits of an integer.
Expression truncate(Expression x, unsigned width);

} // namespace mp

#endif // MP_DIALECT_EXPRESSION_H
