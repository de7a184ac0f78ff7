//===- HostPeers.cpp - ranks of one host watch each other -----------------===//
#include "runtime/ranks/HostPeers.h"
#include "runtime/ranks/FailureText.h"
#include "llvm/ADT/STLExtras.h"
#include <fcntl.h>
#include <fstream>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace mp;
using namespace std::chrono_literals;

/// How soon a process ends that has not asked why the group failed.
static constexpr auto kPatience = 5s;

//===----------------------------------------------------------------------===//
// Finding the others
//===----------------------------------------------------------------------===//

/// The same text on all ranks of a host.
static std::string hostName() {
  std::string text;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), text);
  char name[256] = {};
  if (text.empty() && gethostname(name, sizeof(name) - 1) == 0)
    text = name;
  return text;
}

static std::string newPath() {
  std::random_device random;
  return llvm::formatv("/dev/shm/mantissa-ranks-{0:x-8}{1:x-8}", random(),
                       random())
      .str();
}

static void create(const std::string &path) {
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0)
    close(file);
}

llvm::Expected<std::unique_ptr<HostPeers>>
HostPeers::meet(Communicator &ranks, const RanksOptions &options) {
  auto hosts = gatherTexts(ranks, hostName());
  if (!hosts)
    return hosts.takeError();
  const std::string &own = (*hosts)[ranks.rank()];
  // The first rank of each host makes its file.
  int64_t first = llvm::find(*hosts, own) - hosts->begin();
  bool makes = first == ranks.rank();
  auto paths = gatherTexts(ranks, makes ? newPath() : "");
  if (!paths)
    return paths.takeError();
  const std::string &path = (*paths)[first];
  if (makes)
    create(path);
  if (auto there = gatherTexts(ranks, ""); !there) // the files are
    return there.takeError();
  auto made = open(path, ranks.rank(), ranks.size(), options);
  auto opened = gatherTexts(ranks, made ? path : "");
  if (makes)
    unlink(path.c_str());
  if (!opened)
    return opened.takeError();
  std::vector<int64_t> members;
  for (auto [rank, text] : llvm::enumerate(*opened))
    if (text == path)
      members.push_back(rank);
  if (!made || members.size() < 2)
    return nullptr;
  made->watch(std::move(members));
  return made;
}

static struct flock byteOf(int64_t rank) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = rank;
  lock.l_len = 1;
  return lock;
}

std::unique_ptr<HostPeers> HostPeers::open(const std::string &path,
                                           int64_t rank, int64_t size,
                                           const RanksOptions &options) {
  int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  // The lock is of the open file, so that each rank has its own where ranks are
  // threads of one process.
  struct flock lock = byteOf(rank);
  void *memory = MAP_FAILED;
  if (ftruncate(file, bytes(size)) == 0 && fcntl(file, F_OFD_SETLK, &lock) == 0)
    memory =
        mmap(nullptr, bytes(size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    close(file);
    return nullptr;
  }
  return std::unique_ptr<HostPeers>(
      new HostPeers(file, static_cast<Shared *>(memory), rank, size, options));
}

static std::chrono::steady_clock::duration seconds(double value) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(value));
}

HostPeers::HostPeers(int file, Shared *shared, int64_t rank, int64_t size,
                     const RanksOptions &options)
    : file(file), shared(shared), rank(rank), size(size),
      deadAfter(seconds(options.deadAfterSeconds)),
      lateAfter(seconds(options.lateAfterSeconds)) {
  every = std::min<Clock::duration>(100ms, deadAfter / 5);
}

HostPeers::~HostPeers() {
  member(rank).state.store(Left);
  if (thread.joinable()) {
    {
      std::lock_guard guard(mutex);
      stopping = true;
    }
    woken.notify_one();
    thread.join();
  }
  munmap(shared, bytes(size));
  close(file);
}

//===----------------------------------------------------------------------===//
// What this rank tells the others
//===----------------------------------------------------------------------===//

void HostPeers::setBusy(bool busy) {
  member(rank).state.store(busy ? Busy : Idle);
}

void HostPeers::started(Communicator::Ticket ticket, std::string text) {
  member(rank).started.store(ticket + 1);
  std::lock_guard guard(mutex);
  waiting = Waiting{ticket, std::move(text), Clock::now()};
}

void HostPeers::finished() {
  std::lock_guard guard(mutex);
  waiting.reset();
}

void HostPeers::abort(llvm::StringRef message) {
  speaks.store(true); // or `run` would end the process too soon
  if (shared->said.exchange(1) == 0)
    writeLast(message);
  // Destructors would wait for kernels that wait for other ranks.
  std::_Exit(1);
}

//===----------------------------------------------------------------------===//
// What this rank learns of the others
//===----------------------------------------------------------------------===//

void HostPeers::watch(std::vector<int64_t> members) {
  looked = Clock::now();
  for (int64_t other : members)
    if (other != rank)
      peers.push_back({other, 0, looked, looked});
  thread = std::thread([this] { run(); });
}

void HostPeers::run() {
  std::unique_lock guard(mutex);
  while (!stopping) {
    member(rank).beats.fetch_add(1);
    if (shared->said.load() && !speaks.load())
      std::_Exit(1); // one has said why
    auto now = Clock::now();
    if (reason.empty()) {
      reason = look(now);
      failedAt = now;
    } else if (!asked && now - failedAt > kPatience) {
      abort(reason);
    }
    woken.wait_for(guard, every);
  }
}

std::string HostPeers::look(Clock::time_point now) {
  auto gap = now - looked;
  looked = now;
  for (Peer &peer : peers) {
    if (gap > 2 * every) { // the others may have spoken all the time
      peer.heard += gap;
      peer.busyUntil += gap;
    }
    if (std::string found = lookAt(peer, now); !found.empty())
      return found;
  }
  return "";
}

bool HostPeers::hasEnded(int64_t other) const {
  struct flock lock = byteOf(other);
  return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

std::string HostPeers::lookAt(Peer &peer, Clock::time_point now) const {
  const Member &other = member(peer.rank);
  bool ended = hasEnded(peer.rank); // before its state: it may leave meanwhile
  uint32_t state = other.state.load();
  if (uint64_t beats = other.beats.load(); beats != peer.beats) {
    peer.beats = beats;
    peer.heard = now;
  }
  if (state == Busy)
    peer.busyUntil = now;
  bool misses = waiting && other.started.load() <= waiting->ticket;
  if (state == Left)
    return misses
               ? endedBefore(waiting->ticket, peer.rank, {rank, waiting->text})
               : "";
  if (ended)
    return killed(peer.rank);
  if (now - peer.heard > deadAfter)
    return hasNotAnswered(peer.rank, now - peer.heard);
  if (!misses || state == Busy)
    return "";
  auto waited = now - std::max(waiting->since, peer.busyUntil);
  if (waited <= lateAfter)
    return "";
  return isLate(waiting->ticket, peer.rank, {rank, waiting->text}, waited);
}

std::string HostPeers::failure() {
  std::lock_guard guard(mutex);
  asked |= !reason.empty();
  return reason;
}
