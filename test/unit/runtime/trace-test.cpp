//===- trace-test.cpp - traces --------------------------------------------===//
//
// A trace reports the events that happened, on their threads.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "runtime/ThreadPool.h"
#include "runtime/Trace.h"
#include "llvm/Support/JSON.h"
#include <set>

using namespace mp;
using namespace mp::test;

namespace {

/// The events of a trace, parsed.
std::vector<llvm::json::Object> eventsOf(const Trace &trace) {
  auto value = llvm::cantFail(llvm::json::parse(trace.json()));
  std::vector<llvm::json::Object> events;
  for (llvm::json::Value &event : *value.getAsObject()->getArray("traceEvents"))
    events.push_back(*event.getAsObject());
  return events;
}

std::string text(const llvm::json::Object &event, const char *key) {
  return event.getString(key).value_or("").str();
}

TEST(Trace, HasTheFieldsOfChrome) {
  Trace trace;
  {
    TraceSpan span(&trace, Trace::Kind::Step, "step");
  }
  auto events = eventsOf(trace);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(text(events[0], "ph"), "M");
  EXPECT_EQ(text(events[0], "name"), "thread_name");
  EXPECT_EQ(text(*events[0].getObject("args"), "name"), "main");
  EXPECT_EQ(text(events[1], "ph"), "X");
  EXPECT_EQ(text(events[1], "name"), "step");
  EXPECT_EQ(text(events[1], "cat"), "step");
  EXPECT_EQ(events[1].getInteger("tid"), events[0].getInteger("tid"));
  EXPECT_GE(*events[1].getNumber("ts"), 0);
  EXPECT_GE(*events[1].getNumber("dur"), 0);
}

TEST(Trace, NamesMayHoldAnything) {
  Trace trace;
  trace.add(Trace::Kind::Compile, trace.name("a\"\\\n\xff", "net\xfe.mlir"),
            Trace::Clock::now());
  EXPECT_EQ(eventsOf(trace).size(), 2u);
  EXPECT_EQ(trace.name("x"), trace.name("x"));
  EXPECT_NE(trace.name("x"), trace.name("x", "y"));
}

TEST(Trace, KeepsNoMoreThanItMay) {
  Trace trace(/*limit=*/3);
  for (int i = 0; i < 5; ++i)
    TraceSpan span(&trace, Trace::Kind::Step, "step");
  EXPECT_EQ(eventsOf(trace).size(), 1u + 3u);
  auto value = llvm::cantFail(llvm::json::parse(trace.json()));
  EXPECT_EQ(
      value.getAsObject()->getObject("otherData")->getInteger("dropped_events"),
      2);
}

TEST(Trace, SeveralAtATime) {
  Trace first, second;
  for (int i = 0; i < 2; ++i) {
    TraceSpan one(&first, Trace::Kind::Step, "one");
    TraceSpan other(&second, Trace::Kind::Step, "other");
  }
  EXPECT_EQ(eventsOf(first).size(), 3u);
  EXPECT_EQ(eventsOf(second).size(), 3u);
}

/// Every worker that had a task reports it, once for each call of `run`.
TEST(Trace, SaysWhatEachWorkerDid) {
  Trace trace;
  std::set<std::thread::id> workers;
  std::mutex mutex;
  {
    ThreadPool pool(3, &trace);
    for (const char *name : {"first", "second"}) {
      pool.setLabel(trace.name(name));
      pool.runOnEach([&](unsigned) {
        std::lock_guard lock(mutex);
        workers.insert(std::this_thread::get_id());
      });
    }
    pool.setLabel(trace.name("alone"));
    pool.run(1, [](int64_t, unsigned) {});
  }
  EXPECT_EQ(workers.size(), 3u);
  std::map<std::string, std::set<int64_t>> threads;
  std::map<std::string, int> counts;
  for (const llvm::json::Object &event : eventsOf(trace)) {
    threads[text(event, "name")].insert(*event.getInteger("tid"));
    ++counts[text(event, "name")];
  }
  for (const char *name : {"first", "second"}) {
    EXPECT_EQ(threads[name].size(), 3u);
    EXPECT_EQ(counts[name], 3);
  }
  EXPECT_EQ(counts["alone"], 1);
  EXPECT_EQ(counts["thread_name"], 3);
  EXPECT_EQ(counts["wait for the other workers"], 2);
}

} // namespace
