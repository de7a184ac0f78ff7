//===- Ops.h - a function for each op ---------------------------*- C++ -*-===//
//
// dsl/ops.h.inc is made of the records of the dialect.
//
//===----------------------------------------------------------------------===//
#ifndef MANTISSA_DSL_OPS_H
#define MANTISSA_DSL_OPS_H

#include "dsl/Tensor.h"
#include <optional>

namespace mantissa {

#include "dsl/ops.h.inc"

// The same with what users rather write.

/// Converts the elements, rounding to nearest, ties to even.
Tensor cast(const Operand &input, ElementType element);
/// Gives the elements another shape; one size may be -1, which the others
/// determine. A first size of -1 or Batch, of a tensor with a batch dimension,
/// is the number of rows that its elements make: {-1, 64} merges the first two
/// dimensions of {Batch, 16, 64}, and {Batch, 16, 64} splits them again.
Tensor reshape(const Operand &input, const Dims &shape);
/// Joins dimensions from `start` to `end` (included) into one, as torch.flatten
/// with a batch dimension does. From 0 on, the batch is joined too.
Tensor flatten(const Operand &input, int64_t start = 1, int64_t end = -1);
/// Repeats the elements along new and along unit dimensions, as in NumPy.
Tensor broadcast(const Operand &input, const Dims &shape);
/// The sum, the mean, the largest and the smallest of all elements, as a tensor
/// without dimensions.
Tensor sum(const Operand &input);
Tensor mean(const Operand &input);
Tensor max(const Operand &input);
Tensor min(const Operand &input);
/// A constant: one number, or one for each element.
Tensor constant(const Context &context, double value,
                ElementType element = F32);
Tensor constant(const Context &context, const std::vector<double> &values,
                const Dims &shape, ElementType element = F32);

inline Tensor operator+(const Operand &a, const Operand &b) {
  return add(a, b);
}
inline Tensor operator-(const Operand &a, const Operand &b) {
  return sub(a, b);
}
inline Tensor operator*(const Operand &a, const Operand &b) {
  return mul(a, b);
}
inline Tensor operator/(const Operand &a, const Operand &b) {
  return div(a, b);
}
inline Tensor operator-(const Operand &a) { return neg(a); }
inline Tensor operator<(const Operand &a, const Operand &b) {
  return compare(a, b, Comparison::lt);
}
inline Tensor operator>(const Operand &a, const Operand &b) {
  return compare(a, b, Comparison::gt);
}
inline Tensor operator<=(const Operand &a, const Operand &b) {
  return compare(a, b, Comparison::le);
}
inline Tensor operator>=(const Operand &a, const Operand &b) {
  return compare(a, b, Comparison::ge);
}

// C++ would take `a > 0 && b > 0` as whether both tensors are there.
template <std::derived_from<Tensor> A, std::derived_from<Tensor> B>
bool operator&&(const A &, const B &) {
  static_assert(!std::derived_from<A, Tensor>,
                "write logicalAnd(a, b) for the flags of two tensors");
  return false;
}
template <std::derived_from<Tensor> A, std::derived_from<Tensor> B>
bool operator||(const A &, const B &) {
  static_assert(!std::derived_from<A, Tensor>,
                "write logicalOr(a, b) for the flags of two tensors");
  return false;
}

} // namespace mantissa

#endif // MANTISSA_DSL_OPS_H
