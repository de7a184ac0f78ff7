//===- StepInputs.cpp - a recipe's step, and inputs to measure it with ----===//
#include "runtime/train/StepInputs.h"
#include "runtime/Initialize.h"
#include "runtime/ThreadPool.h"
#include "runtime/data/Convert.h"
#include "runtime/data/Prefetcher.h"
#include "support/Error.h"

using namespace llvm;

namespace mp {

/// Makes random inputs; integers are within the input's range.
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
    inputs.views.emplace_back(input.type.element, memory->data(),
                              input.type.bytes());
    inputs.memories.push_back(std::move(*memory));
  }
  return Error::success();
}

static Expected<StepInputs> copyOf(const Entry &entry,
                                   ArrayRef<TensorView> batch) {
  StepInputs inputs;
  for (auto [input, from] : zip_equal(entry.inputs, batch)) {
    auto memory =
        Memory::allocate(std::max<uint64_t>(input.type.bytes(), 1), "an input");
    if (!memory)
      return memory.takeError();
    llvm::copy(from.bytes(), memory->data());
    inputs.views.emplace_back(input.type.element, memory->data(),
                              input.type.bytes());
    inputs.memories.push_back(std::move(*memory));
  }
  return inputs;
}

static Expected<std::vector<StepInputs>>
readBatches(Model &model, const Entry &entry, uint64_t batch, uint64_t count,
            StringRef folder) {
  auto source = model.dataSource("train", /*required=*/true);
  if (!source)
    return source.takeError();
  auto data = Dataset::open(**source, folder);
  if (!data)
    return data.takeError();
  auto binding = data->bind(entry);
  if (!binding)
    return binding.takeError();
  PrefetchOptions prefetch;
  prefetch.plan.samples = data->samples();
  prefetch.plan.batch = batch;
  prefetch.shuffle = false;
  prefetch.lastStep = count;
  if (data->samples() < static_cast<int64_t>(batch))
    return makeError("batch {0} is larger than the data set of {1} samples",
                     batch, data->samples());
  if (count > data->samples() / batch)
    return makeError("{0} batches of {1} samples are more than the data set of "
                     "{2} samples",
                     count, batch, data->samples());
  Prefetcher batches(*data, std::move(*binding), prefetch);
  std::vector<StepInputs> all;
  while (true) {
    auto inputs = batches.next();
    if (!inputs)
      return inputs.takeError();
    if (!*inputs)
      return all;
    auto copy = copyOf(entry, **inputs);
    if (!copy)
      return copy.takeError();
    all.push_back(std::move(*copy));
  }
}

Expected<std::vector<StepInputs>> makeBatches(Model &model, const Entry &entry,
                                              uint64_t batch, uint64_t count,
                                              StringRef folder, uint64_t seed) {
  if (!folder.empty())
    return readBatches(model, entry, batch, count, folder);
  std::vector<StepInputs> all(count);
  for (auto [i, inputs] : llvm::enumerate(all))
    if (Error error = invent(entry, seed + i, inputs))
      return std::move(error);
  return all;
}

Error makeInputs(Model &model, const Entry &entry, uint64_t batch,
                 StringRef folder, uint64_t seed, StepInputs &inputs) {
  auto all = makeBatches(model, entry, batch, /*count=*/1, folder, seed);
  if (!all)
    return all.takeError();
  inputs = std::move(all->front());
  return Error::success();
}

} // namespace mp
