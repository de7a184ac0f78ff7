//===- StageGrouping.cpp - from stages to groups --------------------------===//
//
// Puts the stages of a kernel into groups, each stage into the first that can
// take it. A stage on scalars is not placed but computed in every group that
// reads it.
//
//===----------------------------------------------------------------------===//
#include "codegen/stages/StageGrouping.h"
#include "codegen/stages/StagePlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mp;

namespace {

linalg::GenericOp stageOf(Value tensor) {
  return tensor.getDefiningOp<linalg::GenericOp>();
}

/// Elementwise on scalars.
bool isLight(linalg::GenericOp op) { return op && op.getNumLoops() == 0; }

/// Returns the tensors whose values a stage needs: its operands, and a
/// reduction's start.
SmallVector<Value> needsOf(linalg::GenericOp op) {
  SmallVector<Value> needs;
  for (OpOperand *read : readsOf(op))
    needs.push_back(read->get());
  if (op.getNumReductionLoops() > 0)
    llvm::append_range(needs, op.getDpsInits());
  return needs;
}

/// Copies the body; its terminator's operands are the results.
StageProgram copyBody(Block &body) {
  StageProgram program;
  Location location = body.getParentOp()->getLoc();
  OpBuilder b(body.getParentOp()->getContext());
  program.module = ModuleOp::create(b, location);
  b.setInsertionPointToEnd(program.module->getBody());
  auto type = b.getFunctionType(body.getArgumentTypes(), {});
  auto func = func::FuncOp::create(b, location, "stages", type);
  Block *copy = func.addEntryBlock();
  b.setInsertionPointToEnd(copy);
  IRMapping mapping;
  mapping.map(body.getArguments(), copy->getArguments());
  for (Operation &op : body.without_terminator())
    b.clone(op, mapping);
  llvm::append_range(program.operands, copy->getArguments());
  for (Value result : body.getTerminator()->getOperands())
    program.results.push_back(mapping.lookup(result));
  return program;
}

Block &bodyOf(StageProgram &program) {
  return (*program.module->getOps<func::FuncOp>().begin()).getBody().front();
}

LogicalResult verifyStage(linalg::GenericOp op) {
  for (Operation &inner : *op.getBody()) {
    bool isScalar =
        isa<arith::ArithDialect, math::MathDialect>(inner.getDialect());
    if (inner.getNumRegions() != 0 ||
        !(isScalar || isa<linalg::IndexOp, linalg::YieldOp>(inner)))
      return inner.emitError(
          "expected an arith or math op in the body of a stage");
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != op.getBody() &&
          !matchPattern(operand, m_Constant()))
        return inner.emitError(
            "expected only constants from outside the stage");
  }
  for (Type type : op->getOperandTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        !tensor || !tensor.hasStaticShape())
      return op.emitError("expected static ranked tensors, got ") << type;
  return success();
}

LogicalResult verify(Block &body) {
  for (Operation &op : body.without_terminator()) {
    if (auto stage = dyn_cast<linalg::GenericOp>(op)) {
      if (failed(verifyStage(stage)))
        return failure();
    } else if (isa<linalg::FillOp>(op)) {
      if (!constantOf(op.getResult(0)))
        return op.emitError("expected a constant fill value");
    } else if (isa<arith::ConstantOp>(op)) {
      if (isa<TensorType>(op.getResult(0).getType()) &&
          !constantOf(op.getResult(0)))
        return op.emitError(
            "expected a splat; other constants are operands of the kernel");
    } else if (!isa<tensor::EmptyOp>(op)) {
      return op.emitError("expected linalg.generic, linalg.fill, tensor.empty "
                          "or arith.constant");
    }
  }
  return success();
}

/// Splits a reduction with several independent results into one for each.
void splitReductions(Block &body) {
  for (auto op : llvm::make_early_inc_range(body.getOps<linalg::GenericOp>())) {
    if (op.getNumReductionLoops() == 0 || op.getNumResults() < 2)
      continue;
    SmallVector<linalg::GenericOp> parts;
    OpBuilder b(op);
    Block *old = op.getBody();
    unsigned inputs = op.getNumDpsInputs();
    for (unsigned i = 0; i < op.getNumResults(); ++i) {
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      AffineMap map = maps[inputs + i];
      maps.truncate(inputs);
      maps.push_back(map);
      auto part = linalg::GenericOp::create(
          b, op.getLoc(), op->getResultTypes()[i], op.getInputs(),
          op.getOutputs()[i], maps, op.getIteratorTypesArray(),
          [&](OpBuilder &nested, Location location, ValueRange args) {
            IRMapping mapping;
            for (unsigned input = 0; input < inputs; ++input)
              mapping.map(old->getArgument(input), args[input]);
            mapping.map(old->getArgument(inputs + i), args.back());
            // Other accumulators stay the old op's; they are found below.
            for (Operation &inner : old->without_terminator())
              nested.clone(inner, mapping);
            linalg::YieldOp::create(
                nested, location,
                mapping.lookupOrDefault(old->getTerminator()->getOperand(i)));
          });
      IRRewriter rewriter(b.getContext());
      (void)runRegionDCE(rewriter, part->getRegions());
      parts.push_back(part);
    }
    bool independent = llvm::all_of(parts, [&](linalg::GenericOp part) {
      return matchReduction(part) &&
             part.getBody()
                     ->walk([&](Operation *inner) {
                       for (Value operand : inner->getOperands())
                         if (operand.getParentBlock() == old)
                           return WalkResult::interrupt();
                       return WalkResult::advance();
                     })
                     .wasInterrupted() == false;
    });
    for (auto [part, result] : llvm::zip_equal(parts, op.getResults()))
      if (independent)
        result.replaceAllUsesWith(part.getResult(0));
      else
        part.erase();
    if (independent)
      op.erase();
  }
}

/// Gives every result a stage that makes it and nothing else: constants,
/// operands and results returned twice are copied.
void copyResults(StageProgram &program) {
  llvm::DenseSet<Value> taken;
  for (Value &result : program.results) {
    if (stageOf(result) && taken.insert(result).second)
      continue;
    OpBuilder b(result.getContext());
    b.setInsertionPointToEnd(result.getParentBlock());
    auto type = cast<RankedTensorType>(result.getType());
    Value empty = tensor::EmptyOp::create(b, result.getLoc(), type.getShape(),
                                          type.getElementType());
    SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> loops(type.getRank(),
                                           utils::IteratorType::parallel);
    auto copy = linalg::GenericOp::create(
        b, result.getLoc(), type, result, empty, maps, loops,
        [](OpBuilder &nested, Location location, ValueRange args) {
          linalg::YieldOp::create(nested, location, args[0]);
        });
    result = copy.getResult(0);
  }
}

class Grouping {
public:
  Grouping(StageProgram &program, const StageTarget &target)
      : program(program), target(target) {}

  void run() {
    for (linalg::GenericOp op : liveStages())
      if (!isLight(op))
        place(op);
    for (Value result : program.results)
      if (isLight(stageOf(result)))
        placeLightResult(stageOf(result));
    for (size_t i = 0; i < groups.size();)
      i = provideInputs(i);
    size_t first = groups.size();
    for (Value result : program.results)
      if (!isStored(result, groups.size()))
        groups.push_back(alone(stageOf(result)));
    // What only a result's own group reads has not been stored for any other.
    for (size_t i = first; i < groups.size();)
      i = provideInputs(i);
    chooseOutputs();
    program.groups = std::move(groups);
  }

private:
  /// Returns the stages that some result depends on, in order.
  SmallVector<linalg::GenericOp> liveStages() {
    llvm::SetVector<Operation *> live;
    SmallVector<Value> work(program.results);
    while (!work.empty())
      if (auto op = stageOf(work.pop_back_val()); op && live.insert(op))
        llvm::append_range(work, needsOf(op));
    SmallVector<linalg::GenericOp> stages;
    for (auto op : bodyOf(program).getOps<linalg::GenericOp>())
      if (live.contains(op))
        stages.push_back(op);
    return stages;
  }

  /// Returns the first group in which a tensor's value is available.
  size_t available(Value tensor) {
    linalg::GenericOp op = stageOf(tensor);
    if (!op)
      return 0;
    if (!isLight(op))
      return availableAt.lookup(op);
    size_t bound = 0;
    for (Value need : needsOf(op))
      bound = std::max(bound, available(need));
    return bound;
  }

  /// Collects `op`, and before it the light stages that it needs.
  void pull(linalg::GenericOp op, SmallVectorImpl<linalg::GenericOp> &ops) {
    if (llvm::is_contained(ops, op))
      return;
    for (Value need : needsOf(op))
      if (linalg::GenericOp from = stageOf(need); isLight(from))
        pull(from, ops);
    ops.push_back(op);
  }

  std::optional<StageGroup> join(const StageGroup &group,
                                 linalg::GenericOp op) {
    if (group.schedule == LoopSchedule::General)
      return std::nullopt;
    SmallVector<linalg::GenericOp> ops;
    for (const Stage &stage : group.stages)
      ops.push_back(stage.op);
    pull(op, ops);
    return planGroup(ops, &group, target);
  }

  /// Returns a group of `op` and its light producers, or of any maps.
  StageGroup alone(linalg::GenericOp op) {
    SmallVector<linalg::GenericOp> ops;
    pull(op, ops);
    if (std::optional<StageGroup> group = planGroup(ops, nullptr, target))
      return *group;
    StageGroup general;
    general.stages.push_back(Stage{op});
    return general;
  }

  size_t insert(linalg::GenericOp op, size_t bound) {
    for (size_t i = bound; i < groups.size(); ++i)
      if (std::optional<StageGroup> group = join(groups[i], op)) {
        groups[i] = std::move(*group);
        return i;
      }
    groups.push_back(alone(op));
    return groups.size() - 1;
  }

  void place(linalg::GenericOp op) {
    size_t bound = 0;
    for (Value need : needsOf(op))
      bound = std::max(bound, available(need));
    size_t at = insert(op, bound);
    const StageGroup &group = groups[at];
    bool waits = group.schedule == LoopSchedule::General ||
                 group.producer(op->getResult(0))->terminal;
    availableAt[op] = at + (waits ? 1 : 0);
    if (group.schedule != LoopSchedule::General && waits && group.chunks() > 1)
      place(combine(op, group));
  }

  /// Turns `op` into partial results; returns the stage that combines them.
  linalg::GenericOp combine(linalg::GenericOp op, const StageGroup &group) {
    OpBuilder b(op.getContext());
    b.setInsertionPointAfter(op);
    Value result = op->getResult(0);
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape = {group.chunks()};
    llvm::append_range(shape, type.getShape());
    unsigned rank = shape.size();
    MLIRContext *context = op.getContext();
    auto identity = AffineMap::getMultiDimIdentityMap(rank, context);
    SmallVector<AffineMap> maps = {identity, identity.dropResult(0)};
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    loops[0] = utils::IteratorType::reduction;
    Operation *combiner = matchReduction(op)->combiner;
    auto whole = linalg::GenericOp::create(
        b, op.getLoc(), type, result, op.getDpsInits()[0], maps, loops,
        [&](OpBuilder &nested, Location location, ValueRange args) {
          IRMapping mapping;
          mapping.map(combiner->getOperands(), ValueRange{args[1], args[0]});
          Operation *combined = nested.clone(*combiner, mapping);
          linalg::YieldOp::create(nested, location, combined->getResults());
        });
    result.replaceAllUsesExcept(whole->getResult(0), whole);
    for (Value &final : program.results)
      if (final == result)
        final = whole->getResult(0);
    result.setType(type.clone(shape));
    return whole;
  }

  /// Lets one task store a light result, late enough to take the place of an
  /// operand that other groups read.
  void placeLightResult(linalg::GenericOp op) {
    size_t bound = available(op->getResult(0));
    if (!groups.empty() && bound < groups.size() &&
        groups.back().schedule == LoopSchedule::Whole)
      if (std::optional<StageGroup> group = join(groups.back(), op)) {
        groups.back() = std::move(*group);
        return;
      }
    groups.push_back(alone(op));
  }

  /// Whether a group before `end` can store `tensor`.
  bool isStored(Value tensor, size_t end) {
    for (const StageGroup &group : ArrayRef(groups).take_front(end))
      if (const Stage *stage = group.producer(tensor);
          stage && canStore(group, *stage, tensor))
        return true;
    return false;
  }

  static bool canStore(const StageGroup &group, const Stage &stage,
                       Value tensor) {
    if (group.schedule == LoopSchedule::General || stage.terminal)
      return true;
    Role role = group.role(tensor);
    return role == Role::Outer || role == Role::Full;
  }

  /// Puts a group before group `i` for a tensor that it reads and no earlier
  /// group stores. Returns the next index to look at.
  size_t provideInputs(size_t i) {
    for (const Stage &stage : groups[i].stages)
      for (Value need : needsOf(stage.op))
        if (stageOf(need) && !groups[i].producer(need) && !isStored(need, i)) {
          groups.insert(groups.begin() + i, alone(stageOf(need)));
          return i;
        }
    return i + 1;
  }

  void chooseOutputs() {
    llvm::DenseSet<Value> wanted(program.results.begin(),
                                 program.results.end());
    for (StageGroup &group : groups)
      for (const Stage &stage : group.stages)
        for (Value need : needsOf(stage.op))
          if (!group.producer(need))
            wanted.insert(need);
    for (StageGroup &group : groups) {
      for (const Stage &stage : group.stages)
        for (Value result : stage.op->getResults())
          if (wanted.contains(result) && canStore(group, stage, result)) {
            group.outputs.push_back(result);
            wanted.erase(result);
          }
      if (group.schedule != LoopSchedule::General)
        planPasses(group);
    }
  }

  StageProgram &program;
  const StageTarget &target;
  SmallVector<StageGroup> groups;
  DenseMap<Operation *, size_t> availableAt;
};

} // namespace

FailureOr<StageProgram> mp::analyzeStages(Block &body,
                                          const StageTarget &target) {
  if (failed(verify(body)))
    return failure();
  StageProgram program = copyBody(body);
  Block &copy = bodyOf(program);
  // Results that are split up are followed through their uses.
  OpBuilder b = OpBuilder::atBlockEnd(&copy);
  auto anchor =
      func::ReturnOp::create(b, program.module->getLoc(), program.results);
  splitReductions(copy);
  program.results.assign(anchor->operand_begin(), anchor->operand_end());
  anchor->erase();
  copyResults(program);
  Grouping(program, target).run();
  return program;
}
