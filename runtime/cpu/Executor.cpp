//===- Executor.cpp - an entry point, resolved to addresses ---------------===//
#include "runtime/cpu/Executor.h"
#include "runtime/MemoryPlan.h"
#include "support/Error.h"
#include "llvm/Support/MathExtras.h"
#include <chrono>
#include <cstring>

using namespace mp;

/// Bounds the block by the grid, so that task bounds cannot overflow.
static int64_t boundedBlock(int64_t grid, int64_t block) {
  return std::min(block, std::max<int64_t>(grid, 1));
}

/// Calls `task(begin, end, worker)` for every block of the grid. A single task
/// runs on the caller's thread, as waking workers would take longer.
template <typename Task>
static void forEachBlock(ThreadPool &pool, int64_t grid, int64_t block,
                         Task task) {
  if (grid <= block) {
    if (grid > 0)
      pool.run(1, [&](int64_t, unsigned) { task(0, grid, 0); });
    return;
  }
  int64_t tasks = (grid - 1) / block + 1;
  pool.run(tasks, [&](int64_t index, unsigned worker) {
    int64_t begin = index * block;
    task(begin, begin + std::min(block, grid - begin), worker);
  });
}

Executor::Executor(Entry entry, const Linkage &linkage,
                   std::vector<std::unique_ptr<Routine>> routines,
                   Engine &engine)
    : description(std::move(entry)), engine(engine), names(linkage.names),
      poisoned(buffersToPoison(description)) {
  std::unique_ptr<Routine> *nextRoutine = routines.data();
  for (auto [step, around] :
       llvm::zip_equal(description.steps, description.repeatsOfSteps()))
    steps.push_back(bind(step, linkage, around, nextRoutine));
  std::vector<BufferRef> refs;
  for (const Result &result : description.results)
    refs.push_back(result.ref);
  firstResult = bind(refs, linkage, {});
  lastResults.resize(refs.size());
  resolveArena();
  if (engine.trace)
    nameSteps();
}

Executor::BoundStep Executor::bind(const Step &step, const Linkage &linkage,
                                   llvm::ArrayRef<uint32_t> around,
                                   std::unique_ptr<Routine> *&nextRoutine) {
  if (const auto *launch = std::get_if<Launch>(&step))
    return BoundLaunch{linkage.kernels[launch->kernel],
                       bind(launch->args, linkage, around), launch->grid,
                       boundedBlock(launch->grid, launch->block)};
  if (const auto *call = std::get_if<Call>(&step))
    return BoundCall{std::move(*nextRoutine++),
                     bind(call->args, linkage, around), call->grid,
                     boundedBlock(call->grid, call->block)};
  if (const auto *repeat = std::get_if<Repeat>(&step))
    return BoundRepeat{repeat->rounds, repeat->steps, {}};
  const auto &copy = std::get<Copy>(step);
  std::vector<BufferRef> refs = {copy.to, copy.from};
  if (copy.flag)
    refs.push_back(*copy.flag);
  return BoundCopy{bind(refs, linkage, around), copy.bytes, bool(copy.flag)};
}

void Executor::nameSteps() {
  for (const StepCost &cost :
       costsOf(description, names,
               std::vector<std::vector<double>>(steps.size()))) {
    std::string detail = cost.kernel;
    for (const Location &source : cost.sources)
      if (std::string place = source.str(); !place.empty())
        detail += " " + place;
    stepLabels.push_back(engine.trace->name(cost.summary, detail));
  }
}

/// Appends the addresses of `refs` to the table; patches fill in those of
/// inputs and the arena later.
size_t Executor::bind(llvm::ArrayRef<BufferRef> refs, const Linkage &linkage,
                      llvm::ArrayRef<uint32_t> around) {
  size_t first = addresses.size();
  for (const BufferRef &ref : refs) {
    size_t slot = addresses.size();
    addresses.push_back(nullptr);
    for (auto [repeat, stride] : llvm::zip(around, ref.strides))
      if (stride)
        std::get<BoundRepeat>(steps[repeat]).advances.push_back({slot, stride});
    switch (ref.space) {
    case BufferRef::Space::Variable:
      addresses[slot] = linkage.variables[ref.index] + ref.offset;
      break;
    case BufferRef::Space::Constant:
      addresses[slot] = linkage.constants[ref.index] + ref.offset;
      break;
    case BufferRef::Space::Staging:
      inputPatches.push_back({slot, ref.index, ref.offset});
      break;
    case BufferRef::Space::Arena:
      arenaPatches.push_back({slot, 0, ref.offset});
      break;
    }
  }
  return first;
}

void Executor::resolveArena() {
  for (const Patch &patch : arenaPatches)
    addresses[patch.slot] = engine.arena.base() + patch.offset;
}

void Executor::bindInputs(Inputs inputs) {
  // Inputs are only read; kernels take all their arguments as void *.
  for (const Patch &patch : inputPatches)
    addresses[patch.slot] =
        static_cast<char *>(const_cast<void *>(inputs[patch.input].data())) +
        patch.offset;
}

void Executor::poisonBefore(size_t number) {
  for (const Buffer &buffer : poisoned[number])
    std::memset(engine.arena.base() + buffer.offset, kPoison, buffer.bytes);
  engine.scratch.fill(kPoison);
}

/// Runs a step, with its name in the trace.
void Executor::runStep(size_t number) {
  if (engine.trace)
    engine.pool.setLabel(stepLabels[number]);
  if (!poisoned.empty())
    poisonBefore(number);
  std::visit([&](auto &bound) { runStep(bound); }, steps[number]);
}

void Executor::advance(const BoundRepeat &repeat, int64_t rounds) {
  for (auto [slot, stride] : repeat.advances)
    addresses[slot] = static_cast<char *>(addresses[slot]) + rounds * stride;
}

template <typename Run>
void Executor::forEachRound(const BoundRepeat &repeat, Run run) {
  for (int64_t round = 0; round < repeat.rounds; ++round) {
    run();
    advance(repeat, 1);
  }
  advance(repeat, -repeat.rounds);
}

void Executor::runSteps(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    runStep(i);
    if (auto *repeat = std::get_if<BoundRepeat>(&steps[i])) {
      size_t last = i + repeat->steps;
      forEachRound(*repeat, [&] { runSteps(i + 1, last + 1); });
      i = last;
    }
  }
}

void Executor::execute(Inputs inputs) {
  engine.arena.release();
  TraceSpan span(engine.trace.get(), Trace::Kind::Step, description.function);
  bindInputs(inputs);
  runSteps(0, steps.size());
  for (size_t i = 0; i < lastResults.size(); ++i)
    lastResults[i] = addresses[firstResult + i];
}

llvm::Expected<Executable::Ticket> Executor::start(Inputs inputs) {
  execute(inputs);
  if (engine.ranks)
    if (llvm::Error error = engine.ranks->failure())
      return std::move(error);
  return runs++;
}

llvm::Expected<Executable::Results> Executor::results(Ticket ticket) {
  if (ticket + 1 != runs)
    return makeError("'{0}': the results of run {1} are not kept, only those "
                     "of the last",
                     description.function, ticket);
  return Results(description, lastResults);
}

void Executor::runStep(BoundLaunch &launch) {
  void *const *args = addresses.data() + launch.first;
  forEachBlock(engine.pool, launch.grid, launch.block,
               [&](int64_t begin, int64_t end, unsigned worker) {
                 launch.function(args, begin, end, engine.scratch.of(worker));
               });
}

void Executor::runStep(BoundCall &call) {
  void *const *args = addresses.data() + call.first;
  forEachBlock(engine.pool, call.grid, call.block,
               [&](int64_t begin, int64_t end, unsigned worker) {
                 call.routine->run(args, begin, end, engine.scratch.of(worker),
                                   worker);
               });
}

/// Copies on all workers.
static void copyBytes(ThreadPool &pool, void *to, const void *from,
                      int64_t bytes) {
  // One core's share of the second-level cache is enough to be worth a claim.
  constexpr int64_t bytesPerTask = 256 << 10;
  forEachBlock(
      pool, bytes, bytesPerTask, [&](int64_t begin, int64_t end, unsigned) {
        std::memcpy(static_cast<char *>(to) + begin,
                    static_cast<const char *>(from) + begin, end - begin);
      });
}

void Executor::runStep(BoundCopy &copy) {
  void *const *args = addresses.data() + copy.first;
  if (copy.guarded && *static_cast<const uint8_t *>(args[2]) == 0)
    return;
  if (args[0] != args[1])
    copyBytes(engine.pool, args[0], args[1], copy.bytes);
}

//===----------------------------------------------------------------------===//
// Profile
//===----------------------------------------------------------------------===//

/// The microseconds that a call takes.
template <typename Work> static double timed(Work work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now() - start)
      .count();
}

llvm::Expected<double> Executor::measureCopy() {
  uint64_t bytes = profiledCopyBytes(usableMemory().bytes);
  auto from = Memory::allocate(bytes, "the source of a copy to measure");
  if (!from)
    return from.takeError();
  auto to = Memory::allocate(bytes, "the target of a copy to measure");
  if (!to)
    return to.takeError();
  // Pages that were never written are all the same zero page.
  std::memset(from->data(), 1, bytes);
  std::vector<double> times;
  for (unsigned run = 0; run <= kProfileRuns; ++run) {
    double time =
        timed([&] { copyBytes(engine.pool, to->data(), from->data(), bytes); });
    if (run) // the first copy maps the target's pages
      times.push_back(time);
  }
  return copyRate(bytes, median(std::move(times)));
}

void Executor::runAllRounds(llvm::ArrayRef<uint32_t> around, BoundStep &step) {
  if (around.empty())
    return std::visit([&](auto &bound) { runStep(bound); }, step);
  forEachRound(std::get<BoundRepeat>(steps[around.front()]),
               [&] { runAllRounds(around.drop_front(), step); });
}

/// Adds the microseconds of each step; a step that is repeated takes the time
/// of all its rounds.
void Executor::measureSteps(std::vector<std::vector<double>> &times) {
  for (auto [step, around, own] :
       llvm::zip_equal(steps, description.repeatsOfSteps(), times))
    own.push_back(timed(
        [&, &step = step, &around = around] { runAllRounds(around, step); }));
}

llvm::Expected<Profile> Executor::measure(Inputs inputs) {
  Profile profile;
  profile.graphNodes = steps.size();
  llvm::Expected<double> host = timeSubmits(*this, inputs);
  if (!host)
    return host.takeError();
  profile.hostMicroseconds = *host;
  bindInputs(inputs);
  std::vector<std::vector<double>> times(steps.size());
  for (ProfileRuns runs; runs.next();)
    measureSteps(times);
  profile.launches = costsOf(description, names, std::move(times));
  llvm::Expected<double> rate = measureCopy();
  if (!rate)
    return rate.takeError();
  profile.copyGbps = *rate;
  return profile;
}
