//===- Scalars.h - arithmetic on scalars, for bodies of ops ---------------===//
#ifndef MP_DIALECT_SCALARS_H
#define MP_DIALECT_SCALARS_H

#include "dialect/Mp.h"

namespace mp::scalars {

using mlir::ImplicitLocOpBuilder;
using mlir::Value;

/// A float constant of a type, or of the type of another scalar.
inline Value number(ImplicitLocOpBuilder &b, mlir::Type type, double value) {
  return mlir::arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}
inline Value number(ImplicitLocOpBuilder &b, Value like, double value) {
  return number(b, like.getType(), value);
}
inline Value add(ImplicitLocOpBuilder &b, Value x, Value y) {
  return mlir::arith::AddFOp::create(b, x, y);
}
inline Value sub(ImplicitLocOpBuilder &b, Value x, Value y) {
  return mlir::arith::SubFOp::create(b, x, y);
}
inline Value mul(ImplicitLocOpBuilder &b, Value x, Value y) {
  return mlir::arith::MulFOp::create(b, x, y);
}
inline Value div(ImplicitLocOpBuilder &b, Value x, Value y) {
  return mlir::arith::DivFOp::create(b, x, y);
}
inline Value sqrt(ImplicitLocOpBuilder &b, Value x) {
  return mlir::math::SqrtOp::create(b, x);
}

} // namespace mp::scalars

#endif // MP_DIALECT_SCALARS_H
