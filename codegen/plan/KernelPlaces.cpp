//===- KernelPlaces.cpp - where a kernel's results lie --------------------===//
#include "codegen/plan/Describe.h"
#include "codegen/plan/EntryPlanner.h"
#include "codegen/stages/InPlace.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

BufferRef EntryPlanner::within(BufferRef tensor, int64_t offset,
                               RankedTensorType type) {
  tensor.offset += offset * byteWidth(describeType(type).element);
  return tensor;
}

BufferRef EntryPlanner::placeOf(AssembleOp assemble) {
  if (auto whole = placeInWhole(assemble.getResult()))
    return *whole;
  auto isOverwritten = [](Value) { return false; };
  if (round)
    if (auto place = round->takePlace(cast<OpResult>(assemble.getResult()),
                                      isOverwritten))
      return *place;
  auto [known, isNew] = assembled.try_emplace(assemble);
  if (isNew)
    known->second = newBuffer(bytesOfValue(assemble), assemble, "concat");
  return known->second;
}

SmallVector<BufferRef>
EntryPlanner::placesOf(KernelOp kernel,
                       const DenseMap<Value, BufferRef> &known) {
  SmallVector<BufferRef> places;
  DenseSet<uint32_t> taken;
  for (OpResult result : kernel.getOutputs()) {
    if (auto found = known.find(result); found != known.end()) {
      places.push_back(found->second);
      continue;
    }
    auto place = placeInWhole(result);
    if (!place)
      place = placeInRound(kernel, result);
    if (!place)
      place = inPlace(kernel, result);
    if (!place)
      place = placeOfOperand(kernel, result, taken);
    places.push_back(
        place ? *place
              : newBuffer(bytesOfValue(result), kernel, summaryOf(kernel)));
  }
  return places;
}

std::optional<BufferRef> EntryPlanner::placeInWhole(Value value) {
  for (OpOperand &use : value.getUses())
    if (auto assemble = dyn_cast<AssembleOp>(use.getOwner()))
      return within(placeOf(assemble),
                    assemble.getOffsets()[use.getOperandNumber()],
                    assemble.getType());
  return std::nullopt;
}

std::optional<BufferRef> EntryPlanner::placeInRound(KernelOp kernel,
                                                    OpResult result) {
  if (!round)
    return std::nullopt;
  return round->takePlace(result, [&](Value before) {
    return mayReplaceCarried(kernel, result, before);
  });
}

std::optional<BufferRef> EntryPlanner::inPlace(KernelOp kernel,
                                               OpResult result) {
  for (Operation *user : result.getUsers()) {
    auto write = dyn_cast<WriteOp>(user);
    if (!write || write.getPredicate() != kernel.getPredicate())
      continue;
    uint32_t index = variableIndex(write.getVariable());
    if (!stored.contains(write) &&
        isLastReadBy(kernel, result, write.getVariable())) {
      stored.insert(write);
      return BufferRef{BufferRef::Space::Variable, index, 0};
    }
  }
  return std::nullopt;
}

std::optional<BufferRef>
EntryPlanner::placeOfOperand(KernelOp kernel, OpResult result,
                             DenseSet<uint32_t> &taken) {
  for (Value input : kernel.getInputs()) {
    BufferRef ref = refs.lookup(input);
    if (ref.space == BufferRef::Space::Arena && !taken.contains(ref.index) &&
        !rowsOfLoops.contains(ref.index) && (!round || round->owns(ref)) &&
        aliases.areLastUsedBy(kernel, input) &&
        mayReplace(kernel, ref, result.getResultNumber())) {
      taken.insert(ref.index);
      return ref;
    }
  }
  return std::nullopt;
}

bool EntryPlanner::isLastReadBy(KernelOp kernel, OpResult result,
                                StringRef variable) {
  for (ReadOp read : reads.lookup(variable)) {
    if (refs.lookup(read).space != BufferRef::Space::Variable)
      continue;
    bool isRead = false;
    aliases.forEachUse(read.getResult(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      unsigned operand = use.getOperandNumber();
      isRead |= user == kernel ? operand >= kernel.getInputs().size() ||
                                     !allowsInPlace(kernel, operand,
                                                    result.getResultNumber())
                               : kernel->isBeforeInBlock(user);
    });
    if (isRead)
      return false;
  }
  return true;
}

bool EntryPlanner::mayReplace(KernelOp kernel, const BufferRef &ref,
                              unsigned result) {
  for (auto [index, input] : llvm::enumerate(kernel.getInputs())) {
    BufferRef other = refs.lookup(input);
    if (other.space == ref.space && other.index == ref.index &&
        !allowsInPlace(kernel, index, result))
      return false;
  }
  return true;
}

bool EntryPlanner::mayReplaceCarried(KernelOp kernel, OpResult result,
                                     Value before) {
  bool isRead = false;
  aliases.forEachUse(before, [&](OpOperand &use) {
    Operation *user = use.getOwner();
    unsigned operand = use.getOperandNumber();
    if (user->hasTrait<OpTrait::IsTerminator>())
      isRead |= !round->isStored(operand);
    else if (user == kernel)
      isRead |= operand >= kernel.getInputs().size() ||
                !allowsInPlace(kernel, operand, result.getResultNumber());
    else
      isRead |= kernel->isBeforeInBlock(user);
  });
  return !isRead;
}

bool EntryPlanner::allowsInPlace(KernelOp kernel, unsigned operand,
                                 unsigned result) {
  // One analysis serves all results of a kernel, of which there may be
  // hundreds, as an optimizer updates many small parameters at once; and all
  // kernels that are the same code, as those of equal layers are.
  auto known = stages.find(body);
  if (known == stages.end()) {
    if (auto anchor = dyn_cast_or_null<AnchorOpInterface>(anchorOf(kernel)))
      return mp::allowsInPlace(anchor, operand, result);
    Block &block = kernel.getBody().front();
    known =
        stages.try_emplace(body, analyzeStages(block, backend.stageTarget()))
            .first;
  }
  return succeeded(known->second) &&
         mp::allowsInPlace(*known->second, operand, result);
}

void EntryPlanner::copyTable(KernelOp kernel, ScatterRowsOp scatter,
                             BufferRef result) {
  auto place = cast<BlockArgument>(scatter.getTable()).getArgNumber();
  addCopy(result, refs.lookup(kernel->getOperand(place)), scatter.getTable());
}
