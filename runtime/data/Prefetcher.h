//===- Prefetcher.h - batches gathered ahead of their use -----------------===//
#ifndef MP_RUNTIME_DATA_PREFETCHER_H
#define MP_RUNTIME_DATA_PREFETCHER_H

#include "runtime/TensorView.h"
#include "runtime/Trace.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/Shuffle.h"
#include "llvm/Support/thread.h"
#include <array>
#include <condition_variable>
#include <mutex>

namespace mp {

struct PrefetchOptions {
  BatchPlan plan;
  uint64_t seed = 0;
  bool shuffle = true;
  int64_t firstStep = 0, lastStep = 0; ///< steps [firstStep, lastStep)
  Trace *trace = nullptr;              ///< gets the times of reading
};

/// Gathers the batches of a data set on a thread of its own into two slots, of
/// which one is filled while the other is read. It has one consumer.
class Prefetcher {
public:
  /// `data` must outlive it. `binding` says which columns feed the inputs.
  Prefetcher(const Dataset &data, ColumnBinding binding,
             const PrefetchOptions &options);
  ~Prefetcher();
  Prefetcher(const Prefetcher &) = delete;

  /// Returns the inputs of the next micro-batch in the order of the binding,
  /// 64-byte aligned and valid until the next call. Nothing after the last
  /// step. Fails with FileChanged if the bytes of this micro-batch are not, or
  /// may not be, those of the files that were opened.
  llvm::Expected<std::optional<llvm::ArrayRef<TensorView>>> next();
  /// Returns the next micro-batch, which there must be.
  llvm::Expected<llvm::ArrayRef<TensorView>> take();
  /// Returns it with the beginnings of samples that are longer than the inputs
  /// of an entry point, which is for its size.
  llvm::Expected<llvm::ArrayRef<TensorView>> take(const Entry &entry);
  /// Returns the seconds that the consumer has waited for micro-batches.
  double secondsWaited() const { return waited; }

private:
  struct FreeAligned {
    void operator()(char *bytes) const { std::free(bytes); }
  };
  struct Slot {
    std::vector<std::unique_ptr<char, FreeAligned>> buffers;
    std::vector<TensorView> inputs;
  };

  /// A micro-batch of a step.
  struct Position {
    int64_t step, micro = 0;
  };

  void run();
  void advance(Position &position) const;
  llvm::Error fill(Slot &slot, Position position);

  const Dataset &data;
  ColumnBinding binding;
  PrefetchOptions options;
  std::array<Slot, 2> slots;
  std::vector<int64_t>
      order; ///< of epoch `orderEpoch`; used by the thread only
  int64_t orderEpoch = -1;

  std::mutex mutex;
  std::condition_variable changed;
  int64_t filled = 0, released = 0; ///< micro-batches, from firstStep on
  int64_t taken = 0;
  double waited = 0; ///< seconds; used by the consumer only
  Position upcoming; ///< the one that `next` returns
  bool stopping = false;
  /// Why the micro-batch after those that were filled could not be.
  std::optional<std::string> problem;
  llvm::thread worker;
};

} // namespace mp

#endif // MP_RUNTIME_DATA_PREFETCHER_H
