//===- Step.cpp - a recipe's step and inputs to measure it with -----------===//
#include "tools/common/Step.h"
#include "runtime/Error.h"
#include "runtime/Initialize.h"
#include "runtime/ThreadPool.h"
#include "runtime/data/Convert.h"

using namespace llvm;

namespace mp::tool {

/// Random numbers; integers within what the input allows.
static Error invent(const Entry &entry, uint64_t seed, StepInputs &inputs) {
  ThreadPool pool(1);
  for (const Input &input : entry.inputs) {
    auto memory =
        Memory::allocate(std::max<uint64_t>(input.type.bytes(), 1), "an input");
    if (!memory)
      return memory.takeError();
    ElementType element = input.type.element;
    if (isFloat(element)) {
      Variable values;
      values.name = input.name;
      values.type = input.type;
      values.init = {Initializer::Kind::Uniform, -1, 1};
      if (Error error =
              fill(values, seed, {memory->data(), input.type.bytes()}, pool))
        return error;
    } else {
      auto [low, high] = input.range.value_or(
          std::pair<int64_t, int64_t>(0, element == ElementType::I1 ? 2 : 100));
      for (int64_t i = 0; i < input.type.elements(); ++i)
        storeElement(element, low + i * 7919 % std::max<int64_t>(high - low, 1),
                     memory->data() + i * byteWidth(element));
    }
    inputs.pointers.push_back(memory->data());
    inputs.memories.push_back(std::move(*memory));
  }
  return Error::success();
}

/// The first batch of a folder, in its order.
static Error readFirstBatch(Model &model, const Entry &entry, uint64_t batch,
                            StringRef folder, StepInputs &inputs) {
  auto source = model.dataSource("train", /*required=*/true);
  if (!source)
    return source.takeError();
  auto data = Dataset::open(**source, folder);
  if (!data)
    return data.takeError();
  inputs.data = std::move(*data);
  auto binding = inputs.data->bind(entry);
  if (!binding)
    return binding.takeError();
  PrefetchOptions prefetch;
  prefetch.plan.records = inputs.data->records();
  prefetch.plan.batch = batch;
  prefetch.shuffle = false;
  prefetch.lastStep = 1;
  if (prefetch.plan.records < prefetch.plan.batch)
    return makeError("batch {0} is larger than the data set of {1} records",
                     batch, prefetch.plan.records);
  inputs.batch =
      std::make_unique<Prefetcher>(*inputs.data, std::move(*binding), prefetch);
  inputs.pointers = inputs.batch->next()->vec();
  return Error::success();
}

Error makeInputs(Model &model, const Entry &entry, uint64_t batch,
                 StringRef folder, uint64_t seed, StepInputs &inputs) {
  return folder.empty() ? invent(entry, seed, inputs)
                        : readFirstBatch(model, entry, batch, folder, inputs);
}

Expected<Executable::Ticket>
StepProgram::submit(Executable::Inputs inputs) const {
  for (int64_t micro = 0; gather && micro < microBatches; ++micro)
    if (auto ticket = gather->submit(inputs); !ticket)
      return ticket;
  return last->submit(gather ? Executable::Inputs() : inputs);
}

Expected<StepProgram> findStep(Model &model, uint64_t batch) {
  auto microBatches = model.accumulate();
  if (!microBatches)
    return microBatches.takeError();
  StepProgram step{.microBatches = *microBatches};
  bool gathers = step.microBatches > 1;
  auto last = model.get(Goal::Train, gathers ? "apply" : "step", batch);
  if (!last)
    return last.takeError();
  step.last = *last;
  if (gathers) {
    auto gather = model.get(Goal::Train, "accumulate", batch);
    if (!gather)
      return gather.takeError();
    step.gather = *gather;
  }
  for (auto [i, result] : llvm::enumerate(step.last->entry().results))
    if (isScalar(result) && result.name == "skipped")
      step.skipped = i;
  return step;
}

} // namespace mp::tool
