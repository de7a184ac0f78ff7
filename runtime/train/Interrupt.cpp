//===- Interrupt.cpp - stopping on Ctrl-C at a safe point -----------------===//
#include "runtime/train/Interrupt.h"
#include <atomic>

namespace mp {

static std::atomic<int> received = 0;
static_assert(std::atomic<int>::is_always_lock_free,
              "a signal handler may touch it");

static void handle(int signal) {
  if (received.exchange(signal) == 0)
    return;
  // This call blocks the signal; it is delivered when it returns.
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

Interrupt::Interrupt(bool active) : active(active) {
  if (!active)
    return;
  received = 0;
  struct sigaction action = {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &oldInterrupt);
  sigaction(SIGTERM, &action, &oldTerminate);
}

Interrupt::~Interrupt() {
  if (!active)
    return;
  sigaction(SIGINT, &oldInterrupt, nullptr);
  sigaction(SIGTERM, &oldTerminate, nullptr);
}

int Interrupt::requested() const { return active ? received.load() : 0; }

} // namespace mp
