//===- ThreadPool.cpp - workers that share out the tasks of a launch ------===//
#include "runtime/ThreadPool.h"
#include "runtime/GroupLimits.h"
#include "runtime/Trace.h"
#include "support/SignalStack.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <chrono>
#include <limits>
#include <sched.h>
#include <thread>
#include <utility>

using namespace mp;

namespace {

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Looks for `ready` at full speed for some 20 microseconds, then between
/// yields, which free the core for other threads. Returns whether `ready` came
/// true. Waking a thread that sleeps costs its waker 10 microseconds and takes
/// 50 or more on a virtual machine, so looking goes on for longer than most
/// gaps between two launches.
template <typename Condition> bool spinUntil(Condition ready, bool crowded) {
  using Clock = std::chrono::steady_clock;
  constexpr int pauses = 1000;
  constexpr std::chrono::microseconds patience(400);
  for (int i = 0; !crowded && i < pauses; ++i) {
    if (ready())
      return true;
    pause();
  }
  for (Clock::time_point end = Clock::now() + patience; !ready();) {
    if (Clock::now() > end)
      return false;
    std::this_thread::yield();
  }
  return true;
}

} // namespace

ThreadPool::ThreadPool(unsigned threads, Trace *trace) : trace(trace) {
  if (trace) {
    waiting = trace->name("wait for the other workers");
    label = trace->name("set up"); // until setLabel is called
  }
  threads = workers(threads);
  crowded = threads > cores();
  shares = std::make_unique<Share[]>(threads);
  helpers.reserve(threads - 1);
  for (unsigned worker = 1; worker < threads; ++worker)
    helpers.emplace_back([this, worker] { helper(worker); });
}

unsigned ThreadPool::workers(unsigned threads) {
  return threads ? std::min(threads, most()) : cores();
}

static unsigned coresOfAffinity() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(CPU_COUNT(&set), 1);
  return std::max(llvm::thread::hardware_concurrency(), 1u);
}

unsigned ThreadPool::coresWithin(unsigned cores, std::optional<double> quota) {
  if (!quota || *quota >= cores)
    return cores;
  return std::max(static_cast<unsigned>(*quota), 1u);
}

unsigned ThreadPool::cores() {
  static const std::optional<double> quota = GroupLimits::read().cores;
  return coresWithin(coresOfAffinity(), quota);
}

ThreadPool::~ThreadPool() {
  stopping.store(true);
  launches.fetch_add(1);
  launches.notify_all();
  for (llvm::thread &thread : helpers)
    thread.join();
}

/// The time that a worker spends on one call of `run`.
class ThreadPool::Stint {
public:
  explicit Stint(const ThreadPool &pool) : pool(pool) {}
  ~Stint() { record(); }
  /// Called before a task. The claim keeps `calls` and `label` unchanged.
  void begin() {
    if (!pool.trace || (working && pool.calls == call))
      return;
    record();
    working = true;
    call = pool.calls;
    name = pool.label;
    start = Trace::Clock::now();
  }
  void end() {
    if (pool.trace)
      stop = Trace::Clock::now();
  }

private:
  void record() {
    if (std::exchange(working, false))
      pool.trace->add(Trace::Kind::Kernel, name, start, stop);
  }

  const ThreadPool &pool;
  bool working = false;
  uint32_t name = 0;
  uint64_t call = 0;
  Trace::Time start, stop;
};

std::optional<uint32_t> ThreadPool::Share::claim() {
  uint64_t left = tasks.load(std::memory_order_acquire);
  while (!isEmpty(left))
    if (tasks.compare_exchange_weak(left, left + 1, std::memory_order_acq_rel,
                                    std::memory_order_acquire))
      return static_cast<uint32_t>(left);
  return std::nullopt;
}

/// Runs tasks until none is left, its own share first. A claimed task keeps
/// `run` from returning, so `function` is read only after a claim.
void ThreadPool::drain(unsigned worker) {
  Stint stint(*this);
  int64_t done = 0;
  for (unsigned i = 0; i < threads(); ++i)
    while (auto task = shares[(worker + i) % threads()].claim()) {
      stint.begin();
      (*function)(*task, worker);
      stint.end();
      ++done;
    }
  if (done && unfinished.fetch_sub(done, std::memory_order_acq_rel) == done)
    unfinished.notify_one();
}

/// Returns false if the pool is being destroyed.
bool ThreadPool::awaitLaunch(uint32_t after) {
  while (!spinUntil([&] { return launches.load() != after; }, crowded)) {
    // Sequentially consistent with `run`: either it sees the sleeper, or the
    // sleeper sees the launch.
    sleepers.fetch_add(1);
    launches.wait(after);
    sleepers.fetch_sub(1);
  }
  return !stopping.load();
}

void ThreadPool::helper(unsigned worker) {
  SignalStack stack;
  uint32_t seen = 0;
  while (awaitLaunch(seen)) {
    // Read first, so that a launch in the meantime is seen next.
    seen = launches.load();
    drain(worker);
  }
}

void ThreadPool::run(int64_t count, Function body) {
  if (count <= 0)
    return;
  if (helpers.empty() || count == 1)
    return runAlone(count, body);
  constexpr int64_t most = std::numeric_limits<uint32_t>::max();
  if (count > most) {
    run(most, body);
    return run(count - most, [&](int64_t task, unsigned worker) {
      body(most + task, worker);
    });
  }
  function = &body;
  ++calls;
  unfinished.store(count, std::memory_order_relaxed);
  shareOut(count);
  launches.fetch_add(1);
  if (sleepers.load() != 0)
    launches.notify_all();
  drain(0);
  awaitOthers();
}

void ThreadPool::shareOut(uint32_t count) {
  uint64_t workers = threads(), first = 0;
  for (uint64_t worker = 0; worker < workers; ++worker) {
    uint64_t end = llvm::divideCeil((worker + 1) * count, workers);
    shares[worker].set(first, end);
    first = end;
  }
}

/// Runs all tasks on the calling thread.
void ThreadPool::runAlone(int64_t count, Function body) {
  Trace::Time begin;
  if (trace)
    begin = Trace::Clock::now();
  for (int64_t task = 0; task < count; ++task)
    body(task, 0);
  if (trace)
    trace->add(Trace::Kind::Kernel, label, begin);
}

void ThreadPool::awaitOthers() {
  Trace::Time begin;
  if (trace)
    begin = Trace::Clock::now();
  auto finished = [this] {
    return unfinished.load(std::memory_order_acquire) == 0;
  };
  if (!spinUntil(finished, crowded))
    for (int64_t left;
         (left = unfinished.load(std::memory_order_acquire)) != 0;)
      unfinished.wait(left, std::memory_order_acquire);
  if (trace)
    trace->add(Trace::Kind::Wait, waiting, begin);
}

void ThreadPool::runOnEach(llvm::function_ref<void(unsigned)> body) {
  // No worker leaves before all have come, so none runs two of the tasks.
  std::atomic<unsigned> present = 0;
  run(threads(), [&](int64_t, unsigned worker) {
    present.fetch_add(1);
    while (present.load() != threads())
      std::this_thread::yield();
    body(worker);
  });
}
