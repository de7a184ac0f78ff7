//===- Trace.h - what every thread did, and when --------------------------===//
//
// Chrome's trace format, as chrome://tracing and Perfetto read it. Without a
// trace nothing is recorded, and a span costs a comparison.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_TRACE_H
#define MP_RUNTIME_TRACE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace mp {

/// Thread-safe.
class Trace {
public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  /// What a thread does. The first event of a thread gives it its name.
  enum class Kind : uint8_t { Step, Kernel, Wait, Data, Compile, Exchange };
  static constexpr uint64_t defaultLimit = 500'000;

  /// The calling thread becomes the main one. Events of all threads after the
  /// first `limit` are dropped.
  explicit Trace(uint64_t limit = defaultLimit);

  /// Returns the number of a name and its details.
  uint32_t name(llvm::StringRef text, llvm::StringRef detail = "");
  /// Records what the calling thread did from `begin` to `end`.
  void add(Kind kind, uint32_t name, Time begin, Time end = Clock::now());

  /// Returns the events as the elements of a JSON array, as those of a process
  /// of this number. Their times are since the trace began, plus `shift`.
  std::string events(int64_t process, Clock::duration shift = {}) const;
  uint64_t dropped() const; ///< events
  /// Returns a trace of the events of several processes.
  static std::string json(llvm::ArrayRef<std::string> events, uint64_t dropped);
  std::string json() const { return json({events(1)}, dropped()); }
  /// Notes an instant that several processes have in common.
  void meet() { met = Clock::now(); }
  /// Returns when that was, since the trace began.
  Clock::duration meeting() const { return met - start; }
  /// Writes the JSON.
  llvm::Error write(llvm::StringRef path) const;

private:
  struct Event {
    Time begin, end;
    uint32_t name;
    Kind kind;
  };
  struct Track {
    std::string name;
    mutable std::mutex mutex; ///< of `events`; only `json` contends for it
    std::vector<Event> events;
  };
  struct Name {
    std::string text, detail;
  };

  Track &track(Kind kind);

  const uint64_t number; ///< of this trace in the process, counted from 1
  const uint64_t limit;
  const Time start = Clock::now();
  Time met = start;
  std::atomic<uint64_t> recorded = 0;
  mutable std::mutex mutex; ///< guards what follows
  std::map<std::thread::id, std::unique_ptr<Track>> tracks;
  llvm::StringMap<uint32_t> numbers;
  std::vector<Name> names;
};

/// Records the time from its construction to its destruction.
class TraceSpan {
public:
  TraceSpan(Trace *trace, Trace::Kind kind, llvm::StringRef text)
      : trace(trace), kind(kind) {
    if (!trace)
      return;
    name = trace->name(text);
    begin = Trace::Clock::now();
  }
  ~TraceSpan() {
    if (trace)
      trace->add(kind, name, begin);
  }
  TraceSpan(const TraceSpan &) = delete;

private:
  Trace *trace;
  Trace::Kind kind;
  uint32_t name = 0;
  Trace::Time begin;
};

} // namespace mp

#endif // MP_RUNTIME_TRACE_H
