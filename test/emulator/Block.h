//===- Block.h - the threads of one block ---------------------------------===//
#ifndef MP_EMULATOR_BLOCK_H
#define MP_EMULATOR_BLOCK_H

#include "Cuda.h"
#include "Fiber.h"
#include "Grid.h"
#include "Shadow.h"
#include "Warp.h"

#include <memory>
#include <random>

namespace mp::emulator {

/// A copy to shared memory that has not arrived.
struct AsyncCopy {
  unsigned char *to;
  const void *from;
  int bytes, valid;
};

struct Thread {
  enum State { Ready, AtBarrier, AtWarp, Done };

  int number = 0;
  Dim3 index;
  State state = Ready;
  Fiber *fiber = nullptr; // from its first turn to its last
  Site site{};            // the place where it waits
  bool atGrid = false;    // for all blocks
  WarpCall *call = nullptr;
  std::vector<std::vector<AsyncCopy>> copies; // the last group is still open
};

/// Runs blocks of one launch, one at a time.
class BlockRunner {
public:
  BlockRunner(const Launch &launch, Context &context, unsigned seed);
  ~BlockRunner();

  enum class End { Done, AtGrid, Fault };

  void begin(Dim3 block);
  /// Runs the block to its end or to the next barrier of the grid. Says
  /// `Fault` on a fault: see `fault`.
  End advance();
  CUresult error() const { return faultCode; }
  const std::string &fault() const { return faultText; }

  // The requests of a running thread.
  void barrier(Site site);
  void gridBarrier(unsigned *arrived, Site site);
  void warp(WarpCall *call);
  void sharedAccess(const void *address, size_t size, bool write);
  void copyAsync(void *to, const void *from, int bytes, int valid);
  void commitCopies();
  void waitForCopies(int left);
  void checkTensor(const void *data, long long bytes);
  void globalFault(const void *data, long long index, int count,
                   long long limit, bool write);
  /// A signal says that `address` may not be accessed.
  void badAddress(const void *address);
  std::minstd_rand &random() { return generator; }
  bool shuffled() const { return seed != 0; }

private:
  void enter();
  void waitAt(Site site, bool atGrid);
  void leaveBarrier();
  void makeReady(int first, int count);
  void runTurns();
  void turn(Thread &thread);
  bool passBarrier();
  void explainStop();
  /// Ends the block; called by a thread, it does not return.
  [[noreturn]] void failThread(CUresult code, const std::string &text);
  void fail(CUresult code, const std::string &text, const Thread *thread);
  void land(const AsyncCopy &copy);
  Moment now() const;
  size_t sharedOffset(const void *address, size_t size, const char *what);
  size_t alignedOffset(const void *address, size_t size, const char *what);
  std::string bufferName(const void *data) const;

  const Launch &launch;
  Context &context;
  unsigned seed;
  std::minstd_rand generator;
  GuardedRange *shared;
  Shadow *shadow;
  std::vector<Thread> threads;
  std::vector<uint32_t> warpEpochs;
  std::vector<int> arrived; // lanes at the warp's call
  std::vector<int> ready;   // the next to run is last
  std::vector<void *> parameters;
  Thread *current = nullptr;
  Dim3 block;
  int waiting = 0, done = 0;
  bool isAtGrid = false;
  CUresult faultCode = CUDA_SUCCESS;
  std::string faultText;
};

} // namespace mp::emulator

#endif // MP_EMULATOR_BLOCK_H
