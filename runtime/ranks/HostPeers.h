//===- HostPeers.h - ranks of one host watch each other ---------*- C++ -*-===//
//
// NCCL mostly does not notice that a rank on its own host has ended or stopped:
// kernels wait for it without an end. So the ranks of a host share a file in
// memory. Each counts in it, and says how many collectives it has started and
// whether it is busy; and each holds a lock on a byte of it, which the kernel
// releases when a process ends, however it does.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_RANKS_HOSTPEERS_H
#define MP_RUNTIME_RANKS_HOSTPEERS_H

#include "runtime/ranks/Communicator.h"
#include "runtime/ranks/RanksOptions.h"
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace mp {

/// A thread of its own watches, whatever the others of this process do.
class HostPeers {
public:
  /// Finds the ranks on this host; every rank calls it. Null if there are no
  /// others, or if they share no files in memory. Errors are those of `ranks`.
  static llvm::Expected<std::unique_ptr<HostPeers>>
  meet(Communicator &ranks, const RanksOptions &options);
  /// Opens a file that is there, for a rank of `size`. Null: it cannot be
  /// opened or locked.
  static std::unique_ptr<HostPeers> open(const std::string &path, int64_t rank,
                                         int64_t size,
                                         const RanksOptions &options);
  /// Tells the others that this rank starts nothing any more.
  ~HostPeers();
  HostPeers(const HostPeers &) = delete;

  /// Begins to watch the `members`, all of which have opened the file.
  void watch(std::vector<int64_t> members);

  void setBusy(bool busy);
  /// This rank starts a collective, and waits in it until `finished`.
  void started(Communicator::Ticket ticket, std::string text);
  void finished();

  /// Why the group has failed, or "". If nobody asks for five seconds, as this
  /// process hangs too, the thread that watches ends it with the message.
  std::string failure();
  /// Ends all ranks of the host; the first to call it prints its message.
  [[noreturn]] void abort(llvm::StringRef message);

private:
  using Clock = std::chrono::steady_clock;
  enum State : uint32_t { Idle, Busy, Left };
  struct Member {
    std::atomic<uint64_t> beats, started;
    std::atomic<uint32_t> state;
  };
  /// In memory that the ranks share; zeros at first.
  struct Shared {
    std::atomic<uint32_t> said; ///< a rank has written why all end
    Member members[1];          ///< as many as there are ranks
  };
  /// What this rank knows of another one.
  struct Peer {
    int64_t rank;
    uint64_t beats = 0;
    Clock::time_point heard, busyUntil;
  };
  struct Waiting {
    Communicator::Ticket ticket;
    std::string text;
    Clock::time_point since;
  };

  HostPeers(int file, Shared *shared, int64_t rank, int64_t size,
            const RanksOptions &options);
  void run();
  std::string look(Clock::time_point now);
  std::string lookAt(Peer &peer, Clock::time_point now) const;
  bool hasEnded(int64_t rank) const;
  Member &member(int64_t rank) const { return shared->members[rank]; }
  static uint64_t bytes(int64_t size) {
    return sizeof(Shared) + size * sizeof(Member);
  }

  int file;
  Shared *shared;
  int64_t rank, size;
  Clock::duration every, deadAfter, lateAfter;
  std::vector<Peer> peers;
  Clock::time_point looked; ///< this process may have been stopped since
  std::atomic<bool> speaks = false;

  std::mutex mutex; ///< of all below
  std::condition_variable woken;
  std::optional<Waiting> waiting;
  std::string reason;
  Clock::time_point failedAt;
  bool asked = false; ///< for the reason
  bool stopping = false;
  std::thread thread;
};

} // namespace mp

#endif // MP_RUNTIME_RANKS_HOSTPEERS_H
