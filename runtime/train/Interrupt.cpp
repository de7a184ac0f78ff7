//===- Interrupt.cpp - stopping on Ctrl-C at a safe point -----------------===//
#include "runtime/train/Interrupt.h"
#include <atomic>

namespace mp {

static std::atomic<bool> flag = false;
static_assert(std::atomic<bool>::is_always_lock_free,
              "a signal handler may touch it");

Interrupt::Interrupt(bool active) : active(active) {
  if (!active)
    return;
  flag = false;
  struct sigaction action = {};
  action.sa_handler = [](int) { flag = true; };
  // SA_RESETHAND gives the second signal the default action.
  action.sa_flags = SA_RESETHAND | SA_RESTART;
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

bool Interrupt::requested() const { return active && flag; }

} // namespace mp
