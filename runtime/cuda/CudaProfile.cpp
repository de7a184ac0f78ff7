//===- CudaProfile.cpp - the steps of an entry point, timed ---------------===//
//
// Steps are timed in a graph like that of a run, with an event before each step
// and one after the last, so that the steps run as usual and their times
// contain no host time.
//
//===----------------------------------------------------------------------===//
#include "runtime/Profile.h"
#include "runtime/cuda/CudaExecutable.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mp::cuda {

/// Makes an event that records the time.
static Expected<OwnedEvent> createTimer(const Driver &driver) {
  OwnedEvent timer(driver);
  MP_CUDA(driver, cuEventCreate, timer.slot(), 0);
  return timer;
}

/// The microseconds between two events, both of which have completed.
static Expected<double> between(const Driver &driver, const OwnedEvent &start,
                                const OwnedEvent &end) {
  float milliseconds = 0;
  MP_CUDA(driver, cuEventElapsedTime, &milliseconds, start.get(), end.get());
  return milliseconds * 1e3;
}

Expected<std::vector<OwnedEvent>>
CudaExecutable::createTimers(size_t count) const {
  std::vector<OwnedEvent> timers;
  while (timers.size() < count) {
    Expected<OwnedEvent> timer = createTimer(context.driver);
    if (!timer)
      return timer.takeError();
    timers.push_back(std::move(*timer));
  }
  return timers;
}

/// The microseconds of every step in every run.
Expected<std::vector<std::vector<double>>> CudaExecutable::timeSteps() {
  const Driver &driver = context.driver;
  size_t count = description.steps.size();
  auto timers = createTimers(count + 1);
  if (!timers)
    return timers.takeError();
  // The slot still holds the inputs of earlier runs.
  auto graph = buildTimed(slots.front(), *timers);
  if (!graph)
    return graph.takeError();
  std::vector<std::vector<double>> times(count);
  // The first run warms up.
  for (unsigned run = 0; run <= kProfileRuns; ++run) {
    MP_CUDA(driver, cuGraphLaunch, graph->get(), context.compute.get());
    if (Error error = context.synchronize())
      return error;
    for (size_t step = 0; run && step < count; ++step) {
      auto time = between(driver, (*timers)[step], (*timers)[step + 1]);
      if (!time)
        return time.takeError();
      times[step].push_back(*time);
    }
  }
  return times;
}

Expected<double> CudaExecutable::measureCopy() const {
  const Driver &driver = context.driver;
  size_t free = 0, total = 0;
  MP_CUDA(driver, cuMemGetInfo_v2, &free, &total);
  uint64_t bytes = profiledCopyBytes(free);
  auto from = allocateDevice(driver, bytes, "the source of a copy to measure");
  if (!from)
    return from.takeError();
  auto to = allocateDevice(driver, bytes, "the target of a copy to measure");
  if (!to)
    return to.takeError();
  auto timers = createTimers(2);
  if (!timers)
    return timers.takeError();
  Stream stream = context.compute.get();
  std::vector<double> times;
  for (unsigned run = 0; run <= kProfileRuns; ++run) {
    MP_CUDA(driver, cuEventRecord, timers->front().get(), stream);
    MP_CUDA(driver, cuMemcpyDtoDAsync_v2, to->get(), from->get(), bytes,
            stream);
    MP_CUDA(driver, cuEventRecord, timers->back().get(), stream);
    if (Error error = context.synchronize())
      return error;
    auto time = between(driver, timers->front(), timers->back());
    if (!time)
      return time.takeError();
    if (run)
      times.push_back(*time);
  }
  return copyRate(bytes, median(std::move(times)));
}

Expected<Profile> CudaExecutable::measure(Inputs inputs) {
  Profile profile;
  profile.graphNodes = graphNodes;
  Expected<double> host = timeSubmits(*this, inputs);
  if (!host)
    return host.takeError();
  profile.hostMicroseconds = *host;
  auto times = timeSteps();
  if (!times)
    return located(times.takeError(), runs - 1);
  profile.launches = costsOf(description, linkage.names, std::move(*times));
  Expected<double> rate = measureCopy();
  if (!rate)
    return rate.takeError();
  profile.copyGbps = *rate;
  return profile;
}

} // namespace mp::cuda
