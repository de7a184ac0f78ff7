//===- Peers.cpp - which of the other ranks live, and what they do --------===//
#include "runtime/ranks/Peers.h"
#include "runtime/ranks/FailureText.h"
#include <cstring>
#include <thread>

using namespace mp;
using namespace std::chrono_literals;

/// The tag of these messages; Exchange has 1.
static constexpr int kTag = 2;
/// How often messages are looked for.
static constexpr auto kLook = 5ms;

static RankClock::duration seconds(double value) {
  return std::chrono::duration_cast<RankClock::duration>(
      std::chrono::duration<double>(value));
}

Peers::Peers(MpiAccess mpi, const RanksOptions &options, bool watched)
    : mpi(mpi), peers(mpi.size), watched(watched),
      deadAfter(seconds(options.deadAfterSeconds)),
      lateAfter(seconds(options.lateAfterSeconds)) {
  every = std::min<RankClock::duration>(1s, deadAfter / 5);
  looked = nextSend = RankClock::now();
  for (int rank = 0; rank < mpi.size; ++rank) {
    peers[rank].heard = peers[rank].busyUntil = looked;
    if (watched && rank != mpi.rank)
      peers[rank].receives =
          mpi.table->receive(mpi.group, &peers[rank].in, sizeof(Message), rank,
                             kTag, &peers[rank].receiving) == 0;
  }
}

void Peers::receive(int rank, RankClock::time_point now) {
  Peer &peer = peers[rank];
  for (int done = 1; peer.receives;) {
    if (mpi.table->test(&peer.receiving, &done) != 0 || !done)
      return;
    peer.started = peer.in.started;
    peer.state = peer.in.state;
    peer.heard = now;
    if (peer.state == State::Busy)
      peer.busyUntil = now;
    if (peer.state == State::Aborting)
      end(llvm::StringRef(peer.in.text,
                          strnlen(peer.in.text, sizeof(peer.in.text))));
    // Nothing comes after the last message, so no receive stays open.
    peer.receives = peer.state != State::Left &&
                    mpi.table->receive(mpi.group, &peer.in, sizeof(Message),
                                       rank, kTag, &peer.receiving) == 0;
  }
}

bool Peers::sent(Peer &peer) {
  int done = 0;
  if (peer.sends && mpi.table->test(&peer.sending, &done) == 0 && done)
    peer.sends = false;
  return !peer.sends;
}

bool Peers::send(int rank, State state, llvm::StringRef text) {
  Peer &peer = peers[rank];
  if (!sent(peer))
    return false;
  text = text.take_front(sizeof(peer.out.text) - 1);
  peer.out.started = started.load();
  peer.out.state = state;
  std::memcpy(peer.out.text, text.data(), text.size());
  peer.out.text[text.size()] = '\0';
  int bytes = text.empty() ? kShort : sizeof(Message);
  peer.sends = mpi.table->send(mpi.group, &peer.out, bytes, rank, kTag,
                               &peer.sending) == 0;
  return true;
}

void Peers::poll(RankClock::time_point now) {
  auto gap = now - looked;
  if (gap < kLook)
    return;
  if (aborts.load())
    abort(abortMessage);
  if (!watched)
    return;
  looked = now;
  // This process was stopped: the others may have spoken all the time.
  if (gap > 2 * every)
    for (Peer &peer : peers) {
      peer.heard += gap;
      peer.busyUntil += gap;
    }
  for (int rank = 0; rank < mpi.size; ++rank)
    receive(rank, now);
  if (now < nextSend)
    return;
  nextSend = now + every;
  // Also to those that have left, who wait for this rank to leave.
  for (int rank = 0; rank < mpi.size; ++rank)
    if (rank != mpi.rank)
      send(rank, busy.load() ? State::Busy : State::Idle);
}

bool Peers::dead(const Peer &peer) const {
  return watched && &peer != &peers[mpi.rank] && peer.state != State::Left &&
         looked - peer.heard > deadAfter;
}

std::string Peers::failure() const {
  for (int rank = 0; rank < mpi.size; ++rank)
    if (dead(peers[rank]))
      return hasNotAnswered(rank, looked - peers[rank].heard);
  return "";
}

std::string Peers::lateness(int rank, Communicator::Ticket ticket,
                            llvm::StringRef text,
                            RankClock::time_point since) const {
  const Peer &peer = peers[rank];
  // Its part in the collective may still be on its way.
  if (peer.state == State::Left && looked - peer.heard > 1s)
    return endedBefore(ticket, rank, {mpi.rank, text});
  // One that does not answer is not late, but perhaps dead.
  bool answers = looked - peer.heard < 3 * every;
  auto waited = looked - std::max(since, peer.busyUntil);
  if (!watched || !answers || peer.state != State::Idle ||
      peer.started > ticket || waited <= lateAfter)
    return "";
  return isLate(ticket, rank, {mpi.rank, text}, waited);
}

bool Peers::leave() {
  if (!watched)
    return true;
  for (int rank = 0; rank < mpi.size; ++rank)
    while (rank != mpi.rank && !send(rank, State::Left)) {
      poll(RankClock::now());
      if (!failure().empty())
        return false;
      std::this_thread::sleep_for(1ms);
    }
  nextSend = RankClock::time_point::max(); // that was the last message
  auto done = [&] {
    bool all = true;
    for (int rank = 0; rank < mpi.size; ++rank)
      if (rank != mpi.rank)
        all &= sent(peers[rank]) && peers[rank].state == State::Left;
    return all;
  };
  while (!done()) {
    poll(RankClock::now());
    if (!failure().empty())
      return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

int Peers::lowestLiving() const {
  for (int rank = 0; rank < mpi.rank; ++rank)
    if (!dead(peers[rank]) && peers[rank].state != State::Left)
      return rank;
  return mpi.rank;
}

void Peers::askAbort(llvm::StringRef message) {
  abortMessage = message.str();
  aborts.store(true);
}

void Peers::abort(llvm::StringRef message) {
  int lowest = watched ? lowestLiving() : mpi.rank;
  // It may be stopped, too; then this rank speaks for it.
  auto limit = RankClock::now() + 5s;
  bool asked = false;
  aborts.store(false); // or `poll` would come here again
  while (lowest != mpi.rank && RankClock::now() < limit) {
    asked = asked || send(lowest, State::Aborting, message);
    poll(RankClock::now());
    std::this_thread::sleep_for(1ms);
  }
  end(message);
}

void Peers::end(llvm::StringRef message) {
  writeLast(message);
  // MPI_Abort waits for a daemon, which may wait for a host that is gone.
  std::thread([] {
    std::this_thread::sleep_for(5s);
    std::_Exit(1);
  }).detach();
  mpi.table->abort(mpi.group, 1);
  std::_Exit(1);
}
