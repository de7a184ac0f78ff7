//===- Lifetimes.cpp - which steps use a buffer ---------------------------===//
#include "codegen/plan/Lifetimes.h"
#include "llvm/ADT/DenseSet.h"

using namespace mp;

static bool isInArena(const BufferRef &ref) {
  return ref.space == BufferRef::Space::Arena;
}

static void visitStep(Step &step, llvm::function_ref<void(BufferRef &)> visit) {
  if (auto *launch = std::get_if<Launch>(&step)) {
    llvm::for_each(launch->args, visit);
  } else if (auto *call = std::get_if<Call>(&step)) {
    llvm::for_each(call->args, visit);
  } else if (auto *copy = std::get_if<Copy>(&step)) {
    visit(copy->to);
    visit(copy->from);
    if (copy->flag)
      visit(*copy->flag);
  }
}

void mp::forEachPlace(Entry &entry,
                      llvm::function_ref<void(BufferRef &, uint32_t)> visit) {
  for (auto [number, step] : llvm::enumerate(entry.steps))
    visitStep(step, [&, number = number](BufferRef &ref) {
      visit(ref, static_cast<uint32_t>(number));
    });
  for (Result &result : entry.results)
    visit(result.ref, entry.steps.empty() ? 0 : entry.steps.size() - 1);
}

/// What a repeated step uses of the outside, or of another round, it uses in
/// all rounds. `loop` is the number of Repeats around this one.
static void extendOverRounds(Entry &entry, uint32_t repeat, size_t loop) {
  uint32_t last = repeat + std::get<Repeat>(entry.steps[repeat]).steps;
  for (uint32_t number = repeat + 1; number <= last; ++number)
    visitStep(entry.steps[number], [&](BufferRef &ref) {
      if (!isInArena(ref))
        return;
      Buffer &buffer = entry.buffers[ref.index];
      bool isOwn = buffer.firstStep > repeat && buffer.lastStep <= last;
      if (isOwn && ref.stride(loop) == 0)
        return;
      buffer.firstStep = std::min(buffer.firstStep, repeat);
      buffer.lastStep = std::max(buffer.lastStep, last);
    });
}

void mp::findLifetimes(Entry &entry) {
  for (Buffer &buffer : entry.buffers)
    buffer.firstStep = UINT32_MAX;
  forEachPlace(entry, [&](BufferRef &ref, uint32_t step) {
    if (!isInArena(ref))
      return;
    Buffer &buffer = entry.buffers[ref.index];
    buffer.firstStep = std::min(buffer.firstStep, step);
    buffer.lastStep = std::max(buffer.lastStep, step);
  });
  for (Buffer &buffer : entry.buffers)
    buffer.firstStep = std::min(buffer.firstStep, buffer.lastStep);
  auto around = entry.repeatsOfSteps();
  for (auto [number, step] : llvm::enumerate(entry.steps))
    if (std::holds_alternative<Repeat>(step))
      extendOverRounds(entry, number, around[number].size());
}

const Buffer *mp::findUnwritten(const Entry &entry,
                                llvm::ArrayRef<StepBufferRefs> places) {
  llvm::DenseSet<uint32_t> written;
  auto isUnwritten = [&](const BufferRef &ref) {
    return isInArena(ref) && !written.contains(ref.index);
  };
  for (const StepBufferRefs &step : places) {
    for (const BufferRef &ref : step.read)
      if (isUnwritten(ref))
        return &entry.buffers[ref.index];
    for (const BufferRef &ref : step.written)
      if (isInArena(ref))
        written.insert(ref.index);
  }
  for (const Result &result : entry.results)
    if (isUnwritten(result.ref))
      return &entry.buffers[result.ref.index];
  return nullptr;
}
