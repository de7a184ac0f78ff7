//===- RoundingFacts.cpp - roundings to bf16 that are free ----------------===//
#include "codegen/cpu/RoundingFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp::cpu;

/// Returns a constant's number, if it has one for all lanes.
static std::optional<APFloat> numberOf(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant)
    return std::nullopt;
  if (auto value = dyn_cast<FloatAttr>(constant.getValue()))
    return value.getValue();
  auto all = dyn_cast<DenseFPElementsAttr>(constant.getValue());
  if (all && all.isSplat())
    return all.getSplatValue<APFloat>();
  return std::nullopt;
}

static bool extendsBF16(Operation *op) {
  auto ext = dyn_cast<arith::ExtFOp>(op);
  return ext && getElementTypeOrSelf(ext.getIn().getType()).isBF16();
}

/// Whether the op's result is one of its float operands, or one but for the
/// sign.
static bool isChoice(Operation *op) {
  return isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::SelectOp, arith::NegFOp, math::AbsFOp,
             math::CopySignOp, vector::BroadcastOp, vector::ShuffleOp>(op);
}

/// Whether `fact` holds for each float operand.
template <typename Fact> static bool ofOperands(Operation *op, Fact fact) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return !isa<FloatType>(getElementTypeOrSelf(operand.getType())) ||
           fact(operand);
  });
}

bool RoundingFacts::isBF16Value(Value x) {
  if (auto known = bf16Values.find(x); known != bf16Values.end())
    return known->second;
  Operation *op = x.getDefiningOp();
  bool is = false;
  if (!op || !getElementTypeOrSelf(x.getType()).isF32()) {
    is = false;
  } else if (auto number = numberOf(op)) {
    is = !number->isNaN() &&
         number->bitcastToAPInt().extractBitsAsZExtValue(16, 0) == 0;
  } else if (isChoice(op)) {
    is = ofOperands(op, [this](Value value) { return isBF16Value(value); });
  } else {
    is = extendsBF16(op);
  }
  return bf16Values[x] = is;
}

bool RoundingFacts::hasShortNaN(Value x) {
  if (auto known = shortNaNs.find(x); known != shortNaNs.end())
    return known->second;
  Operation *op = x.getDefiningOp();
  bool has = false;
  if (!op || !getElementTypeOrSelf(x.getType()).isF32()) {
    has = false;
  } else if (auto number = numberOf(op)) {
    has = !number->isNaN();
  } else if (isChoice(op) ||
             isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
                 math::FmaOp, math::SqrtOp>(op)) {
    has = ofOperands(op, [this](Value value) { return hasShortNaN(value); });
  } else {
    has = extendsBF16(op) || isa<arith::SIToFPOp, arith::UIToFPOp>(op);
  }
  return shortNaNs[x] = has;
}
