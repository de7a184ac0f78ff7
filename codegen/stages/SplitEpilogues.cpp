//===- SplitEpilogues.cpp - stages that a target does not take in ---------===//
//
// Stages after an anchor that its target does not take in become a kernel of
// their own.
//
//===----------------------------------------------------------------------===//
#include "codegen/stages/SplitEpilogues.h"
#include "codegen/stages/MergeDims.h"
#include "dialect/ops/Kernel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// Returns the names of the stages in `later`, or of the anchor and all others.
/// "matmul relu_backward cast sum" names the anchor and its stages in order.
static StringAttr namesOf(KernelOp kernel, StageList stages,
                          const SetVector<Operation *> &later, bool isRest) {
  auto all = kernel.getOpsAttr();
  if (!all)
    return {};
  SmallVector<StringRef> words;
  all.getValue().split(words, ' ');
  if (words.size() != stages.size() + 1) // not made by mp-fuse
    return isRest ? StringAttr::get(kernel.getContext(),
                                    "epilogue of " + all.getValue())
                  : all;
  SmallVector<StringRef> own;
  if (!isRest)
    own.push_back(words.front());
  for (auto [word, stage] :
       llvm::zip_equal(ArrayRef(words).drop_front(), stages))
    if (later.contains(stage) == isRest)
      own.push_back(word);
  return StringAttr::get(kernel.getContext(), llvm::join(own, " "));
}

namespace {
/// Splits a kernel: into its anchor with the stages `kept`, which read no other
/// stage, and all other stages.
class Split {
public:
  Split(KernelOp kernel, StageList stages, StageList kept)
      : kernel(kernel), stages(stages), old(kernel.getBody().front()),
        builder(kernel) {
    for (linalg::GenericOp stage : stages)
      if (!llvm::is_contained(kept, stage))
        later.insert(stage);
    for (Operation *stage : later)
      for (Value operand : stage->getOperands())
        if (isHandedOver(operand))
          handed.insert(operand);
  }

  void run() {
    SetVector<Value> inputs, firstResults, restResults;
    for (Value value : old.getTerminator()->getOperands())
      (later.contains(value.getDefiningOp()) ? restResults : firstResults)
          .insert(value);
    for (Value value : handed)
      if (!later.contains(value.getDefiningOp()) && value.getDefiningOp())
        firstResults.insert(value);
    for (BlockArgument argument : old.getArguments())
      if (firstResults.contains(argument) || isUsedFirst(argument))
        inputs.insert(argument);
    for (auto [argument, input] :
         llvm::zip_equal(old.getArguments(), kernel.getInputs()))
      outside[argument] = input;

    make(inputs.getArrayRef(), firstResults.getArrayRef(), /*isRest=*/false,
         namesOf(kernel, stages, later, false));
    handed.remove_if(
        [&](Value value) { return later.contains(value.getDefiningOp()); });
    KernelOp rest = make(handed.getArrayRef(), restResults.getArrayRef(),
                         /*isRest=*/true, namesOf(kernel, stages, later, true));
    mergeDims(rest.getBody().front());
    for (auto [value, result] : llvm::zip_equal(
             old.getTerminator()->getOperands(), kernel.getOutputs()))
      result.replaceAllUsesWith(outside.lookup(value));
    kernel.erase();
  }

private:
  /// Whether the second kernel gets a value that its stages read from the
  /// first; it makes start values itself.
  static bool isHandedOver(Value value) {
    Operation *op = value.getDefiningOp();
    return !op || isa<AnchorOpInterface, linalg::GenericOp>(op);
  }
  bool isUsedFirst(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return !later.contains(user) && !isa<YieldOp>(user);
    });
  }

  /// Makes one of the two kernels, and notes its results as known outside.
  KernelOp make(ArrayRef<Value> inputs, ArrayRef<Value> results, bool isRest,
                StringAttr names) {
    auto outer = [&](Value value) { return outside.lookup(value); };
    auto part = KernelOp::create(
        builder, kernel.getLoc(), llvm::map_to_vector(results, typeOutside),
        llvm::map_to_vector(inputs, outer), kernel.getPredicate(), names);
    part->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
    Block &block = part.getBody().emplaceBlock();
    IRMapping mapping;
    for (Value input : inputs)
      mapping.map(input, block.addArgument(input.getType(), input.getLoc()));
    auto inside = OpBuilder::atBlockEnd(&block);
    for (Operation &op : old.without_terminator()) {
      bool isStage = isa<AnchorOpInterface, linalg::GenericOp>(op);
      if (!isStage || later.contains(&op) == isRest)
        inside.clone(op, mapping);
    }
    YieldOp::create(inside, kernel.getLoc(),
                    llvm::map_to_vector(results, [&](Value value) {
                      return mapping.lookup(value);
                    }));
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (!op.hasTrait<OpTrait::IsTerminator>() && op.use_empty())
        op.erase();
    for (auto [value, result] : llvm::zip_equal(results, part.getOutputs()))
      outside[value] = result;
    return part;
  }

  /// Returns the type of the old kernel's result, if the value is one.
  static Type typeOutside(Value value) {
    for (OpOperand &use : value.getUses())
      if (auto yield = dyn_cast<YieldOp>(use.getOwner()))
        return yield->getParentOp()
            ->getResult(use.getOperandNumber())
            .getType();
    return value.getType();
  }

  KernelOp kernel;
  StageList stages;
  Block &old;
  OpBuilder builder;
  SetVector<Operation *> later;
  SetVector<Value> handed; ///< to later stages
  DenseMap<Value, Value> outside;
};
} // namespace

void mp::splitEpilogues(func::FuncOp function, const Backend &backend) {
  for (auto kernel : llvm::to_vector(function.getOps<KernelOp>())) {
    Operation *anchor = anchorOf(kernel);
    if (!anchor)
      continue;
    AnchorStages stages(anchor);
    std::optional<StageList> kept = backend.accepts(stages);
    if (kept && kept->size() < stages.all.size())
      Split(kernel, stages.all, *kept).run();
  }
}
