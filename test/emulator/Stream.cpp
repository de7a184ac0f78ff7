//===- Stream.cpp - queues of work ----------------------------------------===//

#include "Stream.h"

#include "Driver.h"
#include "Graph.h"
#include "Memory.h"

#include <map>
#include <set>

namespace mp::emulator {

namespace {
struct Streams {
  std::map<CUcontext, std::shared_ptr<Stream>> legacy;
  std::map<CUstream, std::shared_ptr<Stream>> created;
  int lastId = 0;
};
} // namespace
static Streams &streams() {
  static auto *all = new Streams;
  return *all;
}

static std::shared_ptr<Stream> legacyOf(CUcontext context) {
  std::shared_ptr<Stream> &stream = streams().legacy[context];
  if (!stream) {
    stream = std::make_shared<Stream>();
    stream->context = context;
  }
  return stream;
}

CUresult &stickyError() {
  static CUresult error = CUDA_SUCCESS;
  return error;
}

uint64_t &graphsLaunched() {
  static uint64_t count = 0;
  return count;
}

bool Ticket::reached() const { return !stream || stream->finished >= position; }

std::shared_ptr<Stream> findStream(CUstream handle) {
  if (reinterpret_cast<uintptr_t>(handle) <= 1)
    return legacyOf(currentContext());
  auto found = streams().created.find(handle);
  return found == streams().created.end() ? nullptr : found->second;
}

CUstream createStream(bool blocking) {
  auto stream = std::make_shared<Stream>();
  stream->id = ++streams().lastId;
  stream->context = currentContext();
  stream->blocking = blocking;
  streams().created[stream.get()] = stream;
  return stream.get();
}

bool destroyStream(CUstream handle) {
  auto found = streams().created.find(handle);
  if (found == streams().created.end())
    return false;
  auto stream = found->second;
  wait(now(stream));
  streams().created.erase(handle);
  return true;
}

size_t streamCount() { return streams().created.size(); }

Ticket now(const std::shared_ptr<Stream> &stream) {
  return {stream, stream->given};
}

static void push(Stream &stream, Stream::Item item) {
  stream.items.push_back(std::move(item));
  ++stream.given;
  stream.asked = false;
}

/// A context's legacy stream and every blocking one wait for each other.
static void orderWithLegacy(const std::shared_ptr<Stream> &stream) {
  const auto legacy = legacyOf(stream->context);
  if (stream == legacy) {
    for (const auto &[handle, other] : streams().created)
      if (other->context == stream->context && other->blocking &&
          !now(other).reached())
        push(*legacy, {nullptr, now(other)});
  } else if (stream->blocking && !now(legacy).reached()) {
    push(*stream, {nullptr, now(legacy)});
  }
}

CUresult submit(const std::shared_ptr<Stream> &stream, Operation work) {
  if (stream->capture) {
    GraphNode *node =
        stream->capture->add(std::move(work), stream->captureTail);
    stream->captureTail = {node};
    return CUDA_SUCCESS;
  }
  orderWithLegacy(stream);
  push(*stream, {std::move(work), {}});
  return CUDA_SUCCESS;
}

void submitWait(const std::shared_ptr<Stream> &stream, const Ticket &before) {
  if (!before.reached())
    push(*stream, {nullptr, before});
}

bool endCapture(Graph *graph, std::vector<GraphNode *> last) {
  std::set<const GraphNode *> joined(last.begin(), last.end());
  while (!last.empty()) {
    const GraphNode *node = last.back();
    last.pop_back();
    for (GraphNode *before : node->after)
      if (joined.insert(before).second)
        last.push_back(before);
  }
  bool complete = true;
  for (const auto &[handle, stream] : streams().created) {
    if (stream->capture != graph)
      continue;
    for (const GraphNode *node : stream->captureTail)
      complete &= joined.count(node) > 0;
    stream->capture = nullptr;
    stream->captureOrigin = false;
    stream->captureTail.clear();
  }
  return complete;
}

CUresult wait(const Ticket &ticket) {
  if (ticket.reached())
    return stickyError();
  Access access;
  Stream &stream = *ticket.stream;
  while (stream.finished < ticket.position) {
    if (stream.running) { // by a thread whose work waits for another rank
      lock().wait();
      continue;
    }
    Stream::Item item = std::move(stream.items.front());
    stream.items.pop_front();
    stream.running = true;
    if (!item.work) {
      wait(item.before);
    } else if (stickyError() == CUDA_SUCCESS) {
      // Other threads may leave an error meanwhile.
      if (CUresult error = item.work(); error != CUDA_SUCCESS)
        stickyError() = error;
    }
    stream.running = false;
    ++stream.finished;
    lock().notify();
  }
  return stickyError();
}

CUresult waitForAll() {
  CUcontext context = currentContext();
  wait(now(legacyOf(context)));
  // Other threads may create and destroy streams meanwhile.
  auto all = streams().created;
  for (const auto &[handle, stream] : all)
    if (stream->context == context)
      wait(now(stream));
  return stickyError();
}

void clearStreams() { streams() = Streams(); }

} // namespace mp::emulator
