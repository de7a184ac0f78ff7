//===- Executor.h - an entry point, resolved to addresses -----------------===//
//
// Loading turns every argument of an entry point into an address in one table,
// so that a run patches the inputs' addresses and then only walks the steps.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_CPU_EXECUTOR_H
#define MP_RUNTIME_CPU_EXECUTOR_H

#include "runtime/Memory.h"
#include "runtime/Profile.h"
#include "runtime/Session.h"
#include "runtime/ThreadPool.h"
#include "runtime/Trace.h"
#include "runtime/cpu/Jit.h"
#include "runtime/cpu/Poison.h"
#include "runtime/cpu/Routine.h"

namespace mp {

/// The parts that all entry points of a Session share.
struct Engine {
  Engine(unsigned threads, std::shared_ptr<Trace> trace,
         std::shared_ptr<Communicator> ranks)
      : trace(std::move(trace)), ranks(std::move(ranks)),
        pool(threads, this->trace.get()), scratch(pool.threads()) {}
  const std::shared_ptr<Trace> trace;        ///< may be null
  const std::shared_ptr<Communicator> ranks; ///< null: there is one rank
  ThreadPool pool;
  Arena arena;
  WorkerScratch scratch;
};

/// The addresses and functions that the indices of a Program stand for.
struct Linkage {
  std::vector<char *> variables, constants;
  std::vector<KernelFunction> kernels;
  std::vector<KernelName> names; ///< of the kernels
};

class Executor final : public Executable {
public:
  /// `routines` are those of the entry's calls, in their order. `resolveArena`
  /// fills in the addresses in the arena.
  Executor(Entry entry, const Linkage &linkage,
           std::vector<std::unique_ptr<Routine>> routines, Engine &engine);

  /// Must be called after the arena has grown.
  void resolveArena();

  const Entry &entry() const override { return description; }
  llvm::Expected<Results> results(Ticket ticket) override;
  /// Runs all steps on the threads of the Engine, and waits for them.
  void execute(Inputs inputs);

protected:
  llvm::Expected<Ticket> start(Inputs inputs) override;
  llvm::Expected<Profile> measure(Inputs inputs) override;

private:
  /// A step; its addresses begin at `first` in `addresses`.
  struct BoundLaunch {
    KernelFunction function;
    size_t first;
    int64_t grid, block;
  };
  struct BoundCall {
    std::unique_ptr<Routine> routine;
    size_t first;
    int64_t grid, block;
  };
  struct BoundCopy {
    size_t first; ///< index of to, from and, if `guarded`, the flag
    uint64_t bytes;
    bool guarded;
  };
  /// An address that moves between the rounds of a Repeat.
  struct Advance {
    size_t slot;
    int64_t stride;
  };
  struct BoundRepeat {
    int64_t rounds;
    size_t steps;
    std::vector<Advance> advances;
  };
  using BoundStep =
      std::variant<BoundLaunch, BoundCall, BoundCopy, BoundRepeat>;

  void bindInputs(Inputs inputs);
  void nameSteps();
  /// Poisons the buffers that step `number` is the first to write, and scratch.
  void poisonBefore(size_t number);
  llvm::Expected<double> measureCopy();
  /// `around` are the numbers of the Repeats around the step.
  size_t bind(llvm::ArrayRef<BufferRef> refs, const Linkage &linkage,
              llvm::ArrayRef<uint32_t> around);
  BoundStep bind(const Step &step, const Linkage &linkage,
                 llvm::ArrayRef<uint32_t> around,
                 std::unique_ptr<Routine> *&nextRoutine);
  /// Runs the steps from `begin` to before `end`.
  void runSteps(size_t begin, size_t end);
  /// Calls `run` for each round of a Repeat, and moves the addresses of its
  /// steps between them.
  template <typename Run> void forEachRound(const BoundRepeat &repeat, Run run);
  /// Moves the addresses of the steps of a Repeat on by some rounds.
  void advance(const BoundRepeat &repeat, int64_t rounds);
  /// Runs a step in all rounds of the Repeats around it.
  void runAllRounds(llvm::ArrayRef<uint32_t> around, BoundStep &step);
  void measureSteps(std::vector<std::vector<double>> &times);
  void runStep(size_t number);
  void runStep(BoundRepeat &) {}
  void runStep(BoundLaunch &launch);
  void runStep(BoundCall &call);
  void runStep(BoundCopy &copy);

  /// An address that can change after the entry point is loaded.
  struct Patch {
    size_t slot;
    uint32_t input;
    uint64_t offset;
  };

  Entry description;
  Engine &engine;
  std::vector<KernelName> names; ///< of the program's kernels
  std::vector<BoundStep> steps;
  std::vector<std::vector<Buffer>> poisoned; ///< by step, or empty
  std::vector<uint32_t> stepLabels;          ///< filled if there is a trace
  std::vector<void *> addresses;
  std::vector<Patch> arenaPatches, inputPatches;
  size_t firstResult = 0;
  std::vector<const void *> lastResults;
  Ticket runs = 0;
};

} // namespace mp

#endif // MP_RUNTIME_CPU_EXECUTOR_H
