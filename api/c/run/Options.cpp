//===- Options.cpp - the options of a run as those of C++ -----------------===//
#include "api/c/Options.h"
#include "api/c/Sized.h"

using namespace llvm;

namespace mantissa::c {

static_assert(MANTISSA_DEVICE_CPU == int(Device::Kind::Cpu));
static_assert(MANTISSA_DEVICE_CUDA == int(Device::Kind::Cuda));

Expected<std::optional<Device>> takeDevice(mantissa_device device,
                                           int32_t index) {
  switch (device) {
  case MANTISSA_DEVICE_AUTO:
    return std::optional<Device>();
  case MANTISSA_DEVICE_CPU:
  case MANTISSA_DEVICE_CUDA:
    return Device{Device::Kind(device), index};
  }
  return argumentError("options->device is {0}, expected {1}, {2} or {3}",
                       device, MANTISSA_DEVICE_AUTO, MANTISSA_DEVICE_CPU,
                       MANTISSA_DEVICE_CUDA);
}

std::function<void(StringRef)> takeNotes(mantissa_note_function function,
                                         void *data) {
  if (!function)
    return {};
  return [=](StringRef line) { function(data, line.str().c_str()); };
}

Error takeOptions(const mantissa_run_options *given, RunOptions &options) {
  mantissa_run_options taken = MANTISSA_RUN_OPTIONS_INIT;
  if (given)
    if (Error error = takeSized("options", *given, taken))
      return error;
  // As many names as the structures have fields: with another field on either
  // side, this does not compile.
  const auto &[structSize, device, deviceIndex, seed, threads, reserved, onNote,
               noteData] = taken;
  auto &[toDevice, toThreads, toSeed, toNote] = options;
  auto known = takeDevice(device, deviceIndex);
  if (!known)
    return known.takeError();
  if (reserved)
    return argumentError("options->reserved is {0}, expected 0", reserved);
  toDevice = *known;
  toThreads = threads;
  toSeed = seed;
  toNote = takeNotes(onNote, noteData);
  return Error::success();
}

} // namespace mantissa::c

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

using namespace mantissa::c;

mantissa_status *mantissa_step_options_init(mantissa_step_options *options,
                                            size_t struct_size) {
  return call({{"options", options}}, [&]() -> Error {
    return initializeSized<mantissa_step_options>(
        "options", MANTISSA_STEP_OPTIONS_INIT, options, struct_size);
  });
}

mantissa_status *mantissa_run_options_init(mantissa_run_options *options,
                                           size_t struct_size) {
  return call({{"options", options}}, [&]() -> Error {
    return initializeSized<mantissa_run_options>(
        "options", MANTISSA_RUN_OPTIONS_INIT, options, struct_size);
  });
}
