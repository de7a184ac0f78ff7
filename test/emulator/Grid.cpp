//===- Grid.cpp - runs a kernel's blocks ----------------------------------===//

#include "Grid.h"

#include "Block.h"
#include "Call.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>

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
  context.gridBarrier = [](unsigned *arrived, Site site) {
    running->gridBarrier(arrived, site);
  };
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

static Dim3 blockAt(const Dim3 &grid, unsigned at) {
  return {at % grid.x, at / grid.x % grid.y, at / grid.x / grid.y};
}

/// Runs blocks in an order, each to its end. Returns the error.
static CUresult runInTurn(const Launch &launch, Context &context, unsigned seed,
                          const std::vector<unsigned> &order,
                          std::string *fault) {
  BlockRunner runner(launch, context, seed);
  running = &runner;
  for (unsigned at : order) {
    runner.begin(blockAt(launch.grid, at));
    if (runner.advance() == BlockRunner::End::Fault)
      break;
  }
  *fault = runner.fault();
  return runner.error();
}

/// Runs blocks from one barrier of the grid to the next. Returns the error.
static CUresult runTogether(const Launch &launch, Context &context,
                            unsigned seed, const std::vector<unsigned> &order,
                            std::string *fault) {
  std::vector<std::unique_ptr<BlockRunner>> runners;
  for (unsigned at : order) {
    runners.push_back(
        std::make_unique<BlockRunner>(launch, context, seed ? seed + at : 0));
    runners.back()->begin(blockAt(launch.grid, at));
  }
  for (size_t waiting = runners.size(); waiting == runners.size();) {
    waiting = 0;
    for (const auto &runner : runners) {
      running = runner.get();
      BlockRunner::End end = runner->advance();
      if (end == BlockRunner::End::Fault) {
        *fault = runner->fault();
        return runner->error();
      }
      waiting += end == BlockRunner::End::AtGrid;
    }
    if (waiting != 0 && waiting != runners.size()) {
      *fault = format("%s: %zu of %zu blocks wait at a barrier of the grid "
                      "that the others never reach",
                      launch.kernel->name, waiting, runners.size());
      return CUDA_ERROR_LAUNCH_FAILED;
    }
  }
  return CUDA_SUCCESS;
}

CUresult runGrid(const Launch &launch) {
  static unsigned launches = 0;
  unsigned seed = static_cast<unsigned>(setting(getenv("MP_EMULATOR_SEED"), 0));
  if (seed)
    seed = seed * 2654435761u + ++launches; // another order at each launch
  Context context = makeContext();
  std::vector<unsigned> order(launch.grid.x * launch.grid.y * launch.grid.z);
  std::iota(order.begin(), order.end(), 0u);
  if (seed)
    std::shuffle(order.begin(), order.end(), std::minstd_rand(seed));
  *launch.context = &context;
  std::string fault;
  CUresult error;
  {
    SignalGuard guard;
    error = launch.cooperative
                ? runTogether(launch, context, seed, order, &fault)
                : runInTurn(launch, context, seed, order, &fault);
  }
  running = nullptr;
  *launch.context = nullptr;
  log(format("%s grid=%zu block=%u shared=%u read=%llu written=%llu",
             launch.kernel->name, order.size(),
             launch.block.x * launch.block.y * launch.block.z,
             launch.sharedBytes, context.bytesRead, context.bytesWritten));
  if (error) {
    log("fault " + fault);
    fprintf(stderr, "mantissa emulator: %s\n", fault.c_str());
  }
  return error;
}

} // namespace mp::emulator
