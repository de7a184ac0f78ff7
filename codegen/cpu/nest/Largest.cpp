//===- Largest.cpp - the largest of 16-bit floats -------------------------===//
#include "codegen/cpu/nest/Largest.h"
#include "codegen/cpu/nest/ScalarBody.h"
#include "dialect/Accuracy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

/// The tensor that an argument of a stage's body is an element of, or null.
static Value tensorOf(linalg::GenericOp op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == op.getBody()
             ? op->getOperand(argument.getArgNumber())
             : Value();
}

/// The tensor of which a stage does nothing but widen the elements, or null.
static Value widenedBy(const Stage *stage) {
  linalg::GenericOp op = stage ? stage->op : nullptr;
  if (!op || stage->reduction || op.getNumResults() != 1)
    return {};
  auto extension = op.getBody()
                       ->getTerminator()
                       ->getOperand(0)
                       .getDefiningOp<arith::ExtFOp>();
  return extension ? tensorOf(op, extension.getIn()) : Value();
}

Value mp::cpu::matchLargest(const StageGroup &group, const Stage &stage) {
  if (!stage.reduction || stage.terminal ||
      group.role(stage.domain) != Role::Full)
    return {};
  Reduction reduction = *matchReduction(stage.op);
  if (!reduction.combiner->hasAttr(kAnyWithNaNAttr))
    return {};
  Value element = tensorOf(stage.op, reduction.element);
  Value from = element ? widenedBy(group.producer(element)) : Value();
  if (!from || group.producer(from) || constantOf(from))
    return {};
  Type type = getElementTypeOrSelf(from.getType());
  return isNarrowFloat(type) && group.spaces.lookup(from) == stage.domain
             ? from
             : Value();
}

/// Exchanges floats and keys, as bits: negative numbers, whose magnitudes grow
/// downwards, have the bits of the magnitude inverted.
static Value exchange(OpBuilder &b, Value bits) {
  Location location = bits.getLoc();
  auto number = [&](int64_t value) {
    auto vector = dyn_cast<VectorType>(bits.getType());
    return constant(b, location, b.getI16IntegerAttr(value),
                    vector ? vector.getNumElements() : 0);
  };
  Value sign = arith::ShRSIOp::create(b, location, bits, number(15));
  Value inverted = arith::AndIOp::create(b, location, sign, number(0x7fff));
  return arith::XOrIOp::create(b, location, bits, inverted);
}

Value mp::cpu::keysOf(OpBuilder &b, Value floats) {
  Type bits = b.getI16Type();
  if (auto vector = dyn_cast<VectorType>(floats.getType()))
    bits = vector.clone(bits);
  return exchange(b,
                  arith::BitcastOp::create(b, floats.getLoc(), bits, floats));
}

Value mp::cpu::floatOfKey(OpBuilder &b, Value key, Type element) {
  Value bits = exchange(b, key);
  Value narrow = arith::BitcastOp::create(b, key.getLoc(), element, bits);
  return arith::ExtFOp::create(b, key.getLoc(), b.getF32Type(), narrow);
}

TypedAttr mp::cpu::leastKey(Type element) {
  auto semantics = &cast<FloatType>(element).getFloatSemantics();
  APInt bits = APFloat::getInf(*semantics, /*Negative=*/true).bitcastToAPInt();
  return Builder(element.getContext())
      .getI16IntegerAttr(int16_t(bits.getZExtValue() ^ 0x7fff));
}
