//===- ThreadRanks.cpp - ranks that are threads of one process ------------===//
#include "runtime/ranks/ThreadRanks.h"
#include "runtime/ranks/CollectiveResult.h"
#include "runtime/ranks/FailureText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

using namespace mp;

namespace {

/// A rank's part in a collective.
struct Offer {
  std::string text;
  llvm::SmallVector<const void *> from;
  llvm::SmallVector<void *> to;
};

/// A collective that has been started by one rank at least, and has not ended.
struct Meeting {
  Collective collective;
  std::vector<std::optional<Offer>> offers;
  bool done = false;

  bool complete() const {
    return llvm::all_of(offers, [](auto &offer) { return offer.has_value(); });
  }
  /// The lowest rank that takes part.
  StartedCollective first() const {
    auto it = llvm::find_if(offers, [](auto &o) { return o.has_value(); });
    return {it - offers.begin(), (*it)->text};
  }
  /// Computes what every rank gets.
  void finish() {
    llvm::SmallVector<RankTensors> ranks;
    for (auto &offer : offers)
      ranks.push_back({offer->from, offer->to});
    computeCollective(collective, ranks);
  }
};

/// What the ranks share.
struct Group {
  explicit Group(int64_t size) : gone(size), size(size) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Meeting> meetings;
  uint64_t ended = 0; ///< the number of the first of `meetings`
  std::vector<bool> gone;
  std::string failure;
  int finishing = 0; ///< threads that read and write what ranks gave
  int64_t size;

  /// The meeting of a collective, which has not ended. With `mutex` held.
  Meeting &meeting(uint64_t ticket, const Collective &collective) {
    while (meetings.size() <= ticket - ended)
      meetings.push_back({collective, std::vector<std::optional<Offer>>(size)});
    return meetings[ticket - ended];
  }
  void fail(std::string message) {
    if (failure.empty())
      failure = std::move(message);
    changed.notify_all();
  }
  /// Fails if a rank that is gone is missed.
  void missGone() {
    for (auto [index, meeting] : llvm::enumerate(meetings))
      for (int64_t rank = 0; rank < size; ++rank)
        if (gone[rank] && !meeting.offers[rank])
          return fail(endedBefore(ended + index, rank, meeting.first()));
  }
};

class ThreadRank : public Communicator {
public:
  ThreadRank(std::shared_ptr<Group> group, int64_t rank)
      : group(std::move(group)), own(rank) {}
  ~ThreadRank() override;

  int64_t rank() const override { return own; }
  int64_t size() const override { return group->size; }
  Ticket start(const Collective &collective, llvm::ArrayRef<const void *> from,
               llvm::ArrayRef<void *> to) override;
  void wait(Ticket ticket) override;
  llvm::Error failure() override;
  [[noreturn]] void abort(llvm::StringRef message) override;

private:
  std::shared_ptr<Group> group;
  int64_t own;
  Ticket started = 0;
};

Communicator::Ticket ThreadRank::start(const Collective &collective,
                                       llvm::ArrayRef<const void *> from,
                                       llvm::ArrayRef<void *> to) {
  Ticket ticket = started++;
  std::unique_lock lock(group->mutex);
  if (!group->failure.empty())
    return ticket;
  Meeting &meeting = group->meeting(ticket, collective);
  Offer &offer = meeting.offers[own].emplace();
  offer.text = collective.str();
  offer.from.assign(from.begin(), from.end());
  offer.to.assign(to.begin(), to.end());
  for (int64_t other = 0; other < group->size; ++other)
    if (auto &theirs = meeting.offers[other];
        theirs && theirs->text != offer.text) {
      group->fail(differ(ticket, {own, offer.text}, {other, theirs->text}));
      return ticket;
    }
  group->missGone();
  if (!group->failure.empty() || !meeting.complete())
    return ticket;
  // Nobody else touches a complete meeting, and a deque moves none of its
  // elements when others come and go at its ends.
  ++group->finishing;
  lock.unlock();
  meeting.finish();
  lock.lock();
  --group->finishing;
  meeting.done = true;
  while (!group->meetings.empty() && group->meetings.front().done) {
    group->meetings.pop_front();
    ++group->ended;
  }
  group->changed.notify_all();
  return ticket;
}

void ThreadRank::wait(Ticket ticket) {
  std::unique_lock lock(group->mutex);
  group->changed.wait(lock, [&] {
    return group->ended > ticket ||
           (!group->failure.empty() && group->finishing == 0);
  });
}

llvm::Error ThreadRank::failure() {
  std::lock_guard lock(group->mutex);
  if (group->failure.empty())
    return llvm::Error::success();
  return llvm::createStringError(group->failure);
}

void ThreadRank::abort(llvm::StringRef message) {
  // Held to the end of the process, so that other ranks write nothing.
  static std::mutex once;
  once.lock();
  writeLast(message);
  std::_Exit(1);
}

ThreadRank::~ThreadRank() {
  {
    std::lock_guard lock(group->mutex);
    group->gone[own] = true;
    group->missGone();
  }
  if (started > 0)
    wait(started - 1);
}

} // namespace

std::vector<std::unique_ptr<Communicator>> mp::createThreadRanks(int64_t size) {
  auto group = std::make_shared<Group>(size);
  std::vector<std::unique_ptr<Communicator>> ranks;
  for (int64_t rank = 0; rank < size; ++rank)
    ranks.push_back(std::make_unique<ThreadRank>(group, rank));
  return ranks;
}
