//===- StageGroup.cpp - stages that share a loop nest ---------------------===//
#include "codegen/stages/StageGroup.h"
#include "dialect/Mp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mp;

std::optional<Reduction> mp::matchReduction(linalg::GenericOp op) {
  if (op.getNumResults() != 1)
    return std::nullopt;
  Block *body = op.getBody();
  BlockArgument accumulator = body->getArguments().back();
  Operation *combiner = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getBlock() != body ||
      combiner->getNumOperands() != 2 || combiner->getNumResults() != 1 ||
      !accumulator.hasOneUse() || *accumulator.user_begin() != combiner ||
      !combiner->hasOneUse())
    return std::nullopt;
  std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner);
  if (!neutral)
    return std::nullopt;
  Reduction reduction;
  reduction.combiner = combiner;
  reduction.element =
      combiner->getOperand(combiner->getOperand(0) == accumulator ? 1 : 0);
  reduction.neutral = *neutral;
  return reduction;
}

bool mp::startsNeutral(linalg::GenericOp op) {
  Reduction reduction = *matchReduction(op);
  TypedAttr start = constantOf(op.getDpsInits()[0]);
  auto number = dyn_cast_or_null<FloatAttr>(start);
  return start == reduction.neutral || (number && number.getValue().isZero() &&
                                        isa<arith::AddFOp>(reduction.combiner));
}

TypedAttr mp::constantOf(Value tensor) {
  Attribute attr;
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>()) {
    if (matchPattern(fill.value(), m_Constant(&attr)))
      return cast<TypedAttr>(attr);
    return nullptr;
  }
  if (!matchPattern(tensor, m_Constant(&attr)))
    return nullptr;
  auto elements = dyn_cast<SplatElementsAttr>(attr);
  return elements ? cast<TypedAttr>(elements.getSplatValue<Attribute>())
                  : nullptr;
}

SmallVector<OpOperand *> mp::readsOf(linalg::GenericOp op) {
  SmallVector<OpOperand *> reads;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isAccumulator =
        op.isDpsInit(&operand) && op.getNumReductionLoops() > 0;
    if (!isAccumulator && !op.getMatchingBlockArgument(&operand).use_empty())
      reads.push_back(&operand);
  }
  return reads;
}

Role StageGroup::role(Space space) const {
  switch (space) {
  case Space::Scalar:
    return schedule == LoopSchedule::Whole ? Role::Outer : Role::Global;
  case Space::Row:
    return schedule == LoopSchedule::Rows ? Role::Outer : Role::Inner;
  case Space::Column:
    if (schedule == LoopSchedule::Whole)
      return Role::Full;
    return schedule == LoopSchedule::Rows ? Role::Inner : Role::Outer;
  case Space::Full:
    return Role::Full;
  }
  llvm_unreachable("all spaces handled");
}

const Stage *StageGroup::producer(Value tensor) const {
  for (const Stage &stage : stages)
    if (stage.op == tensor.getDefiningOp())
      return &stage;
  return nullptr;
}

int64_t StageGroup::outerSize() const {
  if (schedule == LoopSchedule::Whole)
    return 1;
  return schedule == LoopSchedule::Rows ? rows : columns;
}

int64_t StageGroup::innerSize() const {
  if (schedule == LoopSchedule::Flat)
    return 1;
  return schedule == LoopSchedule::Columns ? rows : columns;
}

int64_t StageGroup::chunk() const {
  // There are enough rows for a row of partial sums to be little traffic. Lanes
  // are columns, so chunks of columns are whole vectors.
  int64_t inner = std::max<int64_t>(innerSize(), 1);
  // One chunk more than there are places for takes as long as all of them.
  int64_t share = std::max(
      target.chunkElements / inner,
      int64_t(llvm::divideCeil(outerSize(), uint64_t(target.mostChunks))));
  bool hasRowOfSums = llvm::any_of(stages, [&](const Stage &stage) {
    return stage.terminal && role(stage.result) != Role::Global;
  });
  if (schedule == LoopSchedule::Rows)
    return std::clamp(share, target.chunkRows,
                      hasRowOfSums ? target.mostRows : INT64_MAX);
  return llvm::alignTo(std::max<int64_t>(share, 1), 128);
}

bool StageGroup::hasTerminals() const {
  return llvm::any_of(stages,
                      [](const Stage &stage) { return stage.terminal; });
}

unsigned StageGroup::levels() const {
  unsigned levels = 0;
  for (const Stage &stage : stages)
    levels = std::max(levels, stage.level + 1);
  return levels;
}

bool StageGroup::isWorkOf(const Stage &stage, unsigned level) const {
  if (stage.level != level || role(stage.domain) != Role::Full)
    return false;
  return stage.reduction || stage.buffered ||
         llvm::any_of(stage.op->getResults(),
                      [&](Value result) { return stores(result); });
}

llvm::DenseSet<Value> StageGroup::readAt(unsigned level) const {
  llvm::DenseSet<Value> memory;
  SmallVector<const Stage *> work;
  llvm::SmallPtrSet<const Stage *, 8> seen;
  for (const Stage &stage : stages)
    if (isWorkOf(stage, level) && seen.insert(&stage).second)
      work.push_back(&stage);
  while (!work.empty()) {
    const Stage *stage = work.pop_back_val();
    for (OpOperand *read : readsOf(stage->op)) {
      const Stage *from = producer(read->get());
      if (!from)
        memory.insert(read->get());
      else if (!from->reduction && !(from->buffered && from->level < level) &&
               seen.insert(from).second)
        work.push_back(from);
    }
  }
  return memory;
}

int64_t mp::extentOf(Value tensor) {
  int64_t elements = cast<RankedTensorType>(tensor.getType()).getNumElements();
  RowsAttr rows = RowsAttr::of(tensor.getType());
  return rows ? rows.extent(elements) : elements;
}

int64_t mp::alignmentOf(Value tensor) {
  RowsAttr rows = RowsAttr::of(tensor.getType());
  return rows ? rows.getAligned() : int64_t(1) << 62;
}

unsigned mp::costOf(linalg::GenericOp op) {
  unsigned cost = 0;
  for (Operation &inner : op.getBody()->without_terminator())
    cost += isa<math::MathDialect>(inner.getDialect()) &&
                    !isa<math::AbsFOp, math::SqrtOp>(inner)
                ? 16
                : 1;
  return cost;
}

uint64_t mp::flopsOf(const StageGroup &group) {
  uint64_t flops = 0;
  for (const Stage &stage : group.stages) {
    linalg::GenericOp op = stage.op;
    uint64_t elements = 1, operations = 0;
    for (int64_t size : op.getStaticLoopRanges())
      elements *= size;
    for (Operation &inner : op.getBody()->without_terminator())
      if (inner.getNumResults() == 1 &&
          isa<FloatType>(inner.getResult(0).getType()) &&
          !isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp,
               arith::SelectOp, arith::BitcastOp>(inner))
        operations += isa<math::FmaOp>(inner) ? 2 : 1;
    flops += elements * operations;
  }
  return flops;
}

unsigned StageGroup::busiestLevel() const {
  SmallVector<unsigned> costs(levels());
  for (const Stage &stage : stages)
    if (role(stage.domain) == Role::Full)
      costs[stage.level] += costOf(stage.op);
  unsigned busiest = 0;
  for (unsigned level = 0; level < costs.size(); ++level)
    if (costs[level] >= costs[busiest]) // the later of equals
      busiest = level;
  return busiest;
}
