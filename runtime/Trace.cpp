//===- Trace.cpp - what every thread did, and when ------------------------===//
#include "runtime/Trace.h"
#include "support/Json.h"
#include "support/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace mp {

static std::atomic<uint64_t> traces = 0;

Trace::Trace(uint64_t limit) : number(++traces), limit(limit) {
  auto &main = tracks[std::this_thread::get_id()];
  main = std::make_unique<Track>();
  main->name = "main";
}

uint32_t Trace::name(StringRef text, StringRef detail) {
  std::lock_guard lock(mutex);
  std::string key = (text + Twine('\0') + detail).str();
  auto [known, isNew] = numbers.try_emplace(key, names.size());
  if (isNew)
    names.push_back({text.str(), detail.str()});
  return known->second;
}

Trace::Track &Trace::track(Kind kind) {
  // Looked up once per thread and trace.
  static thread_local uint64_t knownNumber = 0;
  static thread_local Track *known = nullptr;
  if (knownNumber == number)
    return *known;
  std::lock_guard lock(mutex);
  std::unique_ptr<Track> &own = tracks[std::this_thread::get_id()];
  if (!own) {
    own = std::make_unique<Track>();
    own->name = kind == Kind::Data       ? "data"
                : kind == Kind::Compile  ? "compiler"
                : kind == Kind::Exchange ? "exchanges between ranks"
                                         : "worker";
  }
  knownNumber = number;
  return *(known = own.get());
}

void Trace::add(Kind kind, uint32_t name, Time begin, Time end) {
  if (recorded.fetch_add(1, std::memory_order_relaxed) >= limit)
    return;
  Track &own = track(kind);
  std::lock_guard lock(own.mutex);
  own.events.push_back({begin, end, name, kind});
}

static StringRef categoryOf(Trace::Kind kind) {
  switch (kind) {
  case Trace::Kind::Step:
    return "step";
  case Trace::Kind::Kernel:
    return "kernel";
  case Trace::Kind::Wait:
    return "wait";
  case Trace::Kind::Data:
    return "data";
  case Trace::Kind::Compile:
    return "compile";
  case Trace::Kind::Exchange:
    return "exchange";
  }
  llvm_unreachable("all kinds are handled");
}

std::string Trace::events(int64_t process, Clock::duration shift) const {
  std::string text;
  raw_string_ostream os(text);
  auto microseconds = [](Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  auto event = [&](StringRef phase, StringRef name, int64_t thread,
                   function_ref<void(json::OStream &)> rest) {
    os << (text.empty() ? "\n" : ",\n");
    json::OStream json(os);
    json.object([&] {
      json.attribute("ph", phase);
      json.attribute("name", validUtf8(name));
      json.attribute("pid", process);
      json.attribute("tid", thread);
      rest(json);
    });
  };
  auto argument = [](json::OStream &json, StringRef key, StringRef value) {
    json.attributeObject("args",
                         [&] { json.attribute(key, validUtf8(value)); });
  };
  std::lock_guard lock(mutex);
  int64_t thread = 0;
  for (auto &[id, track] : tracks) {
    ++thread;
    event("M", "thread_name", thread,
          [&](json::OStream &json) { argument(json, "name", track->name); });
    std::lock_guard own(track->mutex);
    for (const Event &each : track->events)
      event("X", names[each.name].text, thread, [&](json::OStream &json) {
        json.attribute("cat", categoryOf(each.kind));
        json.attribute("ts", microseconds(each.begin - start + shift));
        json.attribute("dur", microseconds(each.end - each.begin));
        if (!names[each.name].detail.empty())
          argument(json, "detail", names[each.name].detail);
      });
  }
  return text;
}

uint64_t Trace::dropped() const {
  uint64_t all = recorded.load();
  return all > limit ? all - limit : 0;
}

std::string Trace::json(ArrayRef<std::string> events, uint64_t dropped) {
  return formatv("{{\"displayTimeUnit\":\"ms\",\"otherData\":"
                 "{{\"dropped_events\":{0}},\"traceEvents\":[{1}]}\n",
                 dropped, join(events, ","))
      .str();
}

Error Trace::write(StringRef path) const {
  return writeAtomically(path,
                         [&](OutputFile &file) { return file.write(json()); });
}

} // namespace mp
