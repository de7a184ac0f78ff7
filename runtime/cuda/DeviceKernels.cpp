//===- DeviceKernels.cpp - kernels compiled and loaded onto a device ------===//
#include "runtime/cuda/DeviceKernels.h"
#include "support/Error.h"

using namespace llvm;

namespace mp::cuda {

/// The shared memory that every kernel may use without an attribute.
static constexpr uint64_t kPlainSharedBytes = 48 << 10;

Error DeviceKernels::load(const Program &program) {
  // All kernels are added first, so that they compile in parallel.
  auto headers = std::make_shared<const std::vector<Header>>(program.headers);
  for (const Kernel &kernel : program.kernels)
    if (!loaded.contains(kernel.symbol))
      pool->add(kernel, headers);
  for (const Kernel &kernel : program.kernels) {
    if (loaded.contains(kernel.symbol))
      continue;
    Expected<Loaded> fresh = loadOne(kernel);
    if (!fresh)
      return fresh.takeError();
    loaded.try_emplace(kernel.symbol, std::move(*fresh));
  }
  for (const Entry &entry : program.entries)
    for (const Step &step : entry.steps)
      if (const auto *launch = std::get_if<Launch>(&step)) {
        const Kernel &kernel = program.kernels[launch->kernel];
        if (Error error = checkLaunch(*launch, kernel))
          return error;
        if (Error error = allowShared(loaded[kernel.symbol], launch->shared))
          return error;
      }
  return Error::success();
}

Expected<DeviceKernels::Loaded> DeviceKernels::loadOne(const Kernel &kernel) {
  Expected<StringRef> cubin = pool->wait(kernel);
  if (!cubin)
    return cubin.takeError();
  const Driver &driver = context.driver;
  Loaded fresh{OwnedModule(driver)};
  auto open = [&]() -> Error {
    MP_CUDA(driver, cuModuleLoadData, fresh.module.slot(), cubin->data());
    MP_CUDA(driver, cuModuleGetFunction, &fresh.function, fresh.module.get(),
            kernel.symbol.c_str());
    return Error::success();
  };
  if (Error error = open())
    return deviceError("cannot load kernel '" + kernel.symbol + "' (" +
                       kernel.summary + "), compiled for " + architecture() +
                       ": " + toString(std::move(error)));
  return fresh;
}

/// Checks limits of the driver that a saved program may exceed.
Error DeviceKernels::checkLaunch(const Launch &launch,
                                 const Kernel &kernel) const {
  if (launch.grid < 1 || launch.grid > INT32_MAX || launch.block < 1 ||
      launch.block > 1024)
    return makeError("kernel '{0}' ({1}) is launched with {2} blocks of {3} "
                     "threads, expected up to {4} of up to 1024",
                     kernel.symbol, kernel.summary, launch.grid, launch.block,
                     INT32_MAX);
  if (launch.shared > context.facts.sharedBytes)
    return makeError("kernel '{0}' ({1}) takes {2} bytes of shared memory, but "
                     "a block on {3} has {4}",
                     kernel.symbol, kernel.summary, launch.shared,
                     context.facts.name, context.facts.sharedBytes);
  return Error::success();
}

Error DeviceKernels::allowShared(Loaded &kernel, uint64_t bytes) {
  if (bytes <= std::max(kPlainSharedBytes, kernel.sharedBytes))
    return Error::success();
  MP_CUDA(context.driver, cuFuncSetAttribute, kernel.function,
          functionMaxDynamicShared, bytes);
  kernel.sharedBytes = bytes;
  return Error::success();
}

} // namespace mp::cuda
