//===- Logic.cpp - flags and selection ------------------------------------===//
#include "dialect/ops/Logic.h"
#include "dialect/Expression.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

LogicalResult MagnitudeOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(
      tensorType(adaptor.getInput()).clone(IntegerType::get(context, 32)));
  return success();
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto type = inferElementwise(location, adaptor.getOperands().drop_front());
  if (failed(type))
    return failure();
  auto condition = cast<RankedTensorType>(adaptor.getCondition().getType());
  auto shape = broadcastShapes(condition.getShape(), type->getShape());
  if (!shape)
    return emitOptionalError(location, "shapes do not broadcast: ", condition,
                             " vs ", *type);
  types.push_back(type->clone(*shape));
  return success();
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static arith::CmpFPredicate floatPredicate(Comparison relation) {
  switch (relation) {
  case Comparison::eq:
    return arith::CmpFPredicate::OEQ;
  case Comparison::ne:
    return arith::CmpFPredicate::UNE;
  case Comparison::lt:
    return arith::CmpFPredicate::OLT;
  case Comparison::le:
    return arith::CmpFPredicate::OLE;
  case Comparison::gt:
    return arith::CmpFPredicate::OGT;
  case Comparison::ge:
    return arith::CmpFPredicate::OGE;
  }
  llvm_unreachable("all relations covered");
}

static arith::CmpIPredicate intPredicate(Comparison relation, bool isUnsigned) {
  using P = arith::CmpIPredicate;
  switch (relation) {
  case Comparison::eq:
    return P::eq;
  case Comparison::ne:
    return P::ne;
  case Comparison::lt:
    return isUnsigned ? P::ult : P::slt;
  case Comparison::le:
    return isUnsigned ? P::ule : P::sle;
  case Comparison::gt:
    return isUnsigned ? P::ugt : P::sgt;
  case Comparison::ge:
    return isUnsigned ? P::uge : P::sge;
  }
  llvm_unreachable("all relations covered");
}

SmallVector<Value> CompareOp::buildScalars(ImplicitLocOpBuilder &b,
                                           ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return {
        arith::CmpFOp::create(b, floatPredicate(getRelation()), x[0], x[1])};
  return {arith::CmpIOp::create(
      b, intPredicate(getRelation(), elementType(getLhs()).isUnsignedInteger()),
      x[0], x[1])};
}
SmallVector<Value> SelectOp::buildScalars(ImplicitLocOpBuilder &b,
                                          ValueRange x) {
  return {arith::SelectOp::create(b, x[0], x[1], x[2])};
}
SmallVector<Value> OrOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {arith::OrIOp::create(b, x[0], x[1])};
}
SmallVector<Value> AndOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {arith::AndIOp::create(b, x[0], x[1])};
}
SmallVector<Value> NotOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {Expression(b, x[0]) ^ true};
}
SmallVector<Value> IsFiniteOp::buildScalars(ImplicitLocOpBuilder &b,
                                            ValueRange x) {
  // |x| < inf is false for NaN too.
  return {abs(Expression(b, x[0])) < std::numeric_limits<double>::infinity()};
}
SmallVector<Value> MagnitudeOp::buildScalars(ImplicitLocOpBuilder &b,
                                             ValueRange x) {
  return {bitcast({b, x[0]}, b.getI32Type()) & INT32_MAX};
}

//===----------------------------------------------------------------------===//
// Gradients and folds
//===----------------------------------------------------------------------===//

SmallVector<Value> SelectOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  Value zero = splat(b, RankedTensorType::get({}, elementType(g[0])), 0);
  Value lhs = SelectOp::create(b, getCondition(), g[0], zero);
  Value rhs = SelectOp::create(b, getCondition(), zero, g[0]);
  return {Value(), lhs, rhs};
}
std::vector<OpSample> SelectOp::sampleInputs() {
  return {{{{"tensor<3x5xi1>", 0, 1}, {"tensor<3x5xf64>"}, {"tensor<5xf64>"}},
           "mp.select %0, %1, %2 : tensor<3x5xi1>, tensor<3x5xf64>, "
           "tensor<5xf64>"}};
}

OpFoldResult NotOp::fold(FoldAdaptor) {
  if (auto inner = getInput().getDefiningOp<NotOp>())
    return inner.getInput();
  return {};
}
