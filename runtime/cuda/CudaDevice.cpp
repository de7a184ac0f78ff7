//===- CudaDevice.cpp - the CUDA devices of this machine ------------------===//
#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/DeviceRanks.h"
#include "runtime/cuda/Nvrtc.h"
#include <atomic>
#include <chrono>
#include <thread>

using namespace llvm;

namespace mp::cuda {

std::string DeviceFacts::capability() const {
  return std::to_string(major) + "." + std::to_string(minor);
}

static Expected<DeviceFacts> readFacts(const Driver &driver, int index) {
  DeviceFacts facts;
  facts.index = index;
  MP_CUDA(driver, cuDeviceGet, &facts.handle, index);
  char name[256] = {};
  MP_CUDA(driver, cuDeviceGetName, name, sizeof(name) - 1, facts.handle);
  facts.name = name;
  MP_CUDA(driver, cuDeviceGetAttribute, &facts.major, attributeComputeMajor,
          facts.handle);
  MP_CUDA(driver, cuDeviceGetAttribute, &facts.minor, attributeComputeMinor,
          facts.handle);
  int shared = 0;
  MP_CUDA(driver, cuDeviceGetAttribute, &shared, attributeSharedPerBlockOptin,
          facts.handle);
  facts.sharedBytes = shared;
  MP_CUDA(driver, cuDeviceGetAttribute, &facts.multiprocessors,
          attributeMultiprocessors, facts.handle);
  size_t bytes = 0;
  MP_CUDA(driver, cuDeviceTotalMem_v2, &bytes, facts.handle);
  facts.bytes = bytes;
  return facts;
}

Expected<std::vector<DeviceFacts>> listDevices() {
  Expected<const Driver &> driver = openDriver();
  if (!driver)
    return driver.takeError();
  int count = 0;
  MP_CUDA(*driver, cuDeviceGetCount, &count);
  std::vector<DeviceFacts> all;
  for (int index = 0; index < count; ++index) {
    Expected<DeviceFacts> facts = readFacts(*driver, index);
    if (!facts)
      return facts.takeError();
    all.push_back(std::move(*facts));
  }
  return all;
}

Expected<DeviceFacts> examine(int index) {
  Expected<const Driver &> driver = openDriver();
  if (!driver)
    return driver.takeError();
  int count = 0;
  MP_CUDA(*driver, cuDeviceGetCount, &count);
  if (count == 0)
    return deviceError("the CUDA driver sees no device");
  if (index >= count)
    return deviceError("no CUDA device " + Twine(index) + ", there " +
                       (count == 1 ? "is 1" : "are " + Twine(count)));
  Expected<DeviceFacts> facts = readFacts(*driver, index);
  if (!facts)
    return facts;
  if (facts->major < 8)
    return deviceError(facts->name + " has compute capability " +
                       facts->capability() + ", expected 8.0 or later");
  Expected<const Nvrtc &> nvrtc = openNvrtc();
  if (!nvrtc)
    return nvrtc.takeError();
  auto architecture = chooseArchitecture(*nvrtc, facts->major, facts->minor);
  if (!architecture)
    return architecture.takeError();
  return facts;
}

static uint64_t nextNumber() {
  static std::atomic<uint64_t> count = 0;
  return ++count;
}

DeviceContext::DeviceContext(const Driver &driver, const DeviceFacts &facts)
    : driver(driver), facts(facts), compute(driver), transfer(driver),
      capture(driver), number(nextNumber()) {}

Expected<std::unique_ptr<DeviceContext>>
DeviceContext::create(const DeviceFacts &facts) {
  Expected<const Driver &> opened = openDriver();
  if (!opened)
    return opened.takeError();
  const Driver &driver = *opened;
  std::unique_ptr<DeviceContext> made(new DeviceContext(driver, facts));
  MP_CUDA(driver, cuDevicePrimaryCtxRetain, &made->context, facts.handle);
  if (Error error = made->activate())
    return error;
  for (OwnedStream *stream : {&made->compute, &made->transfer, &made->capture})
    MP_CUDA(driver, cuStreamCreate, stream->slot(), streamNonBlocking);
  return made;
}

DeviceContext::~DeviceContext() {
  if (!context)
    return;
  consumeError(activate());
  deviceRanks.reset();
  libraryStates.clear();
  compute = OwnedStream();
  transfer = OwnedStream();
  capture = OwnedStream();
  driver.cuDevicePrimaryCtxRelease_v2(facts.handle);
}

Error DeviceContext::activate() const {
  // Contexts are compared by number, as the address of one may be used again.
  static thread_local uint64_t current = 0;
  if (current == number)
    return Error::success();
  MP_CUDA(driver, cuCtxSetCurrent, context);
  current = number;
  return Error::success();
}

Error DeviceContext::synchronize() const {
  if (Error error = activate())
    return error;
  if (deviceRanks)
    return poll("cuStreamQuery",
                [&] { return driver.cuStreamQuery(compute.get()); });
  MP_CUDA(driver, cuStreamSynchronize, compute.get());
  return Error::success();
}

Error DeviceContext::wait(Event event) const {
  if (deviceRanks)
    return poll("cuEventQuery", [&] { return driver.cuEventQuery(event); });
  MP_CUDA(driver, cuEventSynchronize, event);
  return Error::success();
}

// The driver waits without an end for kernels that wait for another rank.
template <typename Query>
Error DeviceContext::poll(const char *call, Query query) const {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds interval(20);
  Result result;
  for (auto next = Clock::now() + interval;
       (result = query()) == statusNotReady;) {
    std::this_thread::yield();
    if (Clock::now() < next)
      continue;
    if (Error error = deviceRanks->failure())
      return error;
    next = Clock::now() + interval;
  }
  if (Error error = driver.check(call, result))
    return error;
  return deviceRanks->failure();
}

Expected<DeviceRanks *> DeviceContext::joinRanks() const {
  if (!deviceRanks) {
    auto joined = DeviceRanks::join(*this, ranks);
    if (!joined)
      return joined.takeError();
    deviceRanks = std::move(*joined);
  }
  return deviceRanks.get();
}

Error DeviceContext::copyToDevice(Address to, const void *from,
                                  uint64_t bytes) const {
  if (bytes == 0)
    return Error::success();
  MP_CUDA(driver, cuMemcpyHtoD_v2, to, from, bytes);
  // From pageable memory the call may return before the copy is complete, and
  // our streams do not wait for the default one.
  MP_CUDA(driver, cuStreamSynchronize, nullptr);
  return Error::success();
}

Error DeviceContext::copyToHost(void *to, Address from, uint64_t bytes) const {
  if (bytes)
    MP_CUDA(driver, cuMemcpyDtoH_v2, to, from, bytes);
  return Error::success();
}

} // namespace mp::cuda
