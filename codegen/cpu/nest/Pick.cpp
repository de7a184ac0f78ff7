//===- Pick.cpp - a sum with one term -------------------------------------===//
#include "codegen/cpu/nest/Pick.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

/// The tensor that a value of a stage's body is an element of, or null.
static Value tensorOf(linalg::GenericOp op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != op.getBody())
    return {};
  return op->getOperand(argument.getArgNumber());
}

/// The elementwise stage that makes `tensor`, and nothing else, in the group.
static linalg::GenericOp mapOf(const StageGroup &group, Value tensor) {
  const Stage *stage = tensor ? group.producer(tensor) : nullptr;
  if (!stage || stage->reduction)
    return {};
  linalg::GenericOp op = stage->op;
  return op.getNumResults() == 1 ? op : nullptr;
}

template <typename Op> static Op yielded(linalg::GenericOp op) {
  if (!op)
    return {};
  return op.getBody()->getTerminator()->getOperand(0).getDefiningOp<Op>();
}

/// Whether the elements of `tensor` number the columns.
static bool numbersColumns(const StageGroup &group, Value tensor) {
  linalg::GenericOp op = mapOf(group, tensor);
  auto cast = yielded<arith::IndexCastOp>(op);
  auto index = cast ? cast.getIn().getDefiningOp<linalg::IndexOp>() : nullptr;
  return index && index.getDim() + 1 == op.getNumLoops() &&
         (group.spaces.lookup(tensor) == Space::Full ||
          group.spaces.lookup(tensor) == Space::Column);
}

static bool isAlongColumns(const StageGroup &group, Value tensor) {
  Space space = group.spaces.lookup(tensor);
  return space == Space::Full || space == Space::Column;
}

std::optional<Pick> mp::cpu::matchPick(const StageGroup &group,
                                       const Stage &stage) {
  if (!stage.reduction || stage.terminal || group.columns < 2)
    return std::nullopt;
  Reduction sum = *matchReduction(stage.op);
  Value term = tensorOf(stage.op, sum.element);
  linalg::GenericOp choice = mapOf(group, term);
  auto select = yielded<arith::SelectOp>(choice);
  if (!select || !isa<arith::AddFOp>(sum.combiner) ||
      !matchPattern(select.getFalseValue(), m_PosZeroFloat()))
    return std::nullopt;
  Pick pick{tensorOf(choice, select.getTrueValue()), {}};
  linalg::GenericOp test =
      mapOf(group, tensorOf(choice, select.getCondition()));
  auto compare = yielded<arith::CmpIOp>(test);
  if (!pick.from || !isAlongColumns(group, pick.from) || !compare ||
      compare.getPredicate() != arith::CmpIPredicate::eq)
    return std::nullopt;
  Value left = tensorOf(test, compare.getLhs()),
        right = tensorOf(test, compare.getRhs());
  if (!left || !right)
    return std::nullopt;
  if (!numbersColumns(group, left))
    std::swap(left, right);
  if (!numbersColumns(group, left) || constantOf(right) ||
      group.role(right) != Role::Outer)
    return std::nullopt;
  pick.column = right;
  return pick;
}
