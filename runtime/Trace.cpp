//===- Trace.cpp - what every thread did, and when ------------------------===//
#include "runtime/Trace.h"
#include "support/Json.h"
#include "support/OutputFile.h"
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
    own->name = kind == Kind::Data      ? "data"
                : kind == Kind::Compile ? "compiler"
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
  }
  llvm_unreachable("all kinds are handled");
}

std::string Trace::json() const {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os);
  auto microseconds = [](Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  auto event = [&](StringRef phase, StringRef name, int64_t thread,
                   function_ref<void()> rest) {
    os << "\n";
    json.object([&] {
      json.attribute("ph", phase);
      json.attribute("name", validUtf8(name));
      json.attribute("pid", 1);
      json.attribute("tid", thread);
      rest();
    });
  };
  auto argument = [&](StringRef key, StringRef value) {
    json.attributeObject("args",
                         [&] { json.attribute(key, validUtf8(value)); });
  };
  std::lock_guard lock(mutex);
  uint64_t all = recorded.load();
  json.object([&] {
    json.attribute("displayTimeUnit", "ms");
    json.attributeObject("otherData", [&] {
      json.attribute("dropped_events", int64_t(all > limit ? all - limit : 0));
    });
    json.attributeArray("traceEvents", [&] {
      int64_t thread = 0;
      for (auto &[id, track] : tracks) {
        ++thread;
        event("M", "thread_name", thread,
              [&] { argument("name", track->name); });
        std::lock_guard own(track->mutex);
        for (const Event &each : track->events)
          event("X", names[each.name].text, thread, [&] {
            json.attribute("cat", categoryOf(each.kind));
            json.attribute("ts", microseconds(each.begin - start));
            json.attribute("dur", microseconds(each.end - each.begin));
            if (!names[each.name].detail.empty())
              argument("detail", names[each.name].detail);
          });
      }
    });
  });
  os << "\n";
  return text;
}

Error Trace::write(StringRef path) const {
  return writeAtomically(path,
                         [&](OutputFile &file) { return file.write(json()); });
}

} // namespace mp
