//===- LoopPlan.cpp - the steps of loops ----------------------------------===//
#include "codegen/plan/Describe.h"
#include "codegen/plan/EntryPlanner.h"
#include "codegen/plan/Invariants.h"

using namespace mlir;
using namespace mp;

void EntryPlanner::planLoop(KernelOp kernel, LoopOp loop,
                            ArrayRef<BufferRef> results) {
  func::FuncOp body = loop.lookUpBody();
  SmallVector<BufferRef> places = placesOf(kernel, loop, results);
  LoopRound own(loop, body, std::move(places), entry.buffers.size(), round);
  StepBufferRefs touched{{}, SmallVector<BufferRef>(results)};
  for (Value operand : loop.getOperands())
    touched.read.push_back(refs.lookup(
        kernel->getOperand(cast<BlockArgument>(operand).getArgNumber())));
  waitFor(exchanges.until(touched));
  size_t invariants = loop.getInvariant().size(), first = entry.steps.size();
  for (size_t i = 0; i < own.carried(); ++i)
    addCopy(own.placeOf(i), touched.read[invariants + i], loop.getResult(i));

  size_t number = entry.steps.size();
  addStep(Repeat{static_cast<int64_t>(loop.getRounds()), 0}, {});
  bindArguments(own, touched.read);
  planRound(own, body);
  auto steps = static_cast<uint32_t>(entry.steps.size() - number - 1);
  std::get<Repeat>(entry.steps[number]).steps = steps;
  if (steps == 0) {
    entry.steps.pop_back();
    stepPlaces.pop_back();
  }
  insertPreparations(own, kernel, number);
  if (kernel->hasAttr(kLateAttr))
    for (size_t step = first; step < stepPlaces.size(); ++step)
      stepPlaces[step].isLate = true;
}

void EntryPlanner::insertPreparations(LoopRound &own, KernelOp kernel,
                                      size_t number) {
  SmallVector<BufferRef> shared; // by all rounds of the loop around this one
  for (Value value : LoopOp(own.loop).getInvariant())
    if (unsigned operand = cast<BlockArgument>(value).getArgNumber();
        isInvariant(kernel, operand))
      shared.push_back(refs.lookup(kernel->getOperand(operand)));
  auto isShared = [&](const BufferRef &ref) {
    return llvm::is_contained(shared, ref);
  };
  for (auto &[launch, touched] : own.preparations)
    if (round && llvm::all_of(touched.read, isShared)) {
      round->prepare(std::move(launch), std::move(touched));
    } else {
      entry.steps.insert(entry.steps.begin() + number, std::move(launch));
      stepPlaces.insert(stepPlaces.begin() + number++, std::move(touched));
    }
}

SmallVector<BufferRef> EntryPlanner::placesOf(KernelOp kernel, LoopOp loop,
                                              ArrayRef<BufferRef> results) {
  SmallVector<BufferRef> places;
  for (Value result : loop.getResults()) {
    auto isYield = [](OpOperand &use) { return isa<YieldOp>(use.getOwner()); };
    auto use = llvm::find_if(result.getUses(), isYield);
    places.push_back(
        use != result.use_end()
            ? results[use->getOperandNumber()]
            : newBuffer(bytesOfValue(result), kernel, "unused result of loop"));
  }
  return places;
}

void EntryPlanner::bindArguments(LoopRound &own, ArrayRef<BufferRef> operands) {
  size_t invariants = LoopOp(own.loop).getInvariant().size();
  for (auto [index, argument] : llvm::enumerate(own.block.getArguments())) {
    if (index < invariants) {
      refs[argument] = operands[index];
    } else if (index < invariants + own.carried()) {
      refs[argument] = own.placeOf(index - invariants);
    } else if (BufferRef element = own.elementOf(operands[index], argument);
               LoopRound::isAligned(argument)) {
      refs[argument] = element;
    } else {
      refs[argument] = newBuffer(bytesOfValue(argument), own.loop, "element");
      addCopy(refs[argument], element, argument);
    }
  }
}

void EntryPlanner::planRound(LoopRound &own, func::FuncOp body) {
  ArrayRef<EmittedKernel> code = codeOf(body);
  Aliases inside(own.block);
  LoopRound *around = &own;
  unsigned first = 0;
  auto swapScope = [&] {
    std::swap(emitted, code);
    std::swap(aliases, inside);
    std::swap(round, around);
    std::swap(nextKernel, first);
  };
  swapScope();
  // What the round before left is stacked before its place is written.
  for (unsigned i = own.carried(); i < own.results(); ++i)
    if (isa<BlockArgument>(own.yielded(i)))
      store(own, i);
  for (Operation &op : own.block)
    planOp(&op);
  for (unsigned i = own.carried(); i < own.results(); ++i)
    store(own, i);
  carry(own);
  swapScope();
}

void EntryPlanner::store(LoopRound &own, unsigned result) {
  Value value = own.yielded(result);
  if (!own.isStored(result))
    addCopy(own.placeOf(result), refs.lookup(value), value);
  own.setStored(result);
}

void EntryPlanner::carry(LoopRound &own) {
  SmallVector<BufferRef> places;
  for (unsigned i = 0; i < own.carried(); ++i)
    places.push_back(own.placeOf(i));
  for (unsigned i = 0; i < own.carried(); ++i) {
    Value value = own.yielded(i);
    BufferRef &from = refs[value];
    if (own.isStored(i) || from == places[i] ||
        !llvm::is_contained(places, from))
      continue;
    BufferRef between =
        newBuffer(bytesOfValue(value), own.loop, "carried value");
    addCopy(between, from, value);
    from = between;
  }
  for (unsigned i = 0; i < own.carried(); ++i)
    store(own, i);
}

void EntryPlanner::addCopy(BufferRef to, BufferRef from, Value value) {
  if (to != from)
    addStep(Copy{to, from, bytesOfValue(value), {}}, {{from}, {to}});
}
