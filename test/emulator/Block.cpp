//===- Block.cpp - turns, barriers and warps ------------------------------===//

#include "Block.h"

#include "Call.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace mp::emulator {

// Stacks and shared memory are kept for the next launch: mapping them anew
// takes longer than most kernels.
template <typename T> using Idle = std::vector<T *>;
template <typename T, typename... Args>
static T *take(Idle<T> &idle, Args... args) {
  if (idle.empty())
    return new T(args...);
  T *taken = idle.back();
  idle.pop_back();
  return taken;
}
static Idle<Fiber> &idleFibers() {
  static auto *pool = new Idle<Fiber>;
  return *pool;
}
static Idle<Shadow> &idleShadows() {
  static auto *pool = new Idle<Shadow>;
  return *pool;
}
static Idle<GuardedRange> &idleMemory(unsigned bytes) {
  static auto *pool = new std::map<unsigned, Idle<GuardedRange>>;
  return (*pool)[bytes];
}

static std::string text(Site site) {
  const char *slash = strrchr(site.file, '/');
  return format("%s:%d", slash ? slash + 1 : site.file, site.line);
}
static bool same(Site a, Site b) {
  return a.line == b.line && (a.file == b.file || !strcmp(a.file, b.file));
}

BlockRunner::BlockRunner(const Launch &launch, Context &context, unsigned seed)
    : launch(launch), context(context), seed(seed), generator(seed + 1),
      shared(take(idleMemory(launch.sharedBytes), launch.sharedBytes, 128)),
      shadow(take(idleShadows())) {
  threads.resize(launch.block.x * launch.block.y * launch.block.z);
  size_t warps = (threads.size() + warpSize - 1) / warpSize;
  warpEpochs.resize(warps);
  arrived.resize(warps);
  for (const auto &parameter : launch.parameters)
    parameters.push_back(const_cast<unsigned char *>(parameter.data()));
}

BlockRunner::~BlockRunner() {
  for (Thread &thread : threads)
    if (thread.fiber) // after a fault
      idleFibers().push_back(thread.fiber);
  idleMemory(launch.sharedBytes).push_back(shared);
  idleShadows().push_back(shadow);
}

void BlockRunner::begin(Dim3 newBlock) {
  block = newBlock;
  if (launch.sharedBytes)
    memset(shared->data(), poison, launch.sharedBytes);
  shadow->beginBlock(launch.sharedBytes);
  std::fill(warpEpochs.begin(), warpEpochs.end(), 0);
  std::fill(arrived.begin(), arrived.end(), 0);
  waiting = done = 0;
  for (size_t number = 0; number < threads.size(); ++number) {
    Thread &thread = threads[number];
    unsigned at = static_cast<unsigned>(number);
    thread.number = static_cast<int>(number);
    thread.index = {at % launch.block.x, at / launch.block.x % launch.block.y,
                    at / launch.block.x / launch.block.y};
    thread.copies.clear();
  }
  makeReady(0, static_cast<int>(threads.size()));
}

/// Lets the running thread see this block.
void BlockRunner::enter() {
  context.block = block;
  context.blockSize = launch.block;
  context.gridSize = launch.grid;
  context.shared = shared->data();
  context.watched = shared->mapping();
  context.watchedBytes = shared->mappingSize();
}

/// Threads made ready last run first, lower numbers before higher ones: a warp
/// runs as long as possible while its stacks are in the cache.
void BlockRunner::makeReady(int first, int count) {
  for (int number = first + count - 1; number >= first; --number) {
    threads[number].state = Thread::Ready;
    ready.push_back(number);
  }
}

BlockRunner::End BlockRunner::advance() {
  enter();
  if (std::exchange(isAtGrid, false))
    leaveBarrier();
  do
    runTurns();
  while (faultCode == CUDA_SUCCESS && passBarrier());
  bool finished = done == static_cast<int>(threads.size());
  if (faultCode == CUDA_SUCCESS && !finished && !isAtGrid)
    explainStop();
  return faultCode != CUDA_SUCCESS ? End::Fault
         : isAtGrid                ? End::AtGrid
                                   : End::Done;
}

void BlockRunner::runTurns() {
  while (!ready.empty() && faultCode == CUDA_SUCCESS) {
    if (seed)
      std::swap(ready.back(), ready[generator() % ready.size()]);
    Thread &thread = threads[ready.back()];
    ready.pop_back();
    turn(thread);
  }
}

void BlockRunner::turn(Thread &thread) {
  if (!thread.fiber) {
    thread.fiber = take(idleFibers());
    thread.fiber->start(
        [](void *self) {
          auto *runner = static_cast<BlockRunner *>(self);
          runner->launch.kernel->call(runner->parameters.data());
          runner->current->state = Thread::Done;
        },
        this);
  }
  current = &thread;
  context.thread = thread.index;
  thread.fiber->resume();
  current = nullptr;
  if (thread.state != Thread::Done)
    return;
  ++done;
  idleFibers().push_back(thread.fiber);
  thread.fiber = nullptr;
}

void BlockRunner::barrier(Site site) { waitAt(site, false); }

/// On a device the word counts blocks, and between barriers only its highest
/// bit differs from 0.
void BlockRunner::gridBarrier(unsigned *arrived, Site site) {
  checkTensor(arrived, sizeof(*arrived));
  if (!launch.cooperative)
    failThread(CUDA_ERROR_LAUNCH_FAILED,
               "barrier of the grid at " + text(site) +
                   " in a launch whose blocks need not run at once");
  constexpr unsigned turned = 0x80000000u;
  if (*arrived & ~turned)
    failThread(CUDA_ERROR_LAUNCH_FAILED,
               format("barrier of the grid at %s: its word was %u at first",
                      text(site).c_str(), *arrived));
  if (block.x == 0 && current->number == 0)
    *arrived ^= turned;
  waitAt(site, true);
}

void BlockRunner::waitAt(Site site, bool atGrid) {
  Thread &self = *current;
  self.site = site;
  self.atGrid = atGrid;
  self.state = Thread::AtBarrier;
  ++waiting;
  self.fiber->pause();
}

/// Called when no thread can go on. Returns false if none can after it.
bool BlockRunner::passBarrier() {
  if (waiting != static_cast<int>(threads.size()))
    return false;
  for (const Thread &thread : threads)
    if (!same(thread.site, threads[0].site)) {
      fail(CUDA_ERROR_LAUNCH_FAILED,
           "divergent barrier: it waits at " + text(thread.site) +
               ", thread 0 at " + text(threads[0].site),
           &thread);
      return false;
    }
  isAtGrid = threads[0].atGrid;
  if (!isAtGrid)
    leaveBarrier();
  return !isAtGrid;
}

void BlockRunner::leaveBarrier() {
  waiting = 0;
  shadow->passBarrier();
  makeReady(0, static_cast<int>(threads.size()));
}

/// Explains which threads wait for an event that cannot come.
void BlockRunner::explainStop() {
  const Thread *left = nullptr, *atWarp = nullptr, *atBarrier = nullptr;
  for (const Thread &thread : threads) {
    const Thread *&slot = thread.state == Thread::Done     ? left
                          : thread.state == Thread::AtWarp ? atWarp
                                                           : atBarrier;
    if (!slot)
      slot = &thread;
  }
  if (atWarp) {
    int warp = atWarp->number / warpSize;
    return fail(CUDA_ERROR_LAUNCH_FAILED,
                format("%s at %s: %d lanes of warp %d never come to it",
                       nameOf(atWarp->call->action), text(atWarp->site).c_str(),
                       warpSize - arrived[warp], warp),
                atWarp);
  }
  fail(CUDA_ERROR_LAUNCH_FAILED,
       format("barrier at %s: %d threads have ended without it, thread %d is "
              "one",
              text(atBarrier->site).c_str(), done, left->number),
       atBarrier);
}

void BlockRunner::warp(WarpCall *call) {
  Thread &self = *current;
  int warp = self.number / warpSize, first = warp * warpSize;
  int lanes = std::min<int>(warpSize, static_cast<int>(threads.size()) - first);
  self.call = call;
  self.site = call->site;
  bool whole =
      call->action != WarpAction::Barrier && call->action != WarpAction::Any;
  if (lanes < warpSize && whole)
    failThread(CUDA_ERROR_LAUNCH_FAILED,
               format("%s at %s in a warp of %d lanes", nameOf(call->action),
                      text(call->site).c_str(), lanes));
  if (call->action == WarpAction::Load ||
      call->action == WarpAction::Transpose) {
    alignedOffset(call->first, 16, nameOf(call->action));
    sharedAccess(call->first, 16, false);
  }
  if (++arrived[warp] < lanes) {
    self.state = Thread::AtWarp;
    self.fiber->pause();
    return;
  }
  WarpCall *calls[warpSize];
  for (int lane = 0; lane < lanes; ++lane) {
    calls[lane] = threads[first + lane].call;
    if (calls[lane]->action != call->action ||
        !same(calls[lane]->site, call->site))
      failThread(CUDA_ERROR_LAUNCH_FAILED,
                 format("divergent warp: %s at %s, lane %d: %s at %s",
                        nameOf(call->action), text(call->site).c_str(), lane,
                        nameOf(calls[lane]->action),
                        text(calls[lane]->site).c_str()));
  }
  perform(calls, lanes);
  arrived[warp] = 0;
  if (call->action == WarpAction::Barrier)
    ++warpEpochs[warp];
  // This lane goes on at once, or in its turn if the order is shuffled.
  if (seed) {
    makeReady(first, lanes);
    self.fiber->pause();
    return;
  }
  int after = self.number + 1;
  makeReady(after, first + lanes - after);
  makeReady(first, self.number - first);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Moment BlockRunner::now() const {
  return {current->number, warpEpochs[current->number / warpSize]};
}

size_t BlockRunner::sharedOffset(const void *address, size_t size,
                                 const char *what) {
  long long offset =
      static_cast<const unsigned char *>(address) - shared->data();
  if (offset < 0 || offset + size > launch.sharedBytes)
    failThread(CUDA_ERROR_ILLEGAL_ADDRESS,
               format("%s of %zu bytes at byte %lld of shared memory, which "
                      "has %u",
                      what, size, offset, launch.sharedBytes));
  return static_cast<size_t>(offset);
}

/// Checks the alignment that an instruction demands; the host's compiler may
/// make ordinary accesses less aligned.
size_t BlockRunner::alignedOffset(const void *address, size_t size,
                                  const char *what) {
  size_t offset = sharedOffset(address, size, what);
  if (offset % size)
    failThread(CUDA_ERROR_MISALIGNED_ADDRESS,
               format("%s of %zu bytes at byte %zu of shared memory is not "
                      "aligned",
                      what, size, offset));
  return offset;
}

void BlockRunner::sharedAccess(const void *address, size_t size, bool write) {
  size_t offset = sharedOffset(address, size, write ? "write" : "read");
  std::string fault = shadow->access(offset, size, write, now());
  if (!fault.empty())
    failThread(CUDA_ERROR_LAUNCH_FAILED, fault);
}

void BlockRunner::copyAsync(void *to, const void *from, int bytes, int valid) {
  size_t offset = alignedOffset(to, bytes, "copyAsync");
  std::string fault = shadow->beginCopy(offset, bytes, now());
  if (!fault.empty())
    failThread(CUDA_ERROR_LAUNCH_FAILED, fault);
  memset(to, poison, bytes);
  auto &groups = current->copies;
  if (groups.empty())
    groups.emplace_back();
  groups.back().push_back(
      {static_cast<unsigned char *>(to), from, bytes, valid});
}

void BlockRunner::commitCopies() {
  if (current->copies.empty())
    current->copies.emplace_back(); // an empty group counts too
  current->copies.emplace_back();
}

void BlockRunner::waitForCopies(int left) {
  auto &groups = current->copies;
  int arriving = std::max(0, static_cast<int>(groups.size()) - 1 - left);
  for (int group = 0; group < arriving; ++group)
    for (const AsyncCopy &copy : groups[group])
      land(copy);
  groups.erase(groups.begin(), groups.begin() + arriving);
}

void BlockRunner::land(const AsyncCopy &copy) {
  memcpy(copy.to, copy.from, copy.valid);
  memset(copy.to + copy.valid, 0, copy.bytes - copy.valid);
  shadow->endCopy(copy.to - shared->data(), copy.bytes, now());
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

void BlockRunner::fail(CUresult code, const std::string &message,
                       const Thread *thread) {
  faultCode = code;
  faultText = format("%s: block %u, thread %d: ", launch.kernel->name, block.x,
                     thread->number) +
              message;
}

void BlockRunner::failThread(CUresult code, const std::string &message) {
  fail(code, message, current);
  current->fiber->pause();
  abort(); // it is not run again
}

std::string BlockRunner::bufferName(const void *data) const {
  for (size_t i = 0; i < launch.parameters.size(); ++i)
    if (launch.parameters[i].size() == sizeof(data) &&
        !memcmp(launch.parameters[i].data(), &data, sizeof(data)))
      return format("parameter %zu", i);
  return format("buffer %p", data);
}

void BlockRunner::checkTensor(const void *data, long long bytes) {
  if (bytes == 0 || (bytes > 0 && deviceHeap().find(data, bytes)))
    return;
  failThread(CUDA_ERROR_ILLEGAL_ADDRESS,
             format("%s: a tensor of %lld bytes is not inside one allocation",
                    bufferName(data).c_str(), bytes));
}

void BlockRunner::globalFault(const void *data, long long index, int count,
                              long long limit, bool write) {
  const char *what = write ? "write" : "read";
  std::string name = bufferName(data);
  if (limit < 0)
    failThread(CUDA_ERROR_MISALIGNED_ADDRESS,
               format("%s: %s of %d elements at index %lld is not aligned",
                      name.c_str(), what, count, index));
  failThread(CUDA_ERROR_ILLEGAL_ADDRESS,
             format("%s: %s of %d elements at index %lld of %lld", name.c_str(),
                    what, count, index, limit));
}

void BlockRunner::badAddress(const void *address) {
  const char *why = current->fiber->overflowed(address) ? "stack overflow"
                                                        : "illegal address";
  failThread(CUDA_ERROR_ILLEGAL_ADDRESS, format("%s: %p", why, address));
}

} // namespace mp::emulator
