//===- DriverStream.cpp - streams, events, capture ------------------------===//

#include "Driver.h"
#include "Graph.h"

#include <set>

using namespace mp::emulator;

using StreamPtr = std::shared_ptr<Stream>;

static std::set<CUevent> &events() {
  static auto *all = new std::set<CUevent>;
  return *all;
}

namespace mp::emulator {
size_t eventCount() { return events().size(); }
bool isEvent(CUevent event) { return events().count(event) > 0; }
void clearEvents() {
  for (CUevent event : events())
    delete event;
  events().clear();
}
} // namespace mp::emulator

MP_EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  return call("cuStreamCreate", format("flags=%u", flags), [&] {
    if (flags & ~CU_STREAM_NON_BLOCKING)
      return CUDA_ERROR_INVALID_VALUE;
    *stream = createStream(!(flags & CU_STREAM_NON_BLOCKING));
    return CUDA_SUCCESS;
  });
}
MP_EXPORT CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags,
                                              int) {
  return cuStreamCreate(stream, flags);
}

MP_EXPORT CUresult cuStreamDestroy_v2(CUstream handle) {
  return callOn(handle, "cuStreamDestroy", "", [&](const StreamPtr &) {
    return destroyStream(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

MP_EXPORT CUresult cuStreamSynchronize(CUstream handle) {
  return callOn(handle, "cuStreamSynchronize", "", [](const StreamPtr &stream) {
    return stream->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                           : wait(now(stream));
  });
}

/// Is not ready when first asked, as work takes time; runs the work when asked
/// again.
static CUresult query(const Ticket &ticket, bool &asked) {
  if (ticket.reached())
    return stickyError();
  if (asked)
    return wait(ticket);
  asked = true;
  return CUDA_ERROR_NOT_READY;
}

/// The function runs in no thread of the host's, and so holds no lock: it may
/// wait for what other threads do. It must not call the driver.
MP_EXPORT CUresult cuLaunchHostFunc(CUstream handle, void (*function)(void *),
                                    void *data) {
  return callOn(handle, "cuLaunchHostFunc", "", [=](const StreamPtr &stream) {
    return submit(stream, [=] {
      Unlocked unlocked;
      function(data);
      return CUDA_SUCCESS;
    });
  });
}

MP_EXPORT CUresult cuStreamQuery(CUstream handle) {
  return callOn(handle, "cuStreamQuery", "", [](const StreamPtr &stream) {
    return query(now(stream), stream->asked);
  });
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

/// Returns its number, and its age: how many graphs were launched after its
/// record.
static std::string describe(CUevent event) {
  std::lock_guard<CallLock> guard(lock());
  if (!events().count(event))
    return "event=?";
  unsigned long long age = graphsLaunched() - event->graphsBefore;
  return format("event=%d", event->id) +
         (event->ticket.stream ? format(" age=%llu", age) : "");
}

template <typename Body>
static CUresult callEvent(const char *name, CUevent event, Body body) {
  return call(name, describe(event), [&] {
    return events().count(event) ? body() : CUDA_ERROR_INVALID_HANDLE;
  });
}

MP_EXPORT CUresult cuEventCreate(CUevent *event, unsigned flags) {
  return call("cuEventCreate", format("flags=%u", flags), [&] {
    static int last = 0;
    *event = new Event;
    (*event)->id = ++last;
    (*event)->timed = !(flags & CU_EVENT_DISABLE_TIMING);
    events().insert(*event);
    return CUDA_SUCCESS;
  });
}

MP_EXPORT CUresult cuEventDestroy_v2(CUevent event) {
  return callEvent("cuEventDestroy", event, [&] {
    events().erase(event);
    delete event;
    return CUDA_SUCCESS;
  });
}

MP_EXPORT CUresult cuEventRecord(CUevent event, CUstream handle) {
  return callOn(
      handle, "cuEventRecord", describe(event), [&](const StreamPtr &stream) {
        if (!events().count(event))
          return CUDA_ERROR_INVALID_HANDLE;
        event->asked = false;
        event->graphsBefore = graphsLaunched();
        event->capture = stream->capture;
        event->captured = stream->captureTail;
        if (stream->capture)
          return CUDA_SUCCESS;
        auto time = std::make_shared<std::chrono::steady_clock::time_point>();
        event->time = time;
        submit(stream, [time] {
          *time = std::chrono::steady_clock::now();
          return CUDA_SUCCESS;
        });
        event->ticket = now(stream);
        return CUDA_SUCCESS;
      });
}

MP_EXPORT CUresult cuEventQuery(CUevent event) {
  return callEvent("cuEventQuery", event,
                   [&] { return query(event->ticket, event->asked); });
}

MP_EXPORT CUresult cuEventSynchronize(CUevent event) {
  return callEvent("cuEventSynchronize", event, [&] {
    return event->capture ? CUDA_ERROR_CAPTURED_EVENT : wait(event->ticket);
  });
}

MP_EXPORT CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start,
                                         CUevent end) {
  return callEvent("cuEventElapsedTime", start, [&] {
    if (!events().count(end) || !start->timed || !end->timed || !start->time ||
        !end->time)
      return CUDA_ERROR_INVALID_HANDLE;
    bool recorded = start->time->time_since_epoch().count() &&
                    end->time->time_since_epoch().count();
    if (!recorded || !start->ticket.reached() || !end->ticket.reached())
      return CUDA_ERROR_NOT_READY;
    std::chrono::duration<float, std::milli> elapsed =
        *end->time - *start->time;
    *milliseconds = elapsed.count();
    return CUDA_SUCCESS;
  });
}
MP_EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent start,
                                      CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

MP_EXPORT CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
  return callOn(handle, "cuStreamWaitEvent", describe(event),
                [&](const StreamPtr &stream) {
                  if (!events().count(event))
                    return CUDA_ERROR_INVALID_HANDLE;
                  if (event->capture) { // joins the capture
                    if (stream->capture && stream->capture != event->capture)
                      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
                    stream->capture = event->capture;
                    stream->captureTail.insert(stream->captureTail.end(),
                                               event->captured.begin(),
                                               event->captured.end());
                    return CUDA_SUCCESS;
                  }
                  if (stream->capture)
                    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
                  submitWait(stream, event->ticket);
                  return CUDA_SUCCESS;
                });
}
