//===- Peers.h - which of the other ranks live, and what they do ----------===//
//
// Every rank tells every other one each second that it lives, how many
// collectives it has started, and whether it is busy, in a message of a few
// bytes. From these a rank that waits knows for whom, and for how long.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_RANKS_PEERS_H
#define MP_RUNTIME_RANKS_PEERS_H

#include "runtime/mpi/MpiTable.h"
#include "runtime/ranks/FailureText.h"
#include "runtime/ranks/MpiRanks.h"
#include <atomic>
#include <chrono>

namespace mp {

using RankClock = std::chrono::steady_clock;

/// What the table is asked for, and by whom.
struct MpiAccess {
  const MpiTable *table;
  MpiGroup *group;
  int rank, size;
};

/// Used by the thread that calls MPI alone, but for the atomics and
/// `askAbort`.
class Peers {
public:
  /// `watched`: all ranks have a thread that sends. If not, nobody does, and
  /// nobody is late or dead.
  Peers(MpiAccess mpi, const RanksOptions &options, bool watched);

  /// What this rank tells the others.
  std::atomic<uint64_t> started = 0;
  std::atomic<bool> busy = false;

  /// Sends and receives what is due; costs next to nothing if nothing is. Ends
  /// the process if this or another rank has asked for it.
  void poll(RankClock::time_point now);
  RankClock::duration interval() const { return every; }

  /// Whether a rank, whoever waits for it, does not answer; the message names
  /// it.
  std::string failure() const;
  /// Whether `peer` keeps this rank, which has waited since `since`, from
  /// collective `ticket`.
  std::string lateness(int peer, Communicator::Ticket ticket,
                       llvm::StringRef text, RankClock::time_point since) const;

  /// Tells the others that this rank starts nothing any more, and waits for
  /// them to say so. Returns whether they did.
  bool leave();
  /// Makes `poll` end all processes; the lowest rank that lives prints the
  /// message.
  void askAbort(llvm::StringRef message);
  /// Does so at once.
  [[noreturn]] void abort(llvm::StringRef message);

private:
  enum class State : uint8_t { Idle, Busy, Left, Aborting };
  struct Message {
    uint64_t started;
    State state;
    char text[983];
  };
  /// The length of a message whose text is empty.
  static constexpr int kShort = 16;
  struct Peer {
    Message in = {}, out = {};
    MpiRequest receiving, sending;
    bool receives = false, sends = false;
    uint64_t started = 0;
    State state = State::Idle;
    RankClock::time_point heard, busyUntil;
  };

  void receive(int rank, RankClock::time_point now);
  bool send(int rank, State state, llvm::StringRef text = "");
  /// Whether a send that was under way has ended.
  bool sent(Peer &peer);
  bool dead(const Peer &peer) const;
  int lowestLiving() const;
  [[noreturn]] void end(llvm::StringRef message);

  MpiAccess mpi;
  std::string abortMessage; ///< written before `aborts`
  std::atomic<bool> aborts = false;
  std::vector<Peer> peers;
  bool watched;
  RankClock::duration every, deadAfter, lateAfter;
  /// When this rank last looked. It may have been stopped since.
  RankClock::time_point looked, nextSend;
};

} // namespace mp

#endif // MP_RUNTIME_RANKS_PEERS_H
