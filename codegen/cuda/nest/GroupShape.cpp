//===- GroupShape.cpp - how threads share a group -------------------------===//
#include "codegen/cuda/nest/GroupShape.h"
#include "codegen/cuda/ScalarPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

namespace {

/// The blocks that fill a large GPU.
constexpr int64_t kManyBlocks = 132;
/// 32-bit registers that arrays of a thread may take. Where a warp has a row to
/// itself, it waits for no other, and few warps suffice; where it also adds up
/// rows, there are no more blocks than chunks, and more of its warps run.
constexpr int64_t kArrayRegisters = 32, kWarpArrayRegisters = 112,
                  kWarpSumRegisters = 64;

Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

bool isLane(const StageGroup &group, Value tensor) {
  Role role = group.role(tensor);
  return role == Role::Inner || role == Role::Full ||
         (group.schedule == LoopSchedule::Flat && role == Role::Outer);
}

/// IEEE division and square root take many instructions: a body that holds them
/// is not repeated often.
bool isLong(linalg::GenericOp stage) {
  return llvm::any_of(*stage.getBody(), [](Operation &op) {
    return isa<arith::DivFOp, math::SqrtOp, math::RsqrtOp>(op) ||
           (isa<math::MathDialect>(op.getDialect()) &&
            !isa<math::AbsFOp, math::FmaOp, math::CopySignOp>(op));
  });
}

/// Returns the elements in 16 bytes of the narrowest tensor of the lanes.
int64_t widest(const StageGroup &group) {
  unsigned narrowest = 8;
  int64_t aligned = 8;
  bool isCostly = false;
  auto see = [&](Value tensor) {
    if (constantOf(tensor) || !isLane(group, tensor))
      return;
    narrowest = std::min(narrowest, storageBytes(elementOf(tensor)));
    aligned = std::min(aligned, alignmentOf(tensor));
  };
  for (const Stage &stage : group.stages) {
    for (OpOperand *read : readsOf(stage.op))
      if (!group.producer(read->get()))
        see(read->get());
    isCostly |= isLane(group, stage.op->getResult(0)) && isLong(stage.op);
  }
  llvm::for_each(group.outputs, see);
  bool hasSums = llvm::any_of(group.stages, [&](const Stage &stage) {
    return isRowOfSums(group, stage);
  });
  int64_t most = isCostly || hasSums ? 4 : 8;
  return std::min({most, int64_t(16 / narrowest), aligned});
}

int64_t powerUpTo(int64_t bound) { return llvm::bit_floor(uint64_t(bound)); }

} // namespace

/// Returns the registers of one element per step for everything that `group`
/// keeps.
static int64_t keptBytes(const StageGroup &group, DenseSet<Value> &kept) {
  int64_t bytes = 0;
  DenseSet<Value> seen;
  for (unsigned level = 0; level < group.levels(); ++level)
    for (Value tensor : group.readAt(level))
      if (!constantOf(tensor) && isLane(group, tensor) &&
          !seen.insert(tensor).second && kept.insert(tensor).second)
        bytes += storageBytes(elementOf(tensor));
  for (const Stage &stage : group.stages)
    if (stage.buffered || isRowOfSums(group, stage))
      for (Value result : stage.op->getResults())
        bytes += std::max(storageBytes(elementOf(result)), 4u);
  return bytes;
}

static void shapeRows(GroupShape &shape, const StageGroup &group) {
  int64_t columns = std::max<int64_t>(group.columns, 1);
  shape.width = widest(group);
  while (shape.width > 1 &&
         (columns % shape.width != 0 || columns / shape.width < 32))
    shape.width /= 2;
  int64_t vectors = columns / shape.width;
  bool hasSums = llvm::any_of(group.stages, [&](const Stage &stage) {
    return isRowOfSums(group, stage);
  });
  int64_t bytes = keptBytes(group, shape.kept);
  int64_t registers = hasSums ? kWarpSumRegisters : kWarpArrayRegisters;
  auto fits = [&](int64_t steps) {
    return steps * shape.width * bytes <= 4 * registers;
  };
  constexpr int64_t stepsOfBlock = 4;
  const int64_t stepsOfWarp = hasSums ? 4 : 8;
  if (vectors <= 32 * stepsOfWarp && fits(llvm::divideCeil(vectors, 32))) {
    shape.across = 32;
    int64_t rows = group.hasTerminals() ? std::min(group.rows, group.chunk())
                                        : group.rows / kManyBlocks;
    shape.down =
        std::clamp<int64_t>(powerUpTo(std::max<int64_t>(rows, 1)), 1, 8);
  } else {
    registers = kArrayRegisters;
    // A long row may take so much shared memory that no other block fits.
    constexpr int64_t longRow = 1 << 13;
    int64_t most =
        group.schedule == LoopSchedule::Whole || vectors > longRow ? 1024 : 512;
    // A block that adds up rows goes through many of them, so that few blocks
    // are there at once.
    bool alone = group.schedule == LoopSchedule::Whole || hasSums;
    int64_t enough =
        llvm::PowerOf2Ceil(llvm::divideCeil(vectors, alone ? 1 : stepsOfBlock));
    shape.across = std::clamp<int64_t>(enough, 64, most);
  }
  auto chooseSteps = [&] {
    shape.steps = llvm::divideCeil(vectors, shape.across);
    shape.unrolled = fits(shape.steps) && (bytes > 0 || shape.steps <= 4);
  };
  chooseSteps();
  if (hasSums && !shape.unrolled && shape.down > 1) {
    // Sums in memory belong to one thread each: all threads work on the same
    // row.
    shape.across = 32 * shape.down;
    shape.down = 1;
    chooseSteps();
  }
  if (!shape.unrolled)
    shape.kept.clear();
}

/// Whether the first pass computes all elements of a group.
static bool isOnePass(const StageGroup &group) {
  if (group.schedule == LoopSchedule::Flat)
    return true;
  bool hasLine = false, isLater = false;
  for (const Stage &stage : group.stages)
    if (group.role(stage.domain) == Role::Full)
      (stage.level > 0 ? isLater : hasLine) = true;
  return group.schedule == LoopSchedule::Whole && hasLine && !isLater;
}

GroupShape::GroupShape(const StageGroup &group, const Arch &arch) {
  onePass = isOnePass(group);
  if (onePass) {
    width = widest(group);
    across = 256;
    return;
  }
  switch (group.schedule) {
  case LoopSchedule::Columns:
    across = 32;
    down = std::clamp<int64_t>(powerUpTo(std::max<int64_t>(group.rows / 4, 1)),
                               1, 32);
    break;
  default:
    shapeRows(*this, group);
  }
}
