//===- Communicator.h - the processes that train together -----------------===//
//
// A run may have several ranks: processes that train one model on parts of each
// batch. They meet in collectives alone, which every rank starts in the same
// order. What ranks are, and how they exchange bytes, is the library's that a
// Communicator stands for.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_RANKS_COMMUNICATOR_H
#define MP_RUNTIME_RANKS_COMMUNICATOR_H

#include "program/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <functional>
#include <memory>

namespace mp {

/// An exchange in which all ranks take part, of one or more tensors.
struct Collective {
  enum class Kind {
    AllReduce,     ///< every rank gets the reduction of all ranks' tensors
    AllGather,     ///< every rank gets all ranks' tensors, in their order
    ReduceScatter, ///< rank r gets part r of the reduction
    Broadcast      ///< every rank gets the tensors of `root`
  };
  /// Sum: ((0 + x0) + x1) + ... in the order of ranks, so that its bits do not
  /// depend on timing; f16 and bf16 are added in f32 and rounded once. Max: NaN
  /// wins. Or: for I1.
  enum class Reduction { Sum, Max, Or };

  Kind kind = Kind::AllReduce;
  Reduction reduction = Reduction::Sum;
  ElementType element = ElementType::F32;
  int64_t root = 0;
  /// Elements of each tensor that a rank gives. It gets as many, but from
  /// AllGather `size` times, and from ReduceScatter a part of `size` equal
  /// ones.
  std::vector<int64_t> elements;

  bool reduces() const;
  int64_t elementsOut(size_t tensor, int64_t size) const;
  /// "all_reduce sum f32 [128, 10]", for messages and for the comparison of
  /// what ranks start.
  std::string str() const;
  void print(llvm::raw_ostream &stream) const;
};

/// One rank's end of a group of ranks. The functions of one Communicator are
/// called by one thread at a time.
class Communicator {
public:
  /// The number of a collective, counted from 0.
  using Ticket = uint64_t;

  virtual ~Communicator() = default;
  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;

  /// Starts a collective and returns at once; collectives end in the order in
  /// which they are started. `from` and `to` have an address for each tensor,
  /// in host memory; a broadcast reads `from` of its root alone. Until `wait`
  /// has returned, `from` must not be written and `to` not be touched.
  /// AllReduce and Broadcast may work in place, with the same address in both.
  /// After a failure it does nothing.
  virtual Ticket start(const Collective &collective,
                       llvm::ArrayRef<const void *> from,
                       llvm::ArrayRef<void *> to) = 0;
  /// Waits for a collective, and for all before it. Returns as well when the
  /// group has failed; what the collective gives is then arbitrary.
  virtual void wait(Ticket ticket) = 0;
  /// Whether the group has failed: a rank ended, does not answer, or started
  /// another collective than this one. The message names the rank.
  virtual llvm::Error failure() = 0;

  /// Whether steps on CPUs may exchange their tensors by it. Steps on CUDA
  /// devices have NCCL for them, whatever connects the hosts.
  virtual bool isForCpus() const { return true; }
  /// Between `true` and `false` other ranks wait without limit for this one,
  /// which compiles, evaluates or writes.
  virtual void setBusy(bool busy) {}
  /// Ends all ranks after `message`, which is written once, on standard error.
  [[noreturn]] virtual void abort(llvm::StringRef message) = 0;

  using Time = std::chrono::steady_clock::time_point;
  using Observer =
      std::function<void(const Collective &, Time begin, Time met)>;
  /// Lets processes that have a thread for exchanges tell on it of each that
  /// ends, when its turn came, and when all ranks had started it. To be called
  /// before the first.
  void observe(Observer seen) { observer = std::move(seen); }

protected:
  Observer observer;
};

/// Runs a collective to its end.
llvm::Error run(Communicator &ranks, const Collective &collective,
                llvm::ArrayRef<const void *> from, llvm::ArrayRef<void *> to);
/// Returns the texts of all ranks, in their order.
llvm::Expected<std::vector<std::string>> gatherTexts(Communicator &ranks,
                                                     llvm::StringRef own);
/// Returns the bytes of rank `root` on every rank.
llvm::Expected<std::string>
broadcastText(Communicator &ranks, llvm::StringRef own, int64_t root = 0);

} // namespace mp

#endif // MP_RUNTIME_RANKS_COMMUNICATOR_H
