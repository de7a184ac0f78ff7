//===- LoopPlan.cpp - the steps of loops ----------------------------------===//
#include "codegen/plan/Describe.h"
#include "codegen/plan/EntryPlanner.h"
#include "codegen/plan/Invariants.h"

using namespace mlir;
using namespace mp;

void EntryPlanner::planLoop(KernelOp kernel, LoopOp loop) {
  func::FuncOp body = loop.lookUpBody();
  LoopRound own(loop, body, round);
  StepBufferRefs touched{{}, placeResults(own, kernel)};
  own.beginBuffers(entry.buffers.size());
  for (Value operand : loop.getOperands())
    touched.read.push_back(refs.lookup(
        kernel->getOperand(cast<BlockArgument>(operand).getArgNumber())));
  waitFor(exchanges.until(touched));
  size_t invariants = loop.getInvariant().size(), first = entry.steps.size();
  for (size_t i = 0; i < own.carried(); ++i)
    addCopy(own.firstOf(i), touched.read[invariants + i], loop.getResult(i));

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

SmallVector<BufferRef> EntryPlanner::placeResults(LoopRound &own,
                                                  KernelOp kernel) {
  LoopOp loop = own.loop;
  auto outputs =
      llvm::map_to_vector(loop.getResults(), [&](Value result) -> Value {
        for (OpOperand &use : result.getUses())
          if (isa<YieldOp>(use.getOwner()))
            return kernel.getOutputs()[use.getOperandNumber()];
        return {};
      });
  llvm::DenseMap<Value, BufferRef> known;
  for (unsigned i = 0; i < own.carried(); ++i)
    placeInRow(own, i, kernel, outputs, known);
  SmallVector<BufferRef> places = placesOf(kernel, known);
  for (auto [number, output] : llvm::enumerate(outputs))
    if (output)
      own.setPlace(number, places[cast<OpResult>(output).getResultNumber()]);
    else if (!own.hasPlace(number))
      own.setPlace(number, newBuffer(bytesOfValue(loop.getResult(number)),
                                     kernel, "unused result of loop"));
  for (auto [output, place] : llvm::zip_equal(kernel.getOutputs(), places))
    refs[output] = place;
  return places;
}

void EntryPlanner::placeInRow(LoopRound &own, unsigned carried, KernelOp kernel,
                              ArrayRef<Value> outputs,
                              llvm::DenseMap<Value, BufferRef> &known) {
  BlockArgument argument = own.argument(carried);
  Value next = own.yielded(carried);
  // The kernels of what an op joins write to its parts.
  auto mayPlace = [&](unsigned result) {
    Value output = outputs[result];
    return !own.hasPlace(result) &&
           (!output || llvm::none_of(output.getUsers(), [](Operation *user) {
             return isa<AssembleOp>(user);
           }));
  };
  SmallVector<unsigned> given, left;
  for (unsigned i = own.carried(); i < own.results(); ++i)
    if (Value value = own.yielded(i); value == argument)
      given.push_back(i);
    else if (value == next)
      left.push_back(i);
  if (next == argument || (given.empty() && left.empty()) ||
      !LoopRound::isAligned(argument) || !mayPlace(carried) ||
      !llvm::all_of(given, mayPlace) || !llvm::all_of(left, mayPlace))
    return;
  auto rounds = static_cast<uint64_t>(LoopOp(own.loop).getRounds());
  BufferRef row = newBuffer((rounds + 1) * bytesOfValue(argument), kernel,
                            summaryOf(kernel));
  rowsOfLoops.insert(row.index);
  own.carryInRow(carried, row);
  auto place = [&](unsigned result, BufferRef ref) {
    own.setPlace(result, ref);
    if (outputs[result])
      known[outputs[result]] = ref;
  };
  place(carried, own.lastOf(carried));
  for (unsigned result : given)
    place(result, own.readPart(carried));
  for (unsigned result : left)
    place(result, own.writtenPart(carried));
}

void EntryPlanner::bindArguments(LoopRound &own, ArrayRef<BufferRef> operands) {
  size_t invariants = LoopOp(own.loop).getInvariant().size();
  for (auto [index, argument] : llvm::enumerate(own.block.getArguments())) {
    if (index < invariants) {
      refs[argument] = operands[index];
    } else if (index < invariants + own.carried()) {
      refs[argument] = own.argumentPlace(index - invariants);
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
