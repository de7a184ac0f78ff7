//===- Grid.cpp - runs a kernel's blocks ----------------------------------===//

#include "Grid.h"

#include "Block.h"
#include "Call.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace mp::emulator {

static BlockRunner *running;

static Context makeContext() {
  Context context;
  context.sharedAccess = [](const void *address, unsigned size, bool write) {
    running->sharedAccess(address, size, write);
  };
  context.checkTensor = [](const void *data, long long bytes) {
    running->checkTensor(data, bytes);
  };
  context.globalFault = [](const void *data, long long index, int count,
                           long long limit, bool write) {
    running->globalFault(data, index, count, limit, write);
  };
  context.barrier = [](Site site) { running->barrier(site); };
  context.warp = [](WarpCall *call) { running->warp(call); };
  context.copyAsync = [](void *shared, const void *source, int bytes,
                         int valid) {
    running->copyAsync(shared, source, bytes, valid);
  };
  context.commitCopies = [] { running->commitCopies(); };
  context.waitForCopies = [](int left) { running->waitForCopies(left); };
  return context;
}

namespace {
/// While it lives, a bad address in a kernel is the kernel's fault, and does
/// not end the process.
class SignalGuard {
public:
  SignalGuard() {
    // Its own stack: the signal may come from a fiber that has none left.
    static unsigned char stack[64 << 10];
    stack_t alternative{};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof(stack);
    sigaltstack(&alternative, &oldStack);
    struct sigaction action{};
    // The handler does not return, so the signal must not stay blocked.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    action.sa_sigaction = [](int, siginfo_t *info, void *) {
      running->badAddress(info->si_addr);
    };
    sigaction(SIGSEGV, &action, &oldSegv);
    sigaction(SIGBUS, &action, &oldBus);
  }
  ~SignalGuard() {
    sigaction(SIGSEGV, &oldSegv, nullptr);
    sigaction(SIGBUS, &oldBus, nullptr);
    sigaltstack(&oldStack, nullptr);
  }

private:
  stack_t oldStack{};
  struct sigaction oldSegv{}, oldBus{};
};
} // namespace

CUresult runGrid(const Launch &launch) {
  static unsigned launches = 0;
  unsigned seed = static_cast<unsigned>(setting(getenv("MP_EMULATOR_SEED"), 0));
  if (seed)
    seed = seed * 2654435761u + ++launches; // another order at each launch
  Context context = makeContext();
  BlockRunner runner(launch, context, seed);
  std::vector<unsigned> order(launch.grid.x * launch.grid.y * launch.grid.z);
  std::iota(order.begin(), order.end(), 0u);
  if (seed)
    std::shuffle(order.begin(), order.end(), runner.random());
  *launch.context = &context;
  running = &runner;
  {
    SignalGuard guard;
    const Dim3 &grid = launch.grid;
    for (unsigned at : order)
      if (!runner.run(
              {at % grid.x, at / grid.x % grid.y, at / grid.x / grid.y}))
        break;
  }
  running = nullptr;
  *launch.context = nullptr;
  log(format("%s grid=%zu block=%u shared=%u read=%llu written=%llu",
             launch.kernel->name, order.size(),
             launch.block.x * launch.block.y * launch.block.z,
             launch.sharedBytes, context.bytesRead, context.bytesWritten));
  if (runner.error()) {
    log("fault " + runner.fault());
    fprintf(stderr, "mantissa emulator: %s\n", runner.fault().c_str());
  }
  return runner.error();
}

} // namespace mp::emulator
