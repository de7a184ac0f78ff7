//===- UnrollScans.cpp - loops become their time steps --------------------===//
#include "dialect/Slices.h"
#include "dialect/ops/Kernel.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Scan.h"
#include "dialect/ops/View.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopBodies.h"
#include "passes/analysis/TimeSteps.h"

namespace mp {
#define GEN_PASS_DEF_UNROLLSCANS
#include "passes/loops/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// Replaces one scan, in which there is no other.
class Unroller {
public:
  explicit Unroller(ScanOp scan) : scan(scan), builder(scan.getLoc(), scan) {}

  /// With `perRound`, a scan is left whose rounds are as many time steps.
  void run(std::optional<int64_t> perRound) {
    int64_t count = *scan.getSteps();
    isWhole = !perRound;
    TimeSteps all = perRound
                        ? runInRounds(count, *perRound)
                        : addSteps(scan.getCarried(), scan.getSliced(), count);
    SmallVector<Value> results(all.carried);
    for (auto [values, result] : llvm::zip_equal(
             all.stacks,
             scan.getResults().drop_front(scan.getCarried().size())))
      results.push_back(join(values, tensorType(result)));
    scan->replaceAllUsesWith(results);
    scan->erase();
  }

private:
  /// What some time steps carry on and what they stack: values that follow one
  /// another along the dimension.
  struct TimeSteps {
    SmallVector<Value> carried;
    SmallVector<SmallVector<Value>> stacks; ///< of each result
  };

  /// Adds `count` time steps over values that have as many.
  TimeSteps addSteps(ValueRange carried, ValueRange sources, int64_t count) {
    TimeSteps steps{SmallVector<Value>(carried), {}};
    steps.stacks.resize(scan.getNumResults() - carried.size());
    for (auto &stack : steps.stacks)
      stack.resize(count);
    for (int64_t i = 0; i < count; ++i)
      addStep(steps, sources, scan.getReverse() ? count - 1 - i : i);
    return steps;
  }

  void addStep(TimeSteps &steps, ValueRange sources, int64_t step) {
    Block &body = scan.getBody().front();
    size_t carried = steps.carried.size();
    builder.setLoc(inStep(scan.getLoc(), step));
    IRMapping mapping;
    for (auto [argument, value] : llvm::zip(body.getArguments(), steps.carried))
      mapping.map(argument, value);
    for (auto [argument, value] :
         llvm::zip(body.getArguments().drop_front(carried), sources))
      mapping.map(argument, slice(value, step, tensorType(argument)));
    addCopies(body, mapping, step);
    for (auto [index, value] : llvm::enumerate(scan.getYielded())) {
      Value yielded = mapping.lookupOrDefault(value);
      if (index < carried)
        steps.carried[index] = yielded;
      else
        steps.stacks[index - carried][step] = addDim(yielded, index);
    }
    builder.setLoc(scan.getLoc());
  }

  void addCopies(Block &body, IRMapping &mapping, int64_t step) {
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping)->walk([&](Operation *inner) {
        inner->setLoc(inStep(inner->getLoc(), step));
      });
  }

  /// What stands in a round is of a time step of each round: it has no number.
  Location inStep(Location op, int64_t step) {
    return isWhole ? inTimeStep(op, scan.getLoc(), step) : op;
  }

  /// Adds a scan of rounds of `perRound` time steps, and the time steps that
  /// are left after it.
  TimeSteps runInRounds(int64_t count, int64_t perRound) {
    int64_t rounds = count / perRound, rest = count % perRound;
    auto parts = [&](int64_t offset, int64_t size) {
      return llvm::map_to_vector(scan.getSliced(), [&](Value value) {
        return sliceOf(value, offset, size);
      });
    };
    // The first rounds are the last time steps of a reversed scan.
    auto inRounds = parts(scan.getReverse() ? rest : 0, rounds * perRound);
    TimeSteps all = addRounds(inRounds, rounds, perRound);
    if (rest == 0)
      return all;
    TimeSteps left =
        addSteps(all.carried,
                 parts(scan.getReverse() ? 0 : rounds * perRound, rest), rest);
    for (auto [stack, more] : llvm::zip_equal(all.stacks, left.stacks))
      stack.insert(scan.getReverse() ? stack.begin() : stack.end(),
                   more.begin(), more.end());
    all.carried = left.carried;
    return all;
  }

  TimeSteps addRounds(ArrayRef<Value> sources, int64_t rounds,
                      int64_t perRound) {
    SmallVector<Value> split;
    for (Value value : sources)
      split.push_back(withDims(value, {rounds, perRound}));
    size_t carried = scan.getCarried().size();
    SmallVector<Type> types(scan.getResultTypes());
    for (Type &type : MutableArrayRef(types).drop_front(carried))
      type =
          dimsInstead(mlir::cast<RankedTensorType>(type), {rounds, perRound});
    auto length = builder.getI64IntegerAttr(rounds);
    auto loop = ScanOp::create(builder, types, scan.getCarried(), split,
                               scan.getDimAttr(), length, scan.getReverseAttr(),
                               IntegerAttr());
    fillRound(loop, perRound);
    TimeSteps all{SmallVector<Value>(loop.getResults().take_front(carried)),
                  {}};
    for (Value result : loop.getResults().drop_front(carried)) {
      Value joined = ReshapeOp::create(
          builder,
          dimsInstead(tensorType(result), {rounds * perRound}, /*instead=*/2),
          result);
      all.stacks.push_back({joined});
    }
    return all;
  }

  void fillRound(ScanOp loop, int64_t perRound) {
    OpBuilder::InsertionGuard guard(builder);
    Block &block = loop.getBody().emplaceBlock();
    for (Value value : loop.getCarried())
      block.addArgument(value.getType(), value.getLoc());
    for (Value value : loop.getSliced())
      block.addArgument(loop.sliceOf(tensorType(value)), value.getLoc());
    builder.setInsertionPointToStart(&block);
    size_t carried = loop.getCarried().size();
    TimeSteps steps =
        addSteps(block.getArguments().take_front(carried),
                 block.getArguments().drop_front(carried), perRound);
    SmallVector<Value> yielded(steps.carried);
    for (auto [stack, result] :
         llvm::zip_equal(steps.stacks, loop.getResults().drop_front(carried)))
      yielded.push_back(join(stack, loop.sliceOf(tensorType(result))));
    YieldOp::create(builder, yielded);
  }

  //===--------------------------------------------------------------------===//
  // Slices and stacks
  //===--------------------------------------------------------------------===//

  /// The type with other dimensions instead of the scan's, or of it and those
  /// after it.
  RankedTensorType dimsInstead(RankedTensorType type, ArrayRef<int64_t> dims,
                               unsigned instead = 1) {
    SmallVector<int64_t> shape(type.getShape());
    auto first = shape.begin() + scan.getDim();
    shape.erase(first, first + instead);
    shape.insert(shape.begin() + scan.getDim(), dims.begin(), dims.end());
    return type.clone(shape);
  }

  Value withDims(Value value, ArrayRef<int64_t> dims) {
    return ReshapeOp::create(builder, dimsInstead(tensorType(value), dims),
                             value);
  }

  /// Returns `size` time steps of a value, which may be all.
  Value sliceOf(Value value, int64_t offset, int64_t size) {
    return tensorType(value).getDimSize(scan.getDim()) == size
               ? value
               : sliceAlong(builder, value, scan.getDim(), offset, size);
  }

  /// Returns what a value has at a time step.
  Value slice(Value value, int64_t step, RankedTensorType type) {
    return ReshapeOp::create(builder, type, sliceOf(value, step, 1));
  }

  /// Returns what a time step stacks in a result, as a tensor of one time step.
  Value addDim(Value value, unsigned result) {
    SmallVector<int64_t> shape(tensorType(scan.getResult(result)).getShape());
    shape[scan.getDim()] = 1;
    return ReshapeOp::create(builder, tensorType(value).clone(shape), value);
  }

  /// Joins what follows one another.
  Value join(ArrayRef<Value> values, RankedTensorType type) {
    if (values.empty())
      return splat(builder, type, 0);
    return values.size() == 1
               ? values.front()
               : ConcatOp::create(builder, values, scan.getDim()).getResult();
  }

  ScanOp scan;
  ImplicitLocOpBuilder builder;
  bool isWhole = true; ///< no rounds are left
};

struct UnrollScans : mp::impl::UnrollScansBase<UnrollScans> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>()) {
      // Inner scans come first.
      SmallVector<ScanOp> scans;
      function.walk([&](ScanOp scan) {
        if (all || scan.getUnroll() || !whyNoLoop(scan).empty())
          scans.push_back(scan);
      });
      for (ScanOp scan : scans) {
        std::optional<int64_t> perRound = timeStepsPerRound(scan);
        if (failed(checkSize(function, scan,
                             perRound ? *perRound : *scan.getSteps())))
          return signalPassFailure();
        Unroller(scan).run(perRound);
      }
    }
  }

private:
  /// Returns how many time steps a round has if there are to be some rounds.
  std::optional<int64_t> timeStepsPerRound(ScanOp scan) {
    auto wanted = scan.getUnroll();
    if (all || !wanted || int64_t(*wanted) > *scan.getSteps() / 2 ||
        !whyNoLoop(scan).empty())
      return std::nullopt;
    return *wanted;
  }

  /// Fails if the function would have too many ops.
  LogicalResult checkSize(func::FuncOp function, ScanOp scan, uint64_t steps) {
    uint64_t ops = 0, body = 0;
    function.walk([&](Operation *) { ++ops; });
    scan.getBody().walk([&](Operation *) { ++body; });
    // Each slice and each stacked value takes two more ops.
    body += 2 * (scan.getSliced().size() + scan.getNumResults());
    if (steps == 0 || body <= (kMostOps - std::min(ops, kMostOps)) / steps)
      return success();
    StringRef why = whyNoLoop(scan);
    return scan.emitOpError()
           << "would give @" << function.getName() << " more than " << kMostOps
           << " ops: it has " << steps << " time steps of some " << body
           << " ops, and is unrolled"
           << (why.empty() ? Twine() : ": " + why).str();
  }
};
} // namespace
