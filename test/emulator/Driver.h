//===- Driver.h - shared by the exported functions of the driver ----------===//
#ifndef MP_EMULATOR_DRIVER_H
#define MP_EMULATOR_DRIVER_H

#include "Call.h"
#include "Cuda.h"
#include "Memory.h"
#include "Stream.h"

namespace mp::emulator {

struct DriverContext {
  int device = 0;
  int users = 0;
};

bool &initialised();
/// The calling thread's context.
CUcontext &currentContext();
/// The compute capability that the device claims: 90 for 9.0.
int claimedArch();
/// Returns the device's attribute; 0 if the emulator does not support it.
int deviceAttribute(int attribute);
/// Blocks that the device runs at the same time.
uint64_t mostBlocksAtOnce(unsigned threads, size_t shared);
/// Memory that each device claims.
constexpr size_t memoryBytes = size_t{16} << 30;

enum class Needs { Nothing, Init, Context };

/// Runs one call of the driver: logs it, refuses it if it must, runs `body`.
template <typename Body>
CUresult call(const char *name, const std::string &details, Body body,
              Needs needs = Needs::Context) {
  std::lock_guard<CallLock> guard(lock());
  if (int error = enter(name, details))
    return static_cast<CUresult>(error);
  if (needs != Needs::Nothing && !initialised())
    return CUDA_ERROR_NOT_INITIALIZED;
  if (needs == Needs::Context && !currentContext())
    return CUDA_ERROR_INVALID_CONTEXT;
  if (needs == Needs::Context && stickyError() != CUDA_SUCCESS)
    return stickyError();
  return body();
}

/// The same for a call with a stream, which `body` gets.
template <typename Body>
CUresult callOn(CUstream handle, const char *name, const std::string &details,
                Body body) {
  std::lock_guard<CallLock> guard(lock());
  auto stream = findStream(handle);
  std::string where =
      stream ? format("stream=%d", stream->id) : std::string("stream=?");
  return call(name, details.empty() ? where : details + " " + where, [&] {
    return stream ? body(stream) : CUDA_ERROR_INVALID_HANDLE;
  });
}

/// The number of live objects, for checks of handles and for the log's last
/// line.
size_t moduleCount();
size_t eventCount();
bool isEvent(CUevent event);
size_t graphCount();
void clearModules();
void clearEvents();
void clearGraphs();

/// Makes work for streams and graphs. Addresses are checked when it runs.
Operation copyOperation(void *to, const void *from, size_t bytes, bool toDevice,
                        bool fromDevice);
Operation fillOperation(void *to, unsigned value, size_t elementBytes,
                        size_t width, size_t height, size_t pitch);

} // namespace mp::emulator

#endif // MP_EMULATOR_DRIVER_H
