//===- BusErrors.cpp - reading mapped files that shrink -------------------===//
//
// The handler may run while any lock is held, so it only reads a table of
// atomics and makes one system call.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/BusErrors.h"
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace mp {
namespace {

/// `end` is 0 in a free slot. It is written last when a slot is taken, and
/// first when it is freed.
struct Slot {
  std::atomic<uintptr_t> begin = 0, end = 0;
  std::atomic<bool> failed = false;
};
static_assert(std::atomic<uintptr_t>::is_always_lock_free &&
                  std::atomic<bool>::is_always_lock_free,
              "a signal handler may touch them");

std::array<Slot, 256> slots;
std::mutex mutex; ///< for adding and removing
size_t taken = 0;
bool installed = false;
struct sigaction before = {}; ///< valid while `installed`
uintptr_t pageBytes = 4096;

/// Replaces the range from the page of `address` to its end by zeros: whatever
/// the file still has there is of no use.
bool replaceMissing(uintptr_t address) {
  for (Slot &slot : slots) {
    uintptr_t end = slot.end.load();
    if (address >= end || address < slot.begin.load())
      continue;
    uintptr_t page = address & ~(pageBytes - 1);
    void *zeros =
        mmap(reinterpret_cast<void *>(page), end - page, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED)
      return false;
    slot.failed.store(true);
    return true;
  }
  return false;
}

void handle(int signal, siginfo_t *info, void *context) {
  int error = errno;
  bool isFault = info->si_code > 0; // and not sent by a process
  if (isFault && replaceMissing(reinterpret_cast<uintptr_t>(info->si_addr))) {
    errno = error;
    return;
  }
  errno = error;
  if (before.sa_flags & SA_SIGINFO)
    return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    return before.sa_handler(signal);
  // The instruction is run again, and ends the process as it would have.
  sigaction(signal, &before, nullptr);
  if (!isFault)
    raise(signal);
}

bool isOurs(const struct sigaction &action) {
  return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == handle;
}

void install() {
  pageBytes = sysconf(_SC_PAGESIZE);
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  // `before` must be there when the first signal comes.
  if (sigaction(SIGBUS, nullptr, &before) == 0)
    installed = sigaction(SIGBUS, &action, nullptr) == 0;
}

/// A handler that was installed over this one may call it for ever.
void uninstall() {
  struct sigaction now = {};
  if (sigaction(SIGBUS, nullptr, &now) == 0 && isOurs(now))
    installed = sigaction(SIGBUS, &before, nullptr) != 0;
}

} // namespace

std::optional<GuardedRange> GuardedRange::add(const char *begin, size_t bytes) {
  std::lock_guard lock(mutex);
  for (size_t i = 0; i < slots.size(); ++i) {
    Slot &slot = slots[i];
    if (slot.end.load())
      continue;
    auto address = reinterpret_cast<uintptr_t>(begin);
    slot.failed.store(false);
    slot.begin.store(address);
    slot.end.store(address + bytes);
    if (++taken == 1 && !installed)
      install();
    return GuardedRange(i);
  }
  return std::nullopt;
}

GuardedRange::GuardedRange(GuardedRange &&other) noexcept
    : slot(std::exchange(other.slot, std::nullopt)) {}

GuardedRange::~GuardedRange() {
  if (!slot)
    return;
  std::lock_guard lock(mutex);
  slots[*slot].end.store(0);
  if (--taken == 0 && installed)
    uninstall();
}

bool GuardedRange::failed() const { return slots[*slot].failed.load(); }

} // namespace mp
