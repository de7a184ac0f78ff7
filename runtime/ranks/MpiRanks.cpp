//===- MpiRanks.cpp - ranks that are processes, which MPI connects --------===//
#include "runtime/ranks/MpiRanks.h"
#include "runtime/ranks/Exchange.h"
#include "runtime/ranks/FailureText.h"
#include "runtime/ranks/MpiPlugin.h"
#include "runtime/ranks/OrderedReduce.h"
#include "support/Error.h"
#include <condition_variable>
#include <future>
#include <limits>
#include <mutex>
#include <sched.h>
#include <thread>

using namespace mp;
using namespace std::chrono_literals;

namespace {

/// The jobs that wait, in order. Their memory is used again.
class JobQueue {
public:
  bool empty() const { return first == last; }
  /// The job behind the last one, which `push` then adds.
  StartedJob &next() {
    if (last - first == jobs.size())
      grow();
    return jobs[last % jobs.size()];
  }
  void push() { ++last; }
  void pop(StartedJob &job) { std::swap(job, jobs[first++ % jobs.size()]); }

private:
  void grow() {
    std::vector<StartedJob> more(std::max<size_t>(jobs.size() * 2, 16));
    for (uint64_t i = first; i < last; ++i)
      std::swap(more[i % more.size()], jobs[i % jobs.size()]);
    jobs = std::move(more);
  }
  std::vector<StartedJob> jobs;
  uint64_t first = 0, last = 0;
};

/// `ended` after a failure: nobody waits any more.
constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();

class MpiRanks : public Communicator {
public:
  explicit MpiRanks(const RanksOptions &options) : options(options) {}
  llvm::Error open(const MpiTable &table);
  ~MpiRanks() override;

  int64_t rank() const override { return mpi.rank; }
  int64_t size() const override { return mpi.size; }
  Ticket start(const Collective &collective, llvm::ArrayRef<const void *> from,
               llvm::ArrayRef<void *> to) override;
  void wait(Ticket ticket) override;
  llvm::Error failure() override;
  void setBusy(bool busy) override { peers->busy.store(busy); }
  [[noreturn]] void abort(llvm::StringRef message) override;

private:
  llvm::Error join(const MpiTable &table, bool ownsMpi);
  llvm::Expected<bool> allHaveThreads(bool own);
  void communicate();
  bool takeJob();
  void run(StartedJob &job);
  void fail(std::string message);
  void leave();

  RanksOptions options;
  MpiAccess mpi = {};
  std::unique_ptr<Peers> peers;
  std::unique_ptr<Exchange> exchange;
  /// The only one that calls MPI. Without it, callers do.
  bool hasThread = false;
  std::thread thread;
  StartedJob current; ///< of the thread that calls MPI

  std::mutex mutex; ///< of all below
  std::condition_variable woken;
  JobQueue queue;
  std::string reason;
  bool stopping = false;
  /// The number of jobs that have ended, or kAll.
  std::atomic<uint64_t> ended = 0;
};

/// Tells whether every rank has a thread for MPI, which all learn.
llvm::Expected<bool> MpiRanks::allHaveThreads(bool own) {
  std::vector<int> counts(mpi.size, 1), offsets(mpi.size);
  std::string all(mpi.size, '\0');
  for (int rank = 0; rank < mpi.size; ++rank)
    offsets[rank] = rank;
  char mine = own;
  MpiRequest request;
  int done = 0;
  int code = mpi.table->allGather(mpi.group, &mine, 1, all.data(),
                                  counts.data(), offsets.data(), &request);
  while (code == 0 && !done) {
    code = mpi.table->test(&request, &done);
    sched_yield();
  }
  if (code != 0)
    return makeError("the ranks cannot exchange messages over MPI");
  return all.find('\0') == std::string::npos;
}

/// Joins the group, in the thread that will call MPI.
llvm::Error MpiRanks::join(const MpiTable &table, bool ownsMpi) {
  mpi.table = &table;
  if (int code = table.open(options.communicator, &mpi.group)) {
    char text[512];
    table.errorText(code, text);
    return makeError("cannot start MPI: {0}", text);
  }
  MpiThreads threads;
  table.describe(mpi.group, &mpi.rank, &mpi.size, &threads);
  hasThread = ownsMpi || threads != MpiThreads::None;
  auto watched = allHaveThreads(hasThread);
  if (!watched)
    return watched.takeError();
  peers = std::make_unique<Peers>(mpi, options, *watched);
  exchange = std::make_unique<Exchange>(mpi, *peers, options.pieceBytes);
  return llvm::Error::success();
}

llvm::Error MpiRanks::open(const MpiTable &table) {
  int initialized = 0;
  table.initialized(&initialized);
  if (options.communicator && options.libraryVersion != table.libraryVersion())
    return makeError("this program has another MPI than libmantissa-mpi.so: "
                     "{0}, and {1}",
                     options.libraryVersion, table.libraryVersion());
  if (initialized) {
    if (llvm::Error error = join(table, /*ownsMpi=*/false))
      return error;
    if (hasThread)
      thread = std::thread([this] { communicate(); });
    return llvm::Error::success();
  }
  // MPI is initialised, used and ended by one thread, the least that it offers.
  std::promise<std::string> joined;
  thread = std::thread([&] {
    std::string error = llvm::toString(join(table, /*ownsMpi=*/true));
    bool works = error.empty();
    joined.set_value(std::move(error)); // `joined` and `table` are gone now
    if (works)
      communicate();
  });
  std::string error = joined.get_future().get();
  if (error.empty())
    return llvm::Error::success();
  thread.join();
  return llvm::createStringError(error);
}

void MpiRanks::fail(std::string message) {
  std::lock_guard lock(mutex);
  if (reason.empty())
    reason = std::move(message);
  ended.store(kAll);
  ended.notify_all();
}

void MpiRanks::run(StartedJob &job) {
  auto begin = RankClock::now();
  std::string failure = exchange->run(job);
  if (!failure.empty())
    return fail(std::move(failure));
  if (observer)
    observer(job.collective, begin, exchange->met());
  ended.store(job.ticket + 1);
  ended.notify_all();
}

/// Looks for a job for about as long as a program computes between two small
/// collectives; then sleeps until there is one, but for what Peers sends.
/// Returns false after the last job.
bool MpiRanks::takeJob() {
  auto begin = RankClock::now();
  while (true) {
    std::unique_lock lock(mutex);
    if (!queue.empty()) {
      queue.pop(current);
      return true;
    }
    if (stopping)
      return false;
    auto now = RankClock::now();
    if (now - begin < 200us) {
      lock.unlock();
      sched_yield();
      continue;
    }
    woken.wait_for(lock, peers->interval() / 2);
    lock.unlock();
    peers->poll(RankClock::now());
    if (std::string failure = peers->failure(); !failure.empty())
      fail(std::move(failure));
  }
}

void MpiRanks::communicate() {
  while (takeJob())
    if (ended.load() != kAll)
      run(current);
  leave();
}

/// Ends this rank's part. After a failure nothing of MPI is certain to return,
/// so it is left as it is, and so is what it may still write to.
void MpiRanks::leave() {
  if (ended.load() != kAll && peers->leave()) {
    mpi.table->close(mpi.group);
    return;
  }
  [[maybe_unused]] Exchange *kept = exchange.release();
  [[maybe_unused]] Peers *watched = peers.release();
}

MpiRanks::~MpiRanks() {
  if (!peers)
    return; // `open` failed
  if (!hasThread) {
    leave();
    return;
  }
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  woken.notify_one();
  thread.join();
}

static void fill(StartedJob &job, Communicator::Ticket ticket,
                 const Collective &collective,
                 llvm::ArrayRef<const void *> from, llvm::ArrayRef<void *> to) {
  job.ticket = ticket;
  job.collective = collective;
  job.from.assign(from.begin(), from.end());
  job.to.assign(to.begin(), to.end());
}

Communicator::Ticket MpiRanks::start(const Collective &collective,
                                     llvm::ArrayRef<const void *> from,
                                     llvm::ArrayRef<void *> to) {
  Ticket ticket = peers->started++;
  if (ended.load() == kAll)
    return ticket;
  if (!hasThread) {
    fill(current, ticket, collective, from, to);
    run(current);
    return ticket;
  }
  {
    std::lock_guard lock(mutex);
    fill(queue.next(), ticket, collective, from, to);
    queue.push();
  }
  woken.notify_one();
  return ticket;
}

void MpiRanks::wait(Ticket ticket) {
  auto begin = RankClock::now();
  for (uint64_t seen; (seen = ended.load()) <= ticket;)
    if (RankClock::now() - begin < 200us)
      sched_yield();
    else
      ended.wait(seen);
}

llvm::Error MpiRanks::failure() {
  std::lock_guard lock(mutex);
  if (reason.empty())
    return llvm::Error::success();
  return llvm::createStringError(reason);
}

void MpiRanks::abort(llvm::StringRef message) {
  if (!hasThread)
    peers->abort(message);
  peers->askAbort(message);
  woken.notify_one();
  std::this_thread::sleep_for(10s);
  // MPI does not return.
  writeLast(message);
  std::_Exit(1);
}

} // namespace

llvm::Expected<std::unique_ptr<Communicator>>
mp::openMpiRanks(const RanksOptions &options) {
  auto table = openMpi();
  if (!table)
    return table.takeError();
  auto ranks = std::make_unique<MpiRanks>(options);
  if (llvm::Error error = ranks->open(*table))
    return std::move(error);
  return ranks;
}
