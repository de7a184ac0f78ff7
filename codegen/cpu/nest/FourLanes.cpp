//===- FourLanes.cpp - values that four lanes share -----------------------===//
#include "codegen/cpu/nest/FourLanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mp::cpu;

bool FourLanes::share(Value value) {
  return point.isAligned && point.lanes >= 16 && kindOf(value) == Kind::Fours;
}

FourLanes::Kind FourLanes::kindOf(Value value) {
  if (auto known = kinds.find(value); known != kinds.end())
    return known->second;
  Kind kind = findKind(value);
  kinds[value] = kind;
  return kind;
}

FourLanes::Kind FourLanes::findKind(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Value given = arguments[argument.getArgNumber()];
    return given && !isa<VectorType>(given.getType()) ? Kind::Same
                                                      : Kind::Different;
  }
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return static_cast<int>(index.getDim()) == point.laneLoop ? Kind::Different
                                                              : Kind::Same;
  if (isQuotient(op))
    return Kind::Fours;
  Kind kind = Kind::Same;
  for (Value operand : op->getOperands())
    kind = std::max(kind, kindOf(operand));
  return kind;
}

bool FourLanes::isQuotient(Operation *op) {
  auto shift = dyn_cast<arith::ShRUIOp>(op);
  APInt by;
  return shift && matchPattern(shift.getRhs(), m_ConstantInt(&by)) && by == 2 &&
         countsFromMultiple(shift.getLhs());
}

/// Whether the value is the index along the lanes, or that of an element in
/// rows of a multiple of four.
bool FourLanes::countsFromMultiple(Value value) {
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>()) {
    auto index = cast.getIn().getDefiningOp<linalg::IndexOp>();
    return index && static_cast<int>(index.getDim()) == point.laneLoop;
  }
  auto sum = value.getDefiningOp<arith::AddIOp>();
  auto rows = sum ? sum.getRhs().getDefiningOp<arith::MulIOp>() : nullptr;
  APInt size;
  return rows && countsFromMultiple(sum.getLhs()) &&
         kindOf(rows.getLhs()) == Kind::Same &&
         matchPattern(rows.getRhs(), m_ConstantInt(&size)) &&
         size.countr_zero() >= 2;
}
