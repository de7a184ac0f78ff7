//===- NcclGroup.cpp - the ranks of an emulated communicator --------------===//

#include "NcclGroup.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace mp::emulator {

/// After which a rank that does not come is missed.
constexpr std::chrono::seconds patience(60);

NcclGroup::NcclGroup(std::string name, int ranks, int rank)
    : ranks(ranks), rank(rank), name(std::move(name)) {}

NcclGroup::~NcclGroup() {
  for (int file : files)
    close(file);
  if (!shared)
    return;
  own().state = NcclShared::Gone;
  munmap(shared, sizeof(NcclShared));
}

void NcclGroup::fail(const std::string &reason) {
  std::lock_guard guard(mutex);
  if (text.empty())
    text = reason;
  if (shared)
    own().state = NcclShared::Gone;
}

std::string NcclGroup::problem() const {
  std::lock_guard guard(mutex);
  return text;
}

static bool isGone(const NcclShared::Member &member) {
  return member.state == NcclShared::Gone ||
         (member.state == NcclShared::Joined && kill(member.process, 0) != 0 &&
          errno == ESRCH);
}

bool NcclGroup::waitFor(const std::string &what,
                        const std::function<bool(const Member &)> &reached) {
  auto end = std::chrono::steady_clock::now() + patience;
  for (int other = 0; other < ranks; ++other)
    while (!reached(shared->members[other])) {
      if (!problem().empty()) // another thread has given up
        return false;
      const Member &member = shared->members[other];
      bool gone = isGone(member);
      // It may have done its part just before it ended.
      if (gone && !reached(member)) {
        fail("rank " + std::to_string(rank) + " waits in " + what +
             ", but rank " + std::to_string(other) + " has ended");
        return false;
      }
      if (std::chrono::steady_clock::now() > end) {
        fail("rank " + std::to_string(rank) + " waits in " + what +
             ", but rank " + std::to_string(other) + " does not come");
        return false;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  return true;
}

bool NcclGroup::refuse(const std::string &call) {
  fail(call + ": " + strerror(errno));
  return false;
}

bool NcclGroup::map(int flags) {
  int file = shm_open(name.c_str(), O_RDWR | flags, 0600);
  if (file < 0 ||
      ((flags & O_CREAT) && ftruncate(file, sizeof(NcclShared)) != 0))
    return false;
  void *memory = mmap(nullptr, sizeof(NcclShared), PROT_READ | PROT_WRITE,
                      MAP_SHARED, file, 0);
  struct stat facts = {};
  bool whole =
      fstat(file, &facts) == 0 && facts.st_size >= off_t(sizeof(NcclShared));
  close(file);
  if (memory == MAP_FAILED)
    return false;
  shared = static_cast<NcclShared *>(memory);
  return whole;
}

/// Waits until rank 0 has made the group. A crash may have left an earlier one.
bool NcclGroup::mapOfRankZero() {
  auto end = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < end) {
    bool whole = map(0);
    if (whole && shared->members[0].state == NcclShared::Joined &&
        !isGone(shared->members[0]))
      return true;
    if (shared)
      munmap(shared, sizeof(NcclShared));
    shared = nullptr;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  fail("rank 0 does not listen");
  return false;
}

bool NcclGroup::join(bool atAddress) {
  if (!atAddress) {
    if (!map(O_CREAT))
      return refuse("shared memory");
  } else if (rank == 0) {
    shm_unlink(name.c_str());
    if (!map(O_CREAT | O_EXCL))
      return refuse("shared memory");
  } else if (!mapOfRankZero()) {
    return false;
  }
  int expected = 0;
  if (!shared->ranks.compare_exchange_strong(expected, ranks) &&
      expected != ranks) {
    text = "rank " + std::to_string(rank) + " expects " +
           std::to_string(ranks) + " ranks, another one " +
           std::to_string(expected);
    return false;
  }
  files.push_back(shm_open(fileName(rank).c_str(), O_RDWR | O_CREAT, 0600));
  own().process = getpid();
  int absent = NcclShared::Absent;
  if (!own().state.compare_exchange_strong(absent, NcclShared::Joined)) {
    text = "rank " + std::to_string(rank) + " is there twice";
    return false;
  }
  if (!waitFor("ncclCommInitRank", [](const Member &member) {
        return member.state == NcclShared::Joined;
      }))
    return false;
  int mine = files.front();
  files.clear();
  for (int other = 0; other < ranks; ++other)
    files.push_back(
        other == rank ? mine : shm_open(fileName(other).c_str(), O_RDWR, 0600));
  // The names go once all have opened them, so that a crash leaves none.
  if (++shared->ready == ranks) {
    for (int other = 0; other < ranks; ++other)
      shm_unlink(fileName(other).c_str());
    shm_unlink(name.c_str());
  }
  return true;
}

bool NcclGroup::exchange(const std::vector<char> &bytes,
                         const std::string &what) {
  if (!waitFor(what,
               [&](const Member &member) { return member.finished >= groups; }))
    return false;
  if (pwrite(files[rank], bytes.data(), bytes.size(), 0) !=
      static_cast<ssize_t>(bytes.size())) {
    fail(std::string("shared memory: ") + strerror(errno));
    return false;
  }
  own().published = groups + 1;
  return waitFor(
      what, [&](const Member &member) { return member.published > groups; });
}

bool NcclGroup::read(int from, uint64_t offset, void *to, uint64_t bytes) {
  if (pread(files[from], to, bytes, offset) == static_cast<ssize_t>(bytes))
    return true;
  fail("rank " + std::to_string(from) + " has given too few bytes");
  return false;
}

} // namespace mp::emulator
