//===- Prefetcher.cpp - batches gathered ahead of their use ---------------===//
#include "runtime/data/Prefetcher.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemAlloc.h"
#include <chrono>
#include <cstdlib>
#include <cstring>

using namespace llvm;

namespace mp {

Prefetcher::Prefetcher(const Dataset &data, ColumnBinding columns,
                       const PrefetchOptions &options)
    : data(data), binding(std::move(columns)), options(options),
      upcoming{options.firstStep} {
  constexpr size_t alignment = 64; // a cache line, and the widest vector
  for (Slot &slot : slots)
    for (const BoundColumn &bound : binding) {
      uint64_t bytes =
          data.columns()[bound.column].recordBytes * options.plan.microRows();
      auto *buffer = static_cast<char *>(std::aligned_alloc(
          alignment, alignTo(std::max<uint64_t>(bytes, 1), alignment)));
      if (!buffer)
        report_bad_alloc_error("batch buffers");
      slot.buffers.emplace_back(buffer);
      slot.inputs.emplace_back();
    }
  worker = llvm::thread([this] { run(); });
}

Prefetcher::~Prefetcher() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  worker.join();
}

Expected<std::optional<ArrayRef<TensorView>>> Prefetcher::next() {
  TraceSpan span(options.trace, Trace::Kind::Wait, "wait for a batch");
  std::unique_lock lock(mutex);
  released = taken;
  changed.notify_all();
  if (upcoming.step >= options.lastStep)
    return std::nullopt;
  auto start = std::chrono::steady_clock::now();
  changed.wait(lock, [this] { return filled > taken || problem; });
  waited +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  if (filled == taken)
    return make_error<FileChanged>(*problem);
  advance(upcoming);
  return ArrayRef(slots[taken++ % 2].inputs);
}

Expected<ArrayRef<TensorView>> Prefetcher::take() {
  auto batch = next();
  if (!batch)
    return batch.takeError();
  return batch->value();
}

Expected<ArrayRef<TensorView>> Prefetcher::take(const Entry &entry) {
  Expected<ArrayRef<TensorView>> batch = take();
  if (!batch || !options.plan.buckets)
    return batch;
  Slot &slot = slots[(taken - 1) % 2];
  for (auto [input, view, buffer] :
       llvm::zip_equal(entry.inputs, slot.inputs, slot.buffers)) {
    uint64_t rows = input.type.shape.front();
    uint64_t from = view.bytes().size() / rows, to = input.type.bytes() / rows;
    if (to >= from)
      continue;
    for (uint64_t row = 1; row < rows; ++row)
      std::memmove(buffer.get() + row * to, buffer.get() + row * from, to);
    view = {view.element(), buffer.get(), rows * to};
  }
  return ArrayRef(slot.inputs);
}

void Prefetcher::advance(Position &position) const {
  if (++position.micro == options.plan.microBatches(position.step))
    position = {position.step + 1};
}

void Prefetcher::run() {
  Position position{options.firstStep};
  for (int64_t i = 0; position.step < options.lastStep; ++i) {
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return stopping || i - released < 2; });
      if (stopping)
        return;
    }
    // The slot belongs to this thread until `filled` counts it.
    Error error = fill(slots[i % 2], position);
    advance(position);
    std::lock_guard lock(mutex);
    if (error)
      problem = toString(std::move(error));
    else
      filled = i + 1;
    changed.notify_all();
    if (problem)
      return;
  }
}

Error Prefetcher::fill(Slot &slot, Position position) {
  TraceSpan span(options.trace, Trace::Kind::Data, "gather a batch");
  const BatchPlan &plan = options.plan;
  auto [step, micro] = position;
  if (int64_t epoch = plan.epoch(step); epoch != orderEpoch) {
    order = plan.order(options.seed, epoch, options.shuffle);
    orderEpoch = epoch;
  }
  auto rows =
      ArrayRef(order).slice(plan.firstRow(step, micro), plan.rows(step, micro));
  for (auto [i, bound] : llvm::enumerate(binding)) {
    const Column &from = data.columns()[bound.column];
    char *to = slot.buffers[i].get();
    if (Error error = data.gather(bound.column, rows, to))
      return error;
    slot.inputs[i] = {from.type.element, to, rows.size() * from.recordBytes};
    if (Error error =
            data.check(bound.column, bound.input, rows, slot.inputs[i].bytes()))
      return error;
  }
  return Error::success();
}

} // namespace mp
