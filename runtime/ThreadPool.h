//===- ThreadPool.h - workers that share out the tasks of a launch --------===//
//
// A step is some forty launches of 10 to 500 microseconds, so handing out work
// must cost next to nothing: no allocation, no lock, and workers that look for
// the next launch a while before they sleep. Each worker has the same share of
// the tasks in every launch, so that what it wrote in one step is in its own
// cache in the next, and helps the others when it is done. What a task computes
// must depend on its number alone; then results are the same with any number of
// threads.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_THREADPOOL_H
#define MP_RUNTIME_THREADPOOL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/thread.h"
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace mp {

class Trace;

class ThreadPool {
public:
  /// `task` in [0, tasks), `worker` in [0, threads()).
  using Function = llvm::function_ref<void(int64_t task, unsigned worker)>;

  /// Starts `threads` workers, including the thread of the caller, but no more
  /// than `most`. 0 stands for one for each core that this process may use.
  /// `trace`, which may be null, gets the time that each worker spends on a
  /// call of `run`. If the system refuses a thread, LLVM ends the process with
  /// an error.
  explicit ThreadPool(unsigned threads = 0, Trace *trace = nullptr);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned threads() const { return helpers.size() + 1; }
  /// Returns the number of workers of a pool that was made with `threads`.
  static unsigned workers(unsigned threads);
  /// Returns the number of cores that this process may use, by its affinity and
  /// the quota of its control groups, and the limit of workers. With more,
  /// waiting for them takes longer than their work.
  static unsigned cores();
  /// Returns the whole cores of a quota, as a thread more would have to wait
  /// for the next period in the middle of a step; at least one.
  static unsigned coresWithin(unsigned cores, std::optional<double> quota);
  static unsigned most() { return 16 * cores(); }

  /// Sets the name of later runs in the trace, which Trace::name gave.
  void setLabel(uint32_t name) { label = name; }

  /// Calls `function` once for every task and returns when all are done. The
  /// caller is worker 0. Not to be called from within a task, nor from two
  /// threads at a time. Allocates nothing.
  void run(int64_t tasks, Function function);

  /// Calls `function` once on every worker's own thread.
  void runOnEach(llvm::function_ref<void(unsigned worker)> function);

private:
  class Stint;

  /// The tasks of a worker that are not claimed yet. Both bounds are one number
  /// so that no claim falls between the end of one launch and the start of the
  /// next. Each share has a cache line of its own.
  class alignas(64) Share {
  public:
    void set(uint32_t first, uint32_t end) {
      tasks.store(static_cast<uint64_t>(end) << 32 | first);
    }
    std::optional<uint32_t> claim();

  private:
    static bool isEmpty(uint64_t tasks) {
      return static_cast<uint32_t>(tasks) == tasks >> 32;
    }
    std::atomic<uint64_t> tasks = 0; ///< the first and, in high bits, the end
  };

  void helper(unsigned worker);
  void drain(unsigned worker);
  void runAlone(int64_t tasks, Function function);
  void awaitOthers();
  bool awaitLaunch(uint32_t after);

  void shareOut(uint32_t count);

  std::unique_ptr<Share[]> shares; ///< by worker
  // Fields that change once per launch and the one that changes with it lie on
  // different cache lines.
  alignas(64) std::atomic<int64_t> unfinished = 0;
  alignas(64) std::atomic<uint32_t> launches = 0; ///< changes with every launch
  std::atomic<uint32_t> sleepers = 0;
  std::atomic<bool> stopping = false;
  const Function *function = nullptr; ///< valid while `unfinished` is not 0
  bool crowded = false; ///< more workers than cores: waiting must not spin
  uint64_t calls = 0;   ///< number of calls of `run` so far
  uint32_t label = 0, waiting = 0; ///< names in `trace`
  Trace *const trace;
  std::vector<llvm::thread> helpers;
};

} // namespace mp

#endif // MP_RUNTIME_THREADPOOL_H
