//===- Exchange.h - one collective after the other, over MPI --------------===//
//
// A collective begins with a message from every rank to every other one that
// says what it has started, so that ranks which differ notice before any data
// moves, and a rank that waits knows for whom. Up to kInline bytes of tensors
// travel in it, and then nothing else does. Larger ones follow in pieces:
//
//   all_reduce      rank r gets slice r of every rank, reduces in the order of
//                   ranks, and sends the slice to all. MPI_Allreduce promises
//                   no order.
//   reduce_scatter  the first half of that
//   all_gather      each rank sends to all
//   broadcast       MPI_Ibcast
//
// Each rank sends to each other one, a message for each tensor's part, from
// where it lies to where it belongs: MPI's collectives would have to be given
// one row of bytes, and copy a rank's own.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_RANKS_EXCHANGE_H
#define MP_RUNTIME_RANKS_EXCHANGE_H

#include "runtime/ranks/Peers.h"
#include "runtime/ranks/TensorRuns.h"
#include "llvm/ADT/SmallString.h"

namespace mp {

/// A collective that a rank has started.
struct StartedJob {
  Communicator::Ticket ticket = 0;
  Collective collective;
  std::vector<const void *> from;
  std::vector<void *> to;
};

/// Used by the thread that calls MPI alone.
class Exchange {
public:
  Exchange(MpiAccess mpi, Peers &peers, uint64_t pieceBytes)
      : mpi(mpi), peers(peers), pieceBytes(pieceBytes) {}

  /// Runs a collective to its end. Returns what has made the group fail, or "".
  /// After a failure, nothing may be run any more.
  std::string run(const StartedJob &job);
  /// When the last collective that has run had been started by all ranks.
  RankClock::time_point met() const { return metAt; }

private:
  /// Bytes of tensors in a row.
  struct Range {
    uint64_t begin, end;
  };

  bool meet(const StartedJob &job);
  bool compare(const StartedJob &job);
  void finishInline(const StartedJob &job);
  bool allReduce(const StartedJob &job);
  bool reduceScatter(const StartedJob &job);
  bool allGather(const StartedJob &job);
  bool broadcast(const StartedJob &job);

  /// Starts to send a part of tensors to a rank, a message for each run.
  bool send(int rank, const TensorRuns &tensors, Range range);
  /// Starts to receive what a rank sends of tensors with such runs: into them,
  /// or in a row to `to`.
  bool receive(int rank, const TensorRuns &tensors, Range range,
               char *to = nullptr);
  bool swap(llvm::function_ref<bool(int rank)> give,
            llvm::function_ref<bool(int rank)> get);
  /// Waits for all that `send` and `receive` have started.
  bool finishAll();
  /// Where a rank's bytes of a range are received.
  char *received(int rank, Range range);
  void reduceTo(const TensorRuns &result, const TensorRuns &own, Range range,
                const Collective &collective);

  template <typename Data>
  void divide(llvm::ArrayRef<Data *> data, const Collective &collective,
              int64_t share);

  void describe(const StartedJob &job);
  /// The beginning of the message of a rank, and its tensors.
  char *message(int rank);
  /// Waits for a request that `call` has made with `code`.
  bool finish(int code, const char *call, MpiRequest &request);
  bool check(int code, const char *call);
  /// Whether the group still works.
  bool go(bool waitsLong, RankClock::time_point begin);
  /// The buffer, with room for so many bytes.
  static char *room(std::vector<char> &buffer, uint64_t bytes);

  MpiAccess mpi;
  Peers &peers;
  uint64_t pieceBytes;
  std::string failure;
  RankClock::time_point metAt;
  llvm::SmallString<512> text; ///< of the collective that runs
  TensorRuns from, to;
  std::vector<TensorRuns> parts; ///< one for each rank
  /// They grow to what the largest collective needs, and stay.
  std::vector<char> messages, packed, receiving;
  std::vector<MpiRequest> sends, receives, requests;
  std::vector<bool> hasSent, hasReceived;
};

} // namespace mp

#endif // MP_RUNTIME_RANKS_EXCHANGE_H
