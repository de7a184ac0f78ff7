//===- StepProgram.cpp - the entry points of a recipe's step --------------===//
#include "runtime/train/StepProgram.h"
#include "program/Names.h"
#include "runtime/numerics/NanCheck.h"

using namespace llvm;

namespace mp {

Expected<Executable::Ticket>
StepProgram::submit(Executable::Inputs inputs) const {
  // Inputs come from a data set or were made to fit, so ranges are known.
  constexpr auto known = Executable::Ranges::Known;
  for (int64_t micro = 0; gather && micro < microBatches; ++micro)
    if (auto ticket = gather->submit(inputs, known); !ticket)
      return ticket;
  return last->submit(gather ? Executable::Inputs() : inputs, known);
}

static void findResults(StepProgram &step) {
  std::pair<StringRef, std::optional<unsigned> *> known[] = {
      {kLossResult, &step.loss},
      {kScaleResult, &step.scale},
      {kSkippedResult, &step.skipped},
      {kExhaustedResult, &step.exhausted},
      {kLearningRateResult, &step.learningRate},
      {kGradientNormResult, &step.gradientNorm}};
  const Entry &entry = step.last->entry();
  for (auto [i, result] : llvm::enumerate(entry.results)) {
    if (!isScalar(result) || result.name.empty() || isOfRecord(entry, i))
      continue;
    auto *found = llvm::find_if(
        known, [&](auto &one) { return one.first == result.name; });
    if (found != std::end(known))
      *found->second = i;
    else
      step.others.push_back(i);
  }
}

Expected<StepProgram> findStep(Model &model, BatchSize size) {
  auto microBatches = model.share();
  if (!microBatches)
    return microBatches.takeError();
  StepProgram step;
  step.microBatches = *microBatches;
  bool gathers = step.microBatches > 1;
  auto last = model.get(Goal::Train, gathers ? kApplyEntry : kStepEntry, size);
  if (!last)
    return last.takeError();
  step.last = *last;
  if (gathers) {
    auto gather = model.get(Goal::Train, kAccumulateEntry, size);
    if (!gather)
      return gather.takeError();
    step.gather = *gather;
  }
  findResults(step);
  return step;
}

} // namespace mp
