//===- RandomKeys.cpp - where random ops take their key from --------------===//
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Collective.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopBodies.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/VariableTable.h"
#include <map>

namespace mp {
#define GEN_PASS_DEF_RANDOMKEYS
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
constexpr llvm::StringLiteral kSeedVariable = "random.seed";

struct RandomKeys : mp::impl::RandomKeysBase<RandomKeys> {
  using Base::Base;

  void runOnOperation() override {
    DenseSet<Operation *> called = calledByLoops(getOperation());
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (auto function : functions)
      if (called.contains(function) && failed(addBody(function)))
        return signalPassFailure();
    for (auto function : functions)
      if (!called.contains(function) && failed(giveKeys(function)))
        return signalPassFailure();
  }

private:
  /// What draws in the body of a loop, and the key that it is given.
  struct Body {
    SmallVector<RandomOpInterface> ops;
    SmallVector<LoopOp> loops;
    SmallVector<Value> key;
  };

  LogicalResult addBody(func::FuncOp function) {
    if (bodies.contains(function))
      return success();
    Body body{findWithoutKey(function), {}, {}};
    for (RandomOpInterface op : body.ops)
      if (op.getKeyMutable().empty())
        return op.emitOpError("draws the same in each round of a loop: run "
                              "mp-number-streams before mp-outline-loops");
    auto loops = llvm::to_vector(function.getOps<LoopOp>());
    for (LoopOp loop : loops)
      if (failed(addBody(loop.lookUpBody())))
        return failure();
    body.loops = findDrawing(function);
    bodies[function] = std::move(body);
    return success();
  }

  /// Finds the loops whose bodies draw.
  SmallVector<LoopOp> findDrawing(func::FuncOp function) {
    SmallVector<LoopOp> loops;
    function.walk([&](LoopOp loop) {
      const Body &body = bodies[loop.lookUpBody()];
      if (!body.ops.empty() || !body.loops.empty())
        loops.push_back(loop);
    });
    return loops;
  }

  /// Finds the random ops whose key has no part, or the time step alone.
  static SmallVector<RandomOpInterface> findWithoutKey(func::FuncOp function) {
    SmallVector<RandomOpInterface> ops;
    function.walk([&](RandomOpInterface op) {
      if (op.getKeyMutable().size() < 2)
        ops.push_back(op);
    });
    return ops;
  }

  LogicalResult giveKeys(func::FuncOp function) {
    auto ops = findWithoutKey(function);
    auto loops = findDrawing(function);
    if (ops.empty() && loops.empty())
      return success();
    auto seed = seedVariable(ops.empty() ? loops.front() : ops.front());
    if (failed(seed))
      return failure();
    auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(),
                                                &function.getBody().front());
    auto key = keyOf(function, *seed, b);
    DenseSet<Operation *> exchanged = exchangedIn(function);
    auto keyOfRank = key;
    if (!exchanged.empty())
      keyOfRank.push_back(RankOp::create(b));
    auto keyFor = [&](Operation *op) {
      return exchanged.contains(op) ? keyOfRank : key;
    };
    for (RandomOpInterface op : ops)
      giveKey(op, keyFor(op), b);
    for (LoopOp loop : loops)
      giveKey(loop, keyFor(loop), b);
    return success();
  }

  /// Puts seed, attempt and micro-batch before the time step.
  static void giveKey(RandomOpInterface op, SmallVector<Value> key,
                      ImplicitLocOpBuilder &b) {
    SmallVector<Value> step(op.getKeyMutable().getAsOperandRange());
    if (!step.empty())
      addMicroBatch(key, b);
    llvm::append_range(key, step);
    op.getKeyMutable().assign(key);
  }

  /// Gives a key to a loop, whose body passes it to what draws in it.
  void giveKey(LoopOp loop, SmallVector<Value> key, ImplicitLocOpBuilder &b) {
    addMicroBatch(key, b);
    func::FuncOp function = loop.lookUpBody();
    Body &body = bodies[function];
    if (body.key.empty()) {
      Block &block = function.getBody().front();
      unsigned place = loop.getInvariant().size();
      for (Value part : key)
        body.key.push_back(
            block.insertArgument(place++, part.getType(), function.getLoc()));
      function.setType(FunctionType::get(function.getContext(),
                                         block.getArgumentTypes(),
                                         function.getResultTypes()));
      for (RandomOpInterface op : body.ops)
        giveKey(op, body.key, b);
      for (LoopOp inner : body.loops)
        giveKey(inner, body.key, b);
    }
    loop.getInvariantMutable().append(key);
  }

  /// A key without a micro-batch has the first.
  static void addMicroBatch(SmallVector<Value> &key, ImplicitLocOpBuilder &b) {
    if (key.size() == 2)
      key.push_back(splat(b, tensorType(key.front()), 0));
  }

  /// Returns the ops that exchanges between ranks depend on. They draw other
  /// bits on every rank; what follows an exchange is the same on all.
  static DenseSet<Operation *> exchangedIn(func::FuncOp function) {
    DenseSet<Operation *> found;
    SmallVector<Operation *> work;
    for (Operation &op : function.getBody().front())
      if (isa<AllReduceOp, AllGatherOp, ReduceScatterOp>(op))
        work.push_back(&op);
    while (!work.empty())
      for (Value operand : work.pop_back_val()->getOperands())
        if (Operation *op = operand.getDefiningOp();
            op && found.insert(op).second)
          work.push_back(op);
    return found;
  }

  /// Returns seed and attempt. A function that takes micro-batches runs several
  /// times in an attempt, so its key also has their index.
  SmallVector<Value> keyOf(func::FuncOp function, VariableOp seed,
                           ImplicitLocOpBuilder &b) {
    auto count = RankedTensorType::get({}, b.getI64Type());
    std::string name = (stepName(function) + "." + kAttemptedVariable).str();
    auto attempts = getOperation().lookupSymbol<VariableOp>(name);
    SmallVector<Value> key{ReadOp::create(b, count, seed.getSymName()),
                           attempts ? Value(ReadOp::create(b, count, name))
                                    : splat(b, count, 0)};
    if (VariableOp micro = lookupMicroBatch(function))
      key.push_back(microBatchOfStep(
          function, ReadOp::create(b, count, micro.getSymName()), b));
    return key;
  }

  /// Returns the number of a micro-batch among those of all ranks, of which
  /// each has a share.
  static Value microBatchOfStep(func::FuncOp function, Value own,
                                ImplicitLocOpBuilder &b) {
    auto share = function->getAttrOfType<IntegerAttr>(kShareAttr);
    if (!share)
      return own;
    auto count = RankedTensorType::get({}, b.getI64Type());
    Value before =
        MulOp::create(b, RankOp::create(b), splat(b, count, share.getInt()));
    return AddOp::create(b, before, own);
  }

  /// Returns the module's seed variable; creates it if missing.
  FailureOr<VariableOp> seedVariable(Operation *user) {
    ModuleOp module = getOperation();
    Builder b(module.getContext());
    auto type = RankedTensorType::get({}, b.getI64Type());
    if (Operation *known = module.lookupSymbol(kSeedVariable)) {
      auto variable = dyn_cast<VariableOp>(known);
      if (variable && variable.getType() == type)
        return variable;
      return known->emitOpError()
             << "has the name of the variable that holds the seed, which is "
             << type << ": give it another one";
    }
    VariableOp variable = VariableTable(module).create(
        user->getLoc(), kSeedVariable, type, StateKind::attempt, 0);
    variable.setInitAttr(InitAttr::get(module.getContext(), InitFormula::seed,
                                       b.getDictionaryAttr({})));
    return variable;
  }

  std::map<Operation *, Body> bodies; ///< of loops
};
} // namespace
