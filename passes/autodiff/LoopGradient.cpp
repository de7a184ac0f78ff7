//===- LoopGradient.cpp - the backward of a loop --------------------------===//
//
// A round is differentiated as a function is, with a seed for each value that
// it returns. What its backward reads of its forward becomes a stack of all
// rounds. Sums over rounds are computed outside where they can be: the gradient
// of a weight is one product of all rounds' rows, as its value is one of the
// rows of a batch.
//
//===----------------------------------------------------------------------===//
#include "passes/autodiff/LoopGradient.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/Linear.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/View.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/analysis/LoopBodies.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mp;

static unsigned bitsOf(Value value) {
  return elementType(value).getIntOrFloatBitWidth();
}

/// Whether a value of forward is better computed again than kept.
static bool isFree(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  return isa<ReshapeOp>(op) ||
         (cast && bitsOf(cast.getInput()) < bitsOf(cast.getResult())) ||
         (op->getNumOperands() == 0 && isMemoryEffectFree(op));
}

namespace {
class LoopDifferentiator {
public:
  LoopDifferentiator(LoopOp loop, ArrayRef<Value> arrived,
                     ArrayRef<bool> wanted, const GradientOrigins &origins,
                     ImplicitLocOpBuilder &builder)
      : loop(loop), arrived(arrived), wanted(wanted), origins(origins),
        builder(builder), round(copyLoopBody(loop.lookUpBody())),
        block(round.getBody().front()), invariants(loop.getInvariant().size()),
        carried(loop.getCarried().size()),
        ownArguments(block.getNumArguments()) {
    for (Operation &op : block)
      forward.insert(&op);
    gradients.resize(ownArguments);
  }
  ~LoopDifferentiator() { round.erase(); }
  LoopDifferentiator(const LoopDifferentiator &) = delete;
  LoopDifferentiator &operator=(const LoopDifferentiator &) = delete;

  FailureOr<SmallVector<Value>> run() {
    findActive();
    if (failed(differentiateRound()))
      return failure();
    findForwardLoops();
    for (Value value : llvm::concat<Value>(nextSeeds, nextSums))
      need(value);
    for (auto &[value, arguments] : stacked)
      if (!hasStack(value))
        need(value);
    keepStacks();
    addBackward();
    return std::move(gradients);
  }

private:
  //===--------------------------------------------------------------------===//
  // A round
  //===--------------------------------------------------------------------===//

  Value yielded(unsigned result) {
    return block.getTerminator()->getOperand(result);
  }
  BlockArgument carriedArgument(unsigned index) {
    return block.getArgument(invariants + index);
  }

  /// Finds which arguments have a gradient. A carried value has one if it is
  /// computed, in whatever round, from what has one.
  void findActive() {
    isActive.assign(wanted.begin(), wanted.end());
    for (bool hasGrown = true; std::exchange(hasGrown, false);) {
      active.clear();
      for (unsigned i = 0; i < ownArguments; ++i)
        if (isActive[i])
          active.insert(block.getArgument(i));
      for (Operation &op : block.without_terminator())
        if (llvm::any_of(op.getOperands(),
                         [&](Value value) { return active.contains(value); }))
          active.insert(op.result_begin(), op.result_end());
      for (unsigned i = 0; i < carried; ++i)
        if (bool &own = isActive[invariants + i];
            !own && isFloatTensor(yielded(i)) && active.contains(yielded(i)))
          own = hasGrown = true;
    }
  }

  LogicalResult differentiateRound() {
    SmallVector<std::pair<Value, Value>> seeds;
    for (auto [index, gradient] : llvm::enumerate(arrived)) {
      bool isCarried = index < carried;
      Value value = yielded(index);
      if (isCarried ? !isActive[invariants + index]
                    : !gradient || !active.contains(value))
        continue;
      Value seed = block.addArgument(value.getType(), value.getLoc());
      seeds.push_back({value, seed});
      (isCarried ? carriedSeeds : stackSeeds).push_back({index, seed});
    }
    SmallVector<Value> sources;
    for (unsigned i = 0; i < ownArguments; ++i)
      if (isActive[i])
        sources.push_back(block.getArgument(i));
    Differentiator differentiator(round, sources, origins);
    if (failed(differentiator.run(seeds, block.getTerminator())))
      return failure();
    ImplicitLocOpBuilder inside(builder.getLoc(), block.getTerminator());
    auto gradientOf = [&](unsigned argument) {
      return differentiator.gradientOf(block.getArgument(argument));
    };
    for (auto [index, seed] : carriedSeeds) {
      Value gradient = gradientOf(invariants + index);
      nextSeeds.push_back(gradient ? gradient
                                   : splat(inside, tensorType(seed), 0));
    }
    for (unsigned i = 0; i < ownArguments; ++i)
      if (Value gradient = gradientOf(i); gradient && wanted[i]) {
        if (i < invariants)
          addUp(i, gradient, inside);
        else if (i >= invariants + carried)
          stacked[gradient].push_back(i);
      }
    return success();
  }

  /// An inner loop of forward has been replaced by one that stacks what its
  /// backward reads. Those of backward read a seed, or what depends on one.
  void findForwardLoops() {
    auto isOfForward = [&](Value value) {
      if (auto argument = dyn_cast<BlockArgument>(value))
        return argument.getArgNumber() < ownArguments;
      return forward.contains(value.getDefiningOp());
    };
    for (LoopOp inner : block.getOps<LoopOp>())
      if (inner.use_empty())
        forward.erase(inner);
      else if (llvm::all_of(inner.getOperands(), isOfForward))
        forward.insert(inner);
  }

  //===--------------------------------------------------------------------===//
  // Sums over rounds
  //===--------------------------------------------------------------------===//

  /// Adds up the gradient of an invariant: outside of the loop, or else in a
  /// value that it carries.
  void addUp(unsigned argument, Value gradient, ImplicitLocOpBuilder &inside) {
    SmallVector<Value> rows;
    if (findRows(gradient, rows)) {
      outside.push_back({argument, gradient});
      for (Value value : rows)
        stacked[value];
      return;
    }
    Value sum = block.addArgument(gradient.getType(), gradient.getLoc());
    sums.push_back({argument, sum});
    nextSums.push_back(AddOp::create(inside, sum, gradient));
  }

  /// Whether a value is a sum over rows, of products or of values, so that the
  /// sum of all rounds is that over the rows of all rounds; finds these.
  bool findRows(Value value, SmallVectorImpl<Value> &rows) {
    Operation *op = value.getDefiningOp();
    if (!op || forward.contains(op))
      return false;
    if (auto product = dyn_cast<MatmulOp>(op)) {
      bool overRows = product.getTransposeA() && !product.getTransposeB() &&
                      tensorType(product.getLhs()).getRank() == 2 &&
                      tensorType(product.getRhs()).getRank() == 2;
      return overRows && addRow(product.getLhs(), rows) &&
             addRow(product.getRhs(), rows);
    }
    if (auto sum = dyn_cast<SumOp>(op))
      return addRow(sum.getInput(), rows);
    if (auto add = dyn_cast<AddOp>(op);
        add && add.getLhs().getType() != add.getRhs().getType())
      return false;
    return isa<AddOp, CastOp, ReshapeOp, TransposeOp>(op) &&
           llvm::all_of(op->getOperands(),
                        [&](Value operand) { return findRows(operand, rows); });
  }

  /// What is the same in all rounds has no stack.
  bool addRow(Value value, SmallVectorImpl<Value> &rows) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getArgNumber() < invariants)
      return false;
    rows.push_back(value);
    return true;
  }

  /// Builds the sum of all rounds' values.
  Value buildOutside(Value value) {
    Operation *op = value.getDefiningOp();
    IRMapping mapping;
    if (isa<MatmulOp>(op)) {
      for (Value operand : op->getOperands())
        mapping.map(operand, rowsOfAll(operand));
    } else if (auto sum = dyn_cast<SumOp>(op)) {
      SmallVector<int64_t> dims{0};
      for (int64_t dim : sum.getDims())
        dims.push_back(dim + 1);
      Value all = SumOp::create(builder, stacks.lookup(sum.getInput()), dims,
                                /*keepdim=*/false);
      return ReshapeOp::create(builder, tensorType(value), all);
    } else {
      for (Value operand : op->getOperands())
        mapping.map(operand, buildOutside(operand));
    }
    return builder.clone(*op, mapping)
        ->getResult(cast<OpResult>(value).getResultNumber());
  }

  /// Returns the rows of all rounds, one below another.
  Value rowsOfAll(Value value) {
    ArrayRef<int64_t> shape = tensorType(value).getShape();
    auto all = tensorType(value).clone(
        {shape[0] * int64_t(loop.getRounds()), shape[1]});
    return ReshapeOp::create(builder, all, stacks.lookup(value));
  }

  //===--------------------------------------------------------------------===//
  // What backward reads of forward
  //===--------------------------------------------------------------------===//

  /// Whether there is a stack of a value, or forward has to keep one.
  bool hasStack(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op) {
      unsigned number = cast<BlockArgument>(value).getArgNumber();
      if (number >= invariants && number < invariants + carried)
        kept.insert(value);
      return number >= invariants;
    }
    bool isKept = forward.contains(op) && !isFree(op);
    if (isKept)
      kept.insert(value);
    return isKept;
  }

  /// Notes what a value of backward is computed from.
  void need(Value value) {
    if (!needed.insert(value).second || hasStack(value))
      return;
    Operation *op = value.getDefiningOp();
    if (!op)
      return;
    repeated.insert(op);
    for (Value operand : op->getOperands())
      need(operand);
  }

  /// Finds the stacks of the values that backward reads: operands of the loop,
  /// what it stacks already, and what a new loop stacks besides.
  void keepStacks() {
    for (unsigned i = invariants + carried; i < ownArguments; ++i)
      stacks[block.getArgument(i)] = loop.getOperand(i);
    for (auto [index, seed] : stackSeeds)
      stacks[seed] = arrived[index];
    SmallVector<Value> fresh;
    LoopOp forwardLoop = loop;
    for (Value value : kept)
      if (!isStacked(value))
        fresh.push_back(value);
    if (!fresh.empty())
      forwardLoop = addForward(fresh);
    for (Value value : kept)
      for (unsigned i = carried; i < forwardLoop.getNumResults(); ++i)
        if (keptResult(i, fresh) == value)
          stacks[value] = forwardLoop.getResult(i);
  }

  bool isStacked(Value value) {
    return llvm::is_contained(
        block.getTerminator()->getOperands().drop_front(carried), value);
  }

  Value keptResult(unsigned result, ArrayRef<Value> fresh) {
    unsigned own = loop.getNumResults();
    return result < own ? yielded(result) : fresh[result - own];
  }

  /// Adds the loop of forward that stacks these values too.
  LoopOp addForward(ArrayRef<Value> fresh) {
    auto returned = llvm::to_vector(block.getTerminator()->getOperands());
    llvm::append_range(returned, fresh);
    func::FuncOp body = addLoopBody(
        round, loop.getLoc(),
        TypeRange(block.getArgumentTypes()).take_front(ownArguments),
        ValueRange(returned).getTypes());
    IRMapping mapping;
    Block &inside = body.getBody().front();
    for (auto [from, to] :
         llvm::zip(block.getArguments(), inside.getArguments()))
      mapping.map(from, to);
    fill(inside, mapping, returned,
         [&](Operation *op) { return forward.contains(op); });

    SmallVector<Type> types(loop.getResultTypes());
    for (Value value : fresh)
      types.push_back(stackOf(value));
    OpBuilder before(loop);
    auto larger =
        LoopOp::create(before, loop.getLoc(), types, body.getName(),
                       loop.getInvariant(), loop.getCarried(), loop.getSliced(),
                       loop.getRounds(), loop.getReverse());
    loop->replaceAllUsesWith(
        larger.getResults().take_front(loop.getNumResults()));
    return larger;
  }

  RankedTensorType stackOf(Value value) {
    return LoopOp::stackOf(tensorType(value), loop.getRounds());
  }

  /// Copies the ops of the round that are wanted, and returns values.
  void fill(Block &inside, IRMapping &mapping, ArrayRef<Value> returned,
            function_ref<bool(Operation *)> isWanted) {
    OpBuilder b = OpBuilder::atBlockEnd(&inside);
    for (Operation &op : block.without_terminator())
      if (isWanted(&op))
        b.clone(op, mapping);
    func::ReturnOp::create(b, builder.getLoc(),
                           llvm::map_to_vector(returned, [&](Value value) {
                             return mapping.lookup(value);
                           }));
  }

  //===--------------------------------------------------------------------===//
  // The loop of backward
  //===--------------------------------------------------------------------===//

  void addBackward() {
    SmallVector<Value> arguments, operands; // inside and outside
    auto add = [&](Value inside, Value outside) {
      arguments.push_back(inside);
      operands.push_back(outside);
    };
    for (unsigned i = 0; i < invariants; ++i)
      if (needed.contains(block.getArgument(i)))
        add(block.getArgument(i), loop.getOperand(i));
    size_t invariantCount = arguments.size();
    for (auto [index, seed] : carriedSeeds)
      add(seed, arrived[index] ? arrived[index]
                               : splat(builder, tensorType(seed), 0));
    for (auto [argument, sum] : sums)
      add(sum, splat(builder, tensorType(sum), 0));
    size_t carriedCount = arguments.size() - invariantCount;
    for (auto &[value, stack] : stacks)
      if (needed.contains(value))
        add(value, stack);

    // What has a stack already is not stacked again.
    SmallVector<Value> returned(nextSeeds), fresh;
    llvm::append_range(returned, nextSums);
    for (auto &[value, argumentsOf] : stacked)
      if (!stacks.contains(value))
        fresh.push_back(value);
    llvm::append_range(returned, fresh);
    SmallVector<Type> types(
        ValueRange(ArrayRef(returned).take_front(carriedCount)).getTypes());
    for (Value value : fresh)
      types.push_back(stackOf(value));

    ValueRange all(operands);
    auto backward = LoopOp::create(
        builder, types, addBackwardBody(arguments, returned),
        all.take_front(invariantCount), all.slice(invariantCount, carriedCount),
        all.drop_front(invariantCount + carriedCount), loop.getRounds(),
        !loop.getReverse());
    for (auto [value, result] : llvm::zip_equal(fresh, backward.getStacked()))
      stacks[value] = result;
    collect(backward);
  }

  StringRef addBackwardBody(ArrayRef<Value> arguments,
                            ArrayRef<Value> returned) {
    func::FuncOp body =
        addLoopBody(round, builder.getLoc(), ValueRange(arguments).getTypes(),
                    ValueRange(returned).getTypes());
    IRMapping mapping;
    Block &inside = body.getBody().front();
    for (auto [from, to] : llvm::zip_equal(arguments, inside.getArguments()))
      mapping.map(from, to);
    fill(inside, mapping, returned,
         [&](Operation *op) { return repeated.contains(op); });
    return body.getName();
  }

  /// Finds the gradients of the operands.
  void collect(LoopOp backward) {
    unsigned next = 0;
    for (auto [index, seed] : carriedSeeds) {
      Value gradient = backward.getResult(next++);
      if (wanted[invariants + index])
        gradients[invariants + index] = gradient;
    }
    for (auto [argument, sum] : sums)
      gradients[argument] = backward.getResult(next++);
    for (auto &[value, arguments] : stacked)
      for (unsigned argument : arguments)
        gradients[argument] = stacks.lookup(value);
    for (auto [argument, value] : outside)
      gradients[argument] = buildOutside(value);
  }

  LoopOp loop;
  ArrayRef<Value> arrived;
  ArrayRef<bool> wanted;
  const GradientOrigins &origins;
  ImplicitLocOpBuilder &builder;
  func::FuncOp round; ///< the body, to which its backward is added
  Block &block;
  const unsigned invariants, carried, ownArguments;
  DenseSet<Operation *> forward; ///< its ops as they were
  DenseSet<Value> active;
  SmallVector<bool> isActive; ///< by argument
  /// By result of the loop: the gradients that a round is given.
  SmallVector<std::pair<unsigned, Value>> carriedSeeds, stackSeeds;
  /// By argument: what is carried to add up an invariant's gradient.
  SmallVector<std::pair<unsigned, Value>> sums;
  SmallVector<Value> nextSeeds, nextSums; ///< for the round that follows
  /// By argument: gradients that are added up outside.
  SmallVector<std::pair<unsigned, Value>> outside;
  /// Values of backward that are stacked, and the arguments whose gradients
  /// they are.
  llvm::MapVector<Value, SmallVector<unsigned>> stacked;
  DenseSet<Value> needed;
  llvm::SetVector<Value> kept;    ///< of forward
  DenseSet<Operation *> repeated; ///< ops of backward
  llvm::MapVector<Value, Value> stacks;
  SmallVector<Value> gradients; ///< of the operands
};
} // namespace

FailureOr<SmallVector<Value>>
mp::differentiateLoop(LoopOp loop, ArrayRef<Value> arrived,
                      ArrayRef<bool> wanted, const GradientOrigins &origins,
                      ImplicitLocOpBuilder &builder) {
  return LoopDifferentiator(loop, arrived, wanted, origins, builder).run();
}
