//===- ScalarBody.cpp - a stage's body on scalars or vectors --------------===//
#include "codegen/cpu/nest/ScalarBody.h"
#include "codegen/cpu/nest/FourLanes.h"
#include "codegen/cpu/nest/PairedLanes.h"
#include "dialect/Accuracy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mp::cpu;

namespace {

/// 0, 1, 2, ... in an integer or index type.
Value iota(OpBuilder &b, Location location, Type element, int64_t lanes) {
  SmallVector<Attribute> values;
  for (int64_t lane = 0; lane < lanes; ++lane)
    values.push_back(b.getIntegerAttr(element, lane));
  auto type = VectorType::get({lanes}, element);
  return arith::ConstantOp::create(b, location,
                                   DenseElementsAttr::get(type, values));
}

bool dividesIntegers(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
}

/// Where a value is computed: in every lane, in one of four neighbours (see
/// FourLanes.h), or in lane 0 alone.
enum Width { Full, Quarter, First };

class BodyCloner {
public:
  BodyCloner(OpBuilder &b, linalg::GenericOp stage, ArrayRef<Value> arguments,
             const BodyPoint &point)
      : b(b), point(point), fourLanes(arguments, point) {
    for (auto [argument, value] :
         llvm::zip_equal(stage.getBody()->getArguments(), arguments))
      if (value)
        mappings[isa<VectorType>(value.getType()) ? Full : First].map(argument,
                                                                      value);
  }

  Value get(Value value, Width width = Full) {
    IRMapping &mapping = mappings[width];
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (!op)
      mapping.map(value,
                  broadcast(b, mappings[First].lookup(value), lanesOf(width)));
    else if (width == Full && fourLanes.share(value))
      mapping.map(value, repeat(get(value, Quarter)));
    else
      clone(op, width);
    return mapping.lookup(value);
  }

private:
  int64_t lanesOf(Width width) const {
    return width == Full ? point.lanes : width == Quarter ? point.lanes / 4 : 0;
  }

  /// Repeats each lane four times.
  Value repeat(Value quarter) {
    SmallVector<int64_t> from;
    for (int64_t lane = 0; lane < point.lanes; ++lane)
      from.push_back(lane / 4);
    return vector::ShuffleOp::create(b, quarter.getLoc(), quarter, quarter,
                                     from);
  }

  void clone(Operation *op, Width width) {
    IRMapping &mapping = mappings[width];
    int64_t lanes = lanesOf(width);
    if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
      mapping.map(op->getResult(0),
                  constant(b, op->getLoc(), constantOp.getValue(), lanes));
      return;
    }
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      mapping.map(op->getResult(0), loopIndex(index, b.getIndexType(), lanes));
      return;
    }
    if (auto cast = dyn_cast<arith::IndexCastOp>(op))
      if (auto index = cast.getIn().getDefiningOp<linalg::IndexOp>()) {
        // Lanes are numbered in the type asked for: i32 is half of an index.
        mapping.map(op->getResult(0), loopIndex(index, cast.getType(), lanes));
        return;
      }
    if (width == Quarter && fourLanes.isQuotient(op)) {
      Value first = get(op->getResult(0), First);
      Value all = broadcast(b, first, lanes);
      mapping.map(
          op->getResult(0),
          arith::AddIOp::create(b, op->getLoc(), all,
                                iota(b, op->getLoc(), first.getType(), lanes)));
      return;
    }
    for (Value operand : op->getOperands())
      get(operand, width);
    Operation *copy = b.clone(*op, mapping);
    if (lanes)
      for (Value result : copy->getResults())
        result.setType(
            VectorType::get({lanes}, getElementTypeOrSelf(result.getType())));
    if (point.isPaired && lanes && isa<arith::ExtFOp, arith::TruncFOp>(copy))
      copy->setAttr(kPairedLanesAttr, b.getUnitAttr());
    // A masked-off lane must not divide by zero.
    if (point.mask && width == Full && dividesIntegers(copy)) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(copy);
      Value divisor = copy->getOperand(1);
      Value one =
          constant(b, op->getLoc(),
                   b.getIntegerAttr(getElementTypeOrSelf(divisor.getType()), 1),
                   point.lanes);
      copy->setOperand(1, arith::SelectOp::create(b, op->getLoc(), point.mask,
                                                  divisor, one));
    }
  }

  Value loopIndex(linalg::IndexOp op, Type type, int64_t lanes) {
    Location location = op.getLoc();
    Value index = point.indices[op.getDim()];
    if (!type.isIndex())
      index = arith::IndexCastOp::create(b, location, type, index);
    if (!lanes)
      return index;
    index = broadcast(b, index, lanes);
    if (static_cast<int>(op.getDim()) != point.laneLoop)
      return index;
    return arith::AddIOp::create(b, location, index,
                                 iota(b, location, type, lanes));
  }

  OpBuilder &b;
  const BodyPoint &point;
  FourLanes fourLanes;
  IRMapping mappings[3];
};

} // namespace

Value mp::cpu::broadcast(OpBuilder &b, Value value, int64_t lanes) {
  if (!lanes || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      b, value.getLoc(), VectorType::get({lanes}, value.getType()), value);
}

Value mp::cpu::constant(OpBuilder &b, Location location, TypedAttr value,
                        int64_t lanes) {
  if (lanes)
    value = DenseElementsAttr::get(VectorType::get({lanes}, value.getType()),
                                   Attribute(value));
  return arith::ConstantOp::create(b, location, value);
}

SmallVector<Value> mp::cpu::cloneBody(OpBuilder &b, linalg::GenericOp stage,
                                      ArrayRef<Value> arguments,
                                      ValueRange wanted,
                                      const BodyPoint &point) {
  BodyCloner cloner(b, stage, arguments, point);
  return llvm::map_to_vector(wanted,
                             [&](Value value) { return cloner.get(value); });
}

Value mp::cpu::combine(OpBuilder &b, Operation *combiner, Value accumulator,
                       Value element) {
  if (getElementTypeOrSelf(accumulator.getType()).isInteger(16) &&
      isa<arith::MaximumFOp>(combiner)) // of keys (Largest.h)
    return arith::MaxSIOp::create(b, combiner->getLoc(), accumulator, element);
  if (combiner->hasAttr(kAnyWithNaNAttr)) {
    // One instruction, which passes over a NaN, instead of three.
    Value isGreater = arith::CmpFOp::create(
        b, combiner->getLoc(), arith::CmpFPredicate::OGT, element, accumulator);
    return arith::SelectOp::create(b, combiner->getLoc(), isGreater, element,
                                   accumulator);
  }
  Operation *copy = b.clone(*combiner);
  copy->setOperands({accumulator, element});
  copy->getResult(0).setType(accumulator.getType());
  return copy->getResult(0);
}

Value mp::cpu::combineLanes(OpBuilder &b, Operation *combiner, Value vector) {
  Location location = combiner->getLoc();
  for (int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
       lanes > 1;) {
    lanes /= 2;
    auto low = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
    auto high = llvm::to_vector(llvm::seq<int64_t>(lanes, 2 * lanes));
    Value a = vector::ShuffleOp::create(b, location, vector, vector, low);
    Value c = vector::ShuffleOp::create(b, location, vector, vector, high);
    vector = combine(b, combiner, a, c);
  }
  return vector::ExtractOp::create(b, location, vector, 0);
}

Value mp::cpu::lanesBelow(OpBuilder &b, Location location, Value count,
                          int64_t lanes) {
  Value bound = arith::IndexCastOp::create(b, location, b.getI32Type(), count);
  return arith::CmpIOp::create(b, location, arith::CmpIPredicate::slt,
                               iota(b, location, b.getI32Type(), lanes),
                               broadcast(b, bound, lanes));
}

Value mp::cpu::lanesBelow(OpBuilder &b, Location location, int64_t count,
                          int64_t lanes) {
  SmallVector<bool> bits;
  for (int64_t lane = 0; lane < lanes; ++lane)
    bits.push_back(lane < count);
  auto type = VectorType::get({lanes}, b.getI1Type());
  return arith::ConstantOp::create(b, location,
                                   DenseElementsAttr::get(type, bits));
}
