//===- Stream.h - queues of work ------------------------------------------===//
//
// Work given to a stream stays there until something waits for it: a host that
// reads a result, or reuses a buffer, before it has waited sees that the work
// has not run.
//
//===----------------------------------------------------------------------===//
#ifndef MP_EMULATOR_STREAM_H
#define MP_EMULATOR_STREAM_H

#include "Cuda.h"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace mp::emulator {

using Operation = std::function<CUresult()>;

/// A position in a stream's order: after all earlier work.
struct Ticket {
  std::shared_ptr<Stream> stream; // null: nothing to wait for
  uint64_t position = 0;

  bool reached() const;
};

struct Stream {
  int id = 0;
  CUcontext context = nullptr;
  bool blocking = true; // ordered with the legacy stream
  bool asked = false;   // cuStreamQuery has said "not ready" once
  bool running = false; // a thread runs its work
  uint64_t given = 0, finished = 0;
  struct Item {
    Operation work;
    Ticket before; // if it has no work: waits
  };
  std::deque<Item> items;
  /// While work is recorded instead of queued: the graph, and the nodes before
  /// it.
  Graph *capture = nullptr;
  bool captureOrigin = false;
  std::vector<GraphNode *> captureTail;
};

struct Event {
  int id = 0;
  uint64_t graphsBefore = 0; // graphs launched before it was recorded
  bool timed = true;
  bool asked = false;
  Ticket ticket;
  std::shared_ptr<std::chrono::steady_clock::time_point> time;
  Graph *capture = nullptr;
  std::vector<GraphNode *> captured;
};

/// The error that a kernel left; every later call returns it, as the device's
/// context is lost.
CUresult &stickyError();

/// The number of graphs given to streams.
uint64_t &graphsLaunched();

/// Returns the stream of a handle: null and 1 are the legacy stream. nullptr if
/// there is no such stream.
std::shared_ptr<Stream> findStream(CUstream handle);
CUstream createStream(bool blocking);
/// Runs the rest of its work.
bool destroyStream(CUstream handle);
size_t streamCount();

/// Gives work to a stream, or records it in the graph that is being captured.
CUresult submit(const std::shared_ptr<Stream> &stream, Operation work);
void submitWait(const std::shared_ptr<Stream> &stream, const Ticket &before);
Ticket now(const std::shared_ptr<Stream> &stream);

/// Makes streams that record into `graph` queue again. Returns false if one of
/// them has work that the nodes of `last` do not come after.
bool endCapture(Graph *graph, std::vector<GraphNode *> last);

/// Runs the work before the ticket. Returns the sticky error.
CUresult wait(const Ticket &ticket);
/// Runs the work of all streams of the thread's context.
CUresult waitForAll();
/// Discards all streams and their work.
void clearStreams();

} // namespace mp::emulator

#endif // MP_EMULATOR_STREAM_H
