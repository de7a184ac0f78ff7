//===- RecomputeSegments.cpp - backward of loops in segments --------------===//
#include "passes/autodiff/RecomputeSegments.h"
#include "dialect/Rows.h"
#include "dialect/Slices.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Linear.h"
#include "dialect/ops/Loop.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Recompute.h"
#include "dialect/ops/View.h"
#include "mlir/IR/IRMapping.h"
#include "passes/analysis/LoopBodies.h"
#include "passes/autodiff/RecomputePlan.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mp;

/// More segments save little, and each makes the Program longer.
static constexpr int64_t kMostSegments = 8;

static int64_t bitsOf(Value value) {
  auto type = tensorType(value);
  return type.getNumElements() * type.getElementTypeBitWidth();
}

/// Returns the dimension of an operand whose rows a dimension of the result is
/// computed from.
static std::optional<int64_t> rowsOf(Operation *op, unsigned operand,
                                     int64_t dim) {
  for (int64_t own : llvm::seq(tensorType(op->getOperand(operand)).getRank()))
    if (auto rows = followRows(op, operand, own); rows && rows->front() == dim)
      return own;
  return std::nullopt;
}

/// Whether a part of the rows of a dimension is better computed again, from
/// fewer bytes, than taken of the whole.
static bool isBetterAgain(Operation *op, int64_t dim) {
  if (!isa_and_nonnull<CastOp, LinearOp, MatmulOp, TransposeOp>(op) ||
      !rowsOf(op, 0, dim))
    return false;
  return isa<TransposeOp>(op) ||
         bitsOf(op->getOperand(0)) < bitsOf(op->getResult(0));
}

namespace {
/// A range of rounds, and so of the first dimension of stacks.
struct Segment {
  int64_t begin, size;
};

/// A loop of forward, and one of backward that runs over its stacks.
class SegmentRecomputer {
public:
  SegmentRecomputer(LoopOp forward, LoopOp backward, Operation *seed)
      : forward(forward), backward(backward), seed(seed),
        carried(forward.getCarried().size()) {
    auto rounds = static_cast<int64_t>(forward.getRounds());
    int64_t count = std::min(kMostSegments, rounds / 2);
    for (int64_t i = 0; i < count; ++i) {
      int64_t begin = rounds * i / count;
      segments.push_back({begin, rounds * (i + 1) / count - begin});
    }
    for (unsigned i = 0; i < forward.getNumResults(); ++i)
      (i >= carried && isForBackward(forward.getResult(i)) ? dropped : kept)
          .push_back(i);
  }

  /// Whether the stacks that are dropped are larger than a segment of them, and
  /// what segments carry.
  bool isWorthwhile() {
    if (segments.size() < 2)
      return false;
    auto count = static_cast<int64_t>(segments.size());
    int64_t saved = 0;
    for (unsigned result : dropped)
      saved += bitsOf(forward.getResult(result)) / count * (count - 1);
    for (Value value : forward.getCarried())
      saved -= bitsOf(value) * (count - 1);
    return saved > 0;
  }

  void run() {
    divideForward();
    divideBackward();
    forward.erase();
  }

private:
  /// Whether only the loop of backward and what follows it use a stack.
  bool isForBackward(Value stack) {
    return llvm::all_of(stack.getUsers(), [&](Operation *user) {
      return user == backward || (user->getBlock() == backward->getBlock() &&
                                  backward->isBeforeInBlock(user));
    });
  }

  /// The segments in the order in which a loop runs through them.
  SmallVector<unsigned> orderOf(LoopOp loop) {
    auto order = llvm::to_vector(llvm::seq<unsigned>(0, segments.size()));
    if (loop.getReverse())
      std::reverse(order.begin(), order.end());
    return order;
  }

  /// Adds a body that returns these results of the loop of forward.
  StringRef addBody(ArrayRef<unsigned> results) {
    func::FuncOp body = copyLoopBody(forward.lookUpBody());
    Operation *end = body.getBody().front().getTerminator();
    end->setOperands(llvm::map_to_vector(
        results, [&](unsigned result) { return end->getOperand(result); }));
    body.setType(FunctionType::get(body.getContext(), body.getArgumentTypes(),
                                   end->getOperandTypes()));
    return body.getName();
  }

  static Value slice(ImplicitLocOpBuilder &builder, Value value,
                     const Segment &segment, int64_t dim = 0) {
    return sliceAlong(builder, value, dim, segment.begin, segment.size);
  }

  /// Adds the rounds of a segment, with results that are like those of a loop.
  static LoopOp addLoop(ImplicitLocOpBuilder &builder, LoopOp like,
                        ArrayRef<unsigned> results, StringRef body,
                        ValueRange invariant, ValueRange state,
                        ValueRange sliced, const Segment &segment) {
    SmallVector<Type> types;
    for (unsigned result : results) {
      auto type = tensorType(like.getResult(result));
      bool isStack = result >= state.size();
      types.push_back(
          isStack ? LoopOp::stackOf(type.clone(type.getShape().drop_front()),
                                    segment.size)
                  : type);
    }
    return LoopOp::create(builder, types, body, invariant, state, sliced,
                          segment.size, like.getReverse());
  }

  /// Replaces the stacks among some results of a loop by those of its segments.
  static void joinStacks(ImplicitLocOpBuilder &builder, LoopOp whole,
                         ArrayRef<unsigned> results, ArrayRef<LoopOp> parts) {
    for (auto [index, result] : llvm::enumerate(results)) {
      if (result < whole.getCarried().size() ||
          whole.getResult(result).use_empty())
        continue;
      auto stacks = llvm::map_to_vector(
          parts, [&](LoopOp part) { return part.getResult(index); });
      whole.getResult(result).replaceAllUsesWith(
          ConcatOp::create(builder, ValueRange(stacks), /*dim=*/0));
    }
  }

  void divideForward() {
    ImplicitLocOpBuilder builder(forward.getLoc(), forward);
    StringRef body = addBody(kept);
    SmallVector<LoopOp> parts(segments.size());
    starts.resize(segments.size());
    SmallVector<Value> state(forward.getCarried());
    for (unsigned i : orderOf(forward)) {
      starts[i] = state;
      auto sliced = llvm::map_to_vector(forward.getSliced(), [&](Value value) {
        return slice(builder, value, segments[i]);
      });
      parts[i] = addLoop(builder, forward, kept, body, forward.getInvariant(),
                         state, sliced, segments[i]);
      state.assign(parts[i].result_begin(), parts[i].result_begin() + carried);
    }
    forward.getResults().take_front(carried).replaceAllUsesWith(state);
    joinStacks(builder, forward, kept, parts);
  }

  void divideBackward() {
    ImplicitLocOpBuilder builder(backward.getLoc(), backward);
    again = llvm::to_vector(llvm::concat<unsigned>(
        llvm::to_vector(llvm::seq(0u, carried)), dropped));
    againBody = addBody(again);
    SmallVector<LoopOp> forwards(segments.size()), backwards(segments.size());
    auto all = llvm::to_vector(llvm::seq(0u, backward.getNumResults()));
    SmallVector<Value> state(backward.getCarried());
    since = gradientOf(backward);
    for (unsigned i : orderOf(backward)) {
      forwards[i] = runAgain(i);
      auto sliced = llvm::map_to_vector(backward.getSliced(), [&](Value value) {
        auto known = llvm::find(again, resultOf(value));
        return known != again.end()
                   ? Value(forwards[i].getResult(known - again.begin()))
                   : slice(builder, value, segments[i]);
      });
      backwards[i] =
          addLoop(builder, backward, all, backward.getBody(),
                  backward.getInvariant(), state, sliced, segments[i]);
      state.assign(backwards[i].result_begin(),
                   backwards[i].result_begin() + state.size());
      since = backwards[i].getResult(0);
    }
    backward.getResults().take_front(state.size()).replaceAllUsesWith(state);
    joinStacks(builder, backward, all, backwards);
    builder.setInsertionPoint(backward->getNextNode());
    backward.erase();
    joinStacks(builder, forward, again, forwards);
  }

  /// Returns the number of a result of the loop of forward, or one that it does
  /// not have.
  unsigned resultOf(Value value) {
    auto result = dyn_cast<OpResult>(value);
    return result && result.getOwner() == forward ? result.getResultNumber()
                                                  : forward.getNumResults();
  }

  /// Returns a value that is ready when backward reaches its loop.
  Value gradientOf(LoopOp loop) {
    for (Value operand : loop.getOperands())
      if (isFromSeed(operand))
        return operand;
    return seed->getResult(0);
  }

  bool isFromSeed(Value value) {
    SetVector<Operation *> ops;
    auto add = [&](Value operand) {
      Operation *op = operand.getDefiningOp();
      if (op && !op->isBeforeInBlock(seed))
        ops.insert(op);
    };
    add(value);
    for (size_t i = 0; i < ops.size() && !ops.contains(seed); ++i)
      llvm::for_each(ops[i]->getOperands(), add);
    return ops.contains(seed);
  }

  /// Runs a segment of forward again, for what is dropped.
  LoopOp runAgain(unsigned index) {
    ImplicitLocOpBuilder builder(recomputedLocation(forward), backward);
    waiting.clear();
    auto later = [&](Value value) { return wait(builder, value); };
    auto invariant = llvm::map_to_vector(forward.getInvariant(), later);
    auto state = llvm::map_to_vector(starts[index], later);
    auto sliced = llvm::map_to_vector(forward.getSliced(), [&](Value value) {
      return sliceAgain(value, segments[index], /*dim=*/0);
    });
    return addLoop(builder, forward, again, againBody, invariant, state, sliced,
                   segments[index]);
  }

  /// Returns a value of forward for ops that compute others again.
  Value wait(ImplicitLocOpBuilder &builder, Value value) {
    if (value.getDefiningOp<ConstantOp>())
      return value;
    Value &known = waiting[value];
    if (!known)
      known = RecomputeBarrierOp::create(builder, value, since);
    return known;
  }

  /// Returns a segment of a value of forward, computed again from one that
  /// takes fewer bytes where there is such a value.
  Value sliceAgain(Value value, const Segment &segment, int64_t dim) {
    Operation *op = value.getDefiningOp();
    ImplicitLocOpBuilder builder(recomputedLocation(op ? op : forward),
                                 backward);
    if (!isBetterAgain(op, dim))
      return slice(builder, wait(builder, value), segment, dim);
    IRMapping mapping;
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      std::optional<int64_t> rows = rowsOf(op, index, dim);
      mapping.map(operand, rows ? sliceAgain(operand, segment, *rows)
                                : wait(builder, operand));
    }
    Operation *clone = builder.clone(*op, mapping);
    clone->setLoc(builder.getLoc());
    auto type = tensorType(value);
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = segment.size;
    clone->getResult(0).setType(type.clone(shape));
    return clone->getResult(0);
  }

  LoopOp forward, backward;
  Operation *seed; ///< where backward begins
  const unsigned carried;
  SmallVector<Segment> segments;
  /// Results of forward that backward computes again, and others.
  SmallVector<unsigned> dropped, kept;
  SmallVector<SmallVector<Value>> starts; ///< what each segment is given
  SmallVector<unsigned> again;            ///< results of `againBody`
  StringRef againBody;
  Value since; ///< what is ready when backward reaches a segment
  llvm::DenseMap<Value, Value> waiting; ///< for it, by values of forward
};
} // namespace

/// Returns the loops of forward whose stacks a loop of backward runs over.
static SmallVector<LoopOp> loopsBefore(LoopOp backward, Operation *seed) {
  llvm::SetVector<Operation *> loops;
  for (Value value : backward.getSliced())
    if (auto forward = value.getDefiningOp<LoopOp>();
        forward && forward->isBeforeInBlock(seed) &&
        forward.getRounds() == backward.getRounds())
      loops.insert(forward);
  return llvm::map_to_vector(loops,
                             [](Operation *op) { return cast<LoopOp>(op); });
}

bool mp::recomputeSegments(func::FuncOp function) {
  bool hasChanged = false;
  auto seeds = function.getOps<SeedOp>();
  if (seeds.empty())
    return false;
  Operation *seed = *seeds.begin();
  for (auto backward : llvm::to_vector(function.getOps<LoopOp>())) {
    if (backward->isBeforeInBlock(seed))
      continue;
    for (LoopOp forward : loopsBefore(backward, seed)) {
      SegmentRecomputer recomputer(forward, backward, seed);
      if (!recomputer.isWorthwhile())
        continue;
      recomputer.run();
      hasChanged = true;
      break; // of one loop of forward; the loop of backward is others now
    }
  }
  return hasChanged;
}
