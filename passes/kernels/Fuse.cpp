//===- Fuse.cpp - form kernels --------------------------------------------===//
#include "dialect/ops/Constant.h"
#include "dialect/ops/Kernel.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Recompute.h"
#include "dialect/ops/State.h"
#include "dialect/ops/View.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/kernels/Decompose.h"
#include "passes/kernels/FusionPlan.h"
#include "passes/kernels/RepeatOps.h"

namespace mp {
#define GEN_PASS_DEF_FUSE
#include "passes/kernels/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// Rewrites a function by a plan: kernels in its order, then writes and the
/// return.
class KernelBuilder {
public:
  KernelBuilder(func::FuncOp function, const FusionPlan &plan)
      : function(function), plan(plan), outer(function.getContext()) {}

  void run() {
    Block &block = function.getBody().front();
    auto old =
        llvm::to_vector(llvm::make_pointer_range(block.without_terminator()));
    Operation *end = block.getTerminator();
    for (Operation *op : old) {
      if (isa<WriteOp>(op))
        op->moveBefore(end);
      if (isa<ReadOp>(op))
        op->moveBefore(&block, block.begin());
    }
    auto writes = llvm::to_vector(block.getOps<WriteOp>());
    outer.setInsertionPoint(writes.empty() ? end
                                           : writes.front().getOperation());
    for (auto [index, group] : llvm::enumerate(plan.groups())) {
      bodies.push_back(body(group, index));
      for (Operation *op : bodies.back())
        ++kernelsWith[op];
    }
    for (auto [group, ops] : llvm::zip_equal(plan.groups(), bodies))
      build(group, ops);
    for (Operation *op : llvm::concat<Operation *const>(
             llvm::map_to_vector(writes,
                                 [](WriteOp w) { return w.getOperation(); }),
             ArrayRef(end)))
      for (OpOperand &operand : op->getOpOperands())
        operand.set(stored(operand.get()));
    for (Operation *op : llvm::reverse(old))
      if (!isa<WriteOp>(op) && op->use_empty() && op->getBlock())
        op->erase();
  }

private:
  /// Returns the new value that stands for an old one between kernels.
  Value stored(Value value) {
    if (Value known = made.lookup(value))
      return known;
    // The order of the kernels replaces the barrier.
    if (auto barrier = value.getDefiningOp<RecomputeBarrierOp>())
      return made[value] = stored(barrier.getInput());
    if (auto slice = value.getDefiningOp<SliceOp>())
      return made[value] = copyOf(slice);
    auto reshape = value.getDefiningOp<ReshapeOp>();
    if (!reshape)
      return value; // an argument, a read, a constant
    return made[value] =
               ReshapeOp::create(outer, reshape.getLoc(), reshape.getType(),
                                 stored(reshape.getInput()));
  }

  /// Whether a value waits: a barrier is on its way between kernels.
  static bool waits(Value value) {
    Operation *op = value.getDefiningOp();
    while (isa_and_nonnull<ReshapeOp, SliceOp>(op))
      op = op->getOperand(0).getDefiningOp();
    return isa_and_nonnull<RecomputeBarrierOp>(op);
  }

  static void setLate(KernelOp kernel, ArrayRef<Value> inputs) {
    if (llvm::any_of(inputs, waits))
      kernel->setAttr(kLateAttr, UnitAttr::get(kernel.getContext()));
  }

  /// Adds a kernel for a slice that stands between kernels; mp-remove-copies
  /// takes it away again where its readers can do without.
  Value copyOf(SliceOp slice) {
    Value input = stored(slice.getInput());
    auto kernel =
        KernelOp::create(outer, slice.getLoc(), TypeRange(slice.getType()),
                         input, Value(), outer.getStringAttr(namesOf({slice})));
    setLate(kernel, slice.getInput());
    Block &block = kernel.getBody().emplaceBlock();
    IRMapping mapping;
    mapping.map(slice.getInput(),
                block.addArgument(input.getType(), input.getLoc()));
    auto builder = OpBuilder::atBlockEnd(&block);
    Operation *copy = builder.clone(*slice, mapping);
    YieldOp::create(builder, slice.getLoc(), copy->getResult(0));
    return kernel.getResult(0);
  }

  /// Returns all ops of a group in order: its items, their epilogues, and the
  /// ops computed on the way. An anchor and its epilogue come first.
  SmallVector<Operation *> body(const FusionGroup &group,
                                unsigned index) const {
    SetVector<Operation *> ops(group.items.begin(), group.items.end());
    for (Operation *item : group.items)
      if (isa<AnchorOpInterface>(item))
        ops.insert_range(epilogueOf(item));
    for (unsigned i = 0; i < ops.size(); ++i) {
      if (isa<AnchorOpInterface>(ops[i]))
        continue;
      for (Value operand : ops[i]->getOperands())
        if (plan.isInlined(operand, index))
          ops.insert(operand.getDefiningOp());
    }
    SmallVector<Operation *> sorted;
    if (Operation *first = ops.front(); isa<AnchorOpInterface>(first)) {
      sorted = epilogueOf(first);
      sorted.insert(sorted.begin(), first);
    }
    size_t fixed = sorted.size();
    llvm::copy_if(ops, std::back_inserter(sorted), [&](Operation *op) {
      return !llvm::is_contained(ArrayRef(sorted).take_front(fixed), op);
    });
    llvm::sort(sorted.begin() + fixed, sorted.end(),
               [](Operation *lhs, Operation *rhs) {
                 return lhs->isBeforeInBlock(rhs);
               });
    return sorted;
  }

  void build(const FusionGroup &group, ArrayRef<Operation *> ops) {
    DenseSet<Operation *> inside(ops.begin(), ops.end());
    SetVector<Value> inputs, outputs;
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        if (!operand.getDefiningOp() ||
            !inside.contains(operand.getDefiningOp()))
          inputs.insert(operand);
    DenseSet<Operation *> own(group.items.begin(), group.items.end());
    if (isa<AnchorOpInterface>(ops.front()))
      own.insert_range(epilogueOf(ops.front()));
    for (Operation *op : ops)
      if (own.contains(op))
        for (Value result : op->getResults())
          // The user is outside of kernels, or in another one that computes it
          // again.
          if (llvm::any_of(result.getUsers(), [&](Operation *user) {
                return !inside.contains(user) || kernelsWith.lookup(user) > 1;
              }))
            outputs.insert(result);
    if (!outputs.empty())
      emit(group, ops, inputs.getArrayRef(), outputs.getArrayRef());
  }

  void emit(const FusionGroup &group, ArrayRef<Operation *> ops,
            ArrayRef<Value> inputs, ArrayRef<Value> outputs) {
    SmallVector<Value> operands;
    SmallVector<Location> locations;
    for (Value input : inputs)
      operands.push_back(stored(input));
    for (Operation *op : ops)
      locations.push_back(op->getLoc());
    Value predicate = group.predicate ? stored(group.predicate) : Value();
    auto kernel =
        KernelOp::create(outer, FusedLoc::get(function.getContext(), locations),
                         ValueRange(outputs).getTypes(), operands, predicate,
                         outer.getStringAttr(namesOf(ops)));
    setLate(kernel, inputs);
    Block &block = kernel.getBody().emplaceBlock();
    IRMapping mapping;
    for (Value input : inputs)
      mapping.map(input, block.addArgument(input.getType(), input.getLoc()));
    auto builder = OpBuilder::atBlockEnd(&block);
    for (Operation *op : ops)
      builder.clone(*op, mapping);
    SmallVector<Value> yielded;
    for (Value output : outputs)
      yielded.push_back(mapping.lookup(output));
    YieldOp::create(builder, kernel.getLoc(), yielded);
    for (auto [output, result] : llvm::zip_equal(outputs, kernel.getOutputs()))
      made[output] = result;
  }

  /// Returns "linear relu": the ops that the kernel computes, for people;
  /// constants are left out.
  static std::string namesOf(ArrayRef<Operation *> ops) {
    std::string names;
    for (Operation *op : ops)
      if (!isa<ConstantOp, ReshapeOp>(op))
        names +=
            (names.empty() ? "" : " ") + op->getName().stripDialect().str();
    return names.empty() ? ops.back()->getName().stripDialect().str() : names;
  }

  func::FuncOp function;
  const FusionPlan &plan;
  OpBuilder outer;
  DenseMap<Value, Value> made;
  SmallVector<SmallVector<Operation *>> bodies;
  DenseMap<Operation *, unsigned> kernelsWith;
};

struct Fuse : mp::impl::FuseBase<Fuse> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (failed(check(function)))
      return signalPassFailure();
    if (!function.getBody().getOps<KernelOp>().empty())
      return failed(checkFused(function)) ? signalPassFailure() : void();
    decomposeToPrimitives(function);
    repeatOps(function);
    FusionPlan plan(function, takeSinces(function));
    KernelBuilder(function, plan).run();
  }

private:
  /// Fails if a function that has kernels has other ops that compute.
  static LogicalResult checkFused(func::FuncOp function) {
    for (Operation &op : function.getBody().front())
      if (isa<ScalarOpInterface, ReductionOpInterface, DecomposableOpInterface,
              AnchorOpInterface, TransposeOp, IotaOp>(op))
        return op.emitOpError() << "stands beside kernels: mp-fuse runs once, "
                                   "on a function that has none";
    return success();
  }

  /// Waiting for a value does not use it: it need not be stored for that.
  static FusionPlan::Sinces takeSinces(func::FuncOp function) {
    FusionPlan::Sinces sinces;
    for (auto barrier : function.getOps<RecomputeBarrierOp>()) {
      sinces[barrier] = barrier.getSince();
      barrier.getSinceMutable().assign(barrier.getInput());
    }
    return sinces;
  }

  /// Fails unless the function is straight-line code with static shapes.
  static LogicalResult check(func::FuncOp function) {
    if (!function.getBody().hasOneBlock())
      return function.emitOpError()
             << "has control flow, which kernels are not made of";
    for (Operation &op : function.getBody().front()) {
      if (!isGraphOp(&op) && !op.hasTrait<OpTrait::IsTerminator>())
        return op.emitOpError() << "is not an op of the mp dialect";
      for (Type type :
           llvm::concat<const Type>(llvm::to_vector(op.getOperandTypes()),
                                    llvm::to_vector(op.getResultTypes())))
        if (auto tensor = dyn_cast<RankedTensorType>(type);
            tensor && !tensor.hasStaticShape())
          return op.emitOpError()
                 << tensor << " has a '?': run mp-specialize before mp-fuse";
    }
    return success();
  }
};
} // namespace
