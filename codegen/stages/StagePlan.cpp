//===- StagePlan.cpp - can these stages share a loop nest? ----------------===//
#include "codegen/stages/StagePlan.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mp;

namespace {

/// Returns the row of a tensor that repeats rows along the loop over them, as
/// an expression of that loop, or null.
AffineExpr repeatedRow(AffineMap map) {
  if (map.getNumDims() != 2 || map.getNumResults() == 0)
    return {};
  AffineExpr row = map.getResult(0);
  bool isOfRows = row.isFunctionOfDim(0) && !row.isFunctionOfDim(1);
  return isOfRows && !isa<AffineDimExpr>(row) ? row : AffineExpr();
}

/// Returns the space of a tensor seen through a map, if nests support it.
std::optional<Space> spaceThrough(AffineMap map) {
  if (repeatedRow(map)) {
    auto exprs = llvm::to_vector(map.getResults());
    exprs.front() = getAffineDimExpr(0, map.getContext());
    map = AffineMap::get(2, 0, exprs, map.getContext());
  }
  if (map.getNumResults() == 0)
    return Space::Scalar;
  if (map.isIdentity() && map.getNumDims() == 2)
    return Space::Full;
  if (map.getNumDims() == 2 && map.getNumResults() == 1) {
    if (map.getResult(0) == getAffineDimExpr(0, map.getContext()))
      return Space::Row;
    if (map.getResult(0) == getAffineDimExpr(1, map.getContext()))
      return Space::Column;
  }
  return std::nullopt;
}

bool isReduction(linalg::GenericOp op) { return op.getNumReductionLoops() > 0; }

/// Whether nests support the form of a stage, whatever its neighbours.
bool isRegular(linalg::GenericOp op) {
  if (op.getNumLoops() > 2)
    return false;
  for (AffineMap map : op.getIndexingMapsArray()) {
    bool isLine = map.getNumDims() == 1 && map.isIdentity();
    if (!isLine && !spaceThrough(map))
      return false;
  }
  if (isReduction(op))
    return matchReduction(op).has_value();
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return op.getMatchingIndexingMap(&init).isIdentity();
  });
}

/// Finds the space of every tensor and stage of a group.
class SpaceInference {
public:
  SpaceInference(ArrayRef<linalg::GenericOp> ops)
      : ops(ops), domains(ops.size()) {}

  bool run() {
    if (!findShape())
      return false;
    // Matrices tell their spaces; lines take theirs from them, or from their
    // length.
    for (bool guess : {false, true})
      for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < ops.size(); ++i)
          if (!domains[i] && !infer(i, guess, changed))
            return false;
      }
    return llvm::all_of(domains,
                        [](auto domain) { return domain.has_value(); });
  }

  ArrayRef<linalg::GenericOp> ops;
  SmallVector<std::optional<Space>> domains;
  DenseMap<Value, Space> spaces;
  DenseMap<Value, AffineExpr> repeatedRows;
  bool isMatrix = false, isLine = false;
  int64_t rows = 1, columns = 1;

private:
  bool findShape() {
    for (linalg::GenericOp op : ops)
      if (op.getNumLoops() == 2) {
        SmallVector<int64_t> shape = op.getStaticLoopRanges();
        if (isMatrix && (rows != shape[0] || columns != shape[1]))
          return false;
        isMatrix = true;
        rows = shape[0];
        columns = shape[1];
      }
    for (linalg::GenericOp op : ops)
      if (op.getNumLoops() == 1 && !isMatrix) {
        if (isLine && columns != op.getStaticLoopRanges()[0])
          return false;
        isLine = true;
        columns = op.getStaticLoopRanges()[0];
      }
    return true;
  }

  bool assign(Value tensor, Space space, AffineExpr row) {
    if (constantOf(tensor))
      return true;
    auto [it, isNew] = spaces.try_emplace(tensor, space);
    if (isNew && row)
      repeatedRows[tensor] = row;
    bool isMade = llvm::is_contained(ops, tensor.getDefiningOp());
    return it->second == space && repeatedRows.lookup(tensor) == row &&
           !(row && isMade);
  }

  /// Returns a line's space: that of one of its tensors, or else by its length.
  std::optional<Space> lineSpace(linalg::GenericOp op, bool guess) {
    if (!isMatrix)
      return Space::Column;
    for (OpOperand &operand : op->getOpOperands())
      if (op.getMatchingIndexingMap(&operand).getNumResults() == 1)
        if (auto it = spaces.find(operand.get()); it != spaces.end())
          return it->second;
    if (!isReduction(op))
      for (Value result : op.getResults())
        if (auto it = spaces.find(result); it != spaces.end())
          return it->second;
    if (!guess)
      return std::nullopt;
    int64_t length = op.getStaticLoopRanges()[0];
    return length == rows ? Space::Row : Space::Column;
  }

  bool infer(size_t i, bool guess, bool &changed) {
    linalg::GenericOp op = ops[i];
    Space domain = Space::Full;
    if (op.getNumLoops() == 0) {
      domain = Space::Scalar;
    } else if (op.getNumLoops() == 1) {
      std::optional<Space> line = lineSpace(op, guess);
      if (!line)
        return true;
      domain = *line;
      if (op.getStaticLoopRanges()[0] !=
          (domain == Space::Row ? rows : columns))
        return false;
    }
    auto through = [&](AffineMap map) {
      bool isLine = map.getNumDims() == 1 && map.getNumResults() == 1;
      return isLine ? domain : *spaceThrough(map);
    };
    for (OpOperand &operand : op->getOpOperands())
      if (!operand.get().getDefiningOp<tensor::EmptyOp>() &&
          !assign(operand.get(), through(op.getMatchingIndexingMap(&operand)),
                  repeatedRow(op.getMatchingIndexingMap(&operand))))
        return false;
    for (OpResult result : op->getResults())
      if (!assign(result, through(op.getIndexingMapMatchingResult(result)),
                  AffineExpr()))
        return false;
    domains[i] = domain;
    changed = true;
    return true;
  }
};

/// Returns the schedules to consider, best first.
SmallVector<LoopSchedule> candidates(const SpaceInference &inference,
                                     const StageTarget &target) {
  bool reducesColumns = false, reduces = false;
  for (auto [op, domain] : llvm::zip_equal(inference.ops, inference.domains)) {
    reduces |= isReduction(op);
    reducesColumns |=
        domain == Space::Full && isReduction(op) &&
        inference.spaces.lookup(op->getResult(0)) == Space::Column;
  }
  if (inference.isMatrix) {
    // Sums down the columns: few rows, or few enough elements for a cache, are
    // read in strips; otherwise whole rows are read, and their sums combined
    // later.
    constexpr int64_t fewRows = 16, manyRows = 4096, cached = 1 << 18;
    bool strips = inference.rows <= fewRows ||
                  (inference.rows <= manyRows &&
                   inference.rows * inference.columns <= cached);
    if (reducesColumns && strips)
      return {LoopSchedule::Columns, LoopSchedule::Rows};
    return {LoopSchedule::Rows};
  }
  if (!inference.isLine)
    return {LoopSchedule::Whole};
  bool isWhole = reduces && inference.columns <= target.wholeElements;
  return {isWhole ? LoopSchedule::Whole : LoopSchedule::Flat};
}

/// Whether `stage` is possible in a group of this schedule; notes if it is a
/// terminal.
bool accepts(const StageGroup &group, Stage &stage) {
  if (!stage.reduction)
    return true;
  Role domain = group.role(stage.domain), result = group.role(stage.result);
  if (domain == Role::Full && result == Role::Outer)
    return true;
  stage.terminal = true;
  if (result == Role::Global)
    return domain == Role::Full || domain == Role::Outer;
  // A row of sums in memory, to which each row is added.
  return group.schedule == LoopSchedule::Rows && domain == Role::Full;
}

std::optional<StageGroup> schedule(const SpaceInference &inference,
                                   LoopSchedule schedule,
                                   const StageGroup *earlier,
                                   const StageTarget &target) {
  StageGroup group;
  group.target = target;
  group.schedule = schedule;
  group.rows = inference.rows;
  group.columns = inference.columns;
  group.spaces = inference.spaces;
  group.repeatedRows = inference.repeatedRows;
  // This is looked up for every stage of every plan: a search would make the
  // time for long chains of ops cubic in their length.
  llvm::SmallDenseMap<Operation *, bool> terminalBefore;
  if (earlier)
    for (const Stage &stage : earlier->stages)
      terminalBefore[stage.op] = stage.terminal;
  llvm::SmallDenseSet<Operation *> terminals;
  for (auto [op, domain] : llvm::zip_equal(inference.ops, inference.domains)) {
    Stage stage;
    stage.op = op;
    stage.domain = *domain;
    stage.result = group.spaces.lookup(op->getResult(0));
    stage.reduction = isReduction(op);
    if (!accepts(group, stage))
      return std::nullopt;
    if (auto before = terminalBefore.find(op);
        before != terminalBefore.end() && before->second != stage.terminal)
      return std::nullopt;
    for (OpOperand &operand : op->getOpOperands())
      if (terminals.contains(operand.get().getDefiningOp()))
        return std::nullopt;
    if (stage.terminal)
      terminals.insert(op);
    group.stages.push_back(stage);
  }
  // The partial results that a group already makes have their places: a later
  // stage combines as many as there were.
  if (earlier && earlier->hasTerminals() && group.chunks() != earlier->chunks())
    return std::nullopt;
  return group;
}

/// Marks the costly stages that several passes would compute. `costs` holds the
/// cost of computing each stage anew, without kept values.
void chooseBuffers(StageGroup &group) {
  constexpr unsigned costly = 12;
  if (group.schedule != LoopSchedule::Rows &&
      group.schedule != LoopSchedule::Whole)
    return; // a buffer holds a row
  DenseMap<Operation *, unsigned> costs;
  for (Stage &stage : group.stages) {
    if (stage.reduction || group.role(stage.domain) != Role::Full)
      continue;
    unsigned total = costOf(stage.op);
    for (OpOperand *read : readsOf(stage.op))
      total += costs.lookup(read->get().getDefiningOp());
    costs[stage.op] = total;
    bool now = group.isWorkOf(stage, stage.level), later = false;
    for (const Stage &user : group.stages)
      for (OpOperand *read : readsOf(user.op))
        if (read->get().getDefiningOp() == stage.op)
          (user.level > stage.level ? later : now) = true;
    if (total >= costly && now && later) {
      stage.buffered = true;
      costs[stage.op] = 0;
    }
  }
}

} // namespace

std::optional<StageGroup> mp::planGroup(ArrayRef<linalg::GenericOp> ops,
                                        const StageGroup *earlier,
                                        const StageTarget &target) {
  if (!llvm::all_of(ops, isRegular))
    return std::nullopt;
  SpaceInference inference(ops);
  if (!inference.run())
    return std::nullopt;
  for (LoopSchedule candidate : candidates(inference, target))
    if (std::optional<StageGroup> group =
            schedule(inference, candidate, earlier, target))
      return group;
  return std::nullopt;
}

void mp::planPasses(StageGroup &group) {
  for (Stage &stage : group.stages) {
    stage.level = 0;
    for (OpOperand *read : readsOf(stage.op))
      if (const Stage *from = group.producer(read->get()))
        stage.level =
            std::max(stage.level, from->level + (from->reduction ? 1 : 0));
  }
  chooseBuffers(group);
}
