//===- thread-pool-test.cpp - sharing tasks among threads -----------------===//
#include "runtime/ThreadPool.h"
#include "gtest/gtest.h"
#include <chrono>
#include <csignal>
#include <numeric>
#include <set>
#include <unistd.h>

using namespace mp;

namespace {

class Pools : public testing::TestWithParam<unsigned> {};

TEST_P(Pools, RunsEveryTaskOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.threads(), GetParam());
  for (int64_t tasks : {0, 1, 2, 3, 7, 64, 1000}) {
    std::vector<int> count(tasks); // unguarded: TSan sees a task run twice
    pool.run(tasks, [&](int64_t task, unsigned worker) {
      ASSERT_LT(worker, pool.threads());
      ++count[task];
    });
    EXPECT_EQ(std::accumulate(count.begin(), count.end(), int64_t(0)), tasks);
    EXPECT_EQ(std::count(count.begin(), count.end(), 1), tasks);
  }
}

TEST_P(Pools, WhatTasksWroteIsSeenByTheNextRun) {
  ThreadPool pool(GetParam());
  constexpr int64_t tasks = 16;
  std::vector<int64_t> from(tasks, 1), to(tasks);
  for (int round = 0; round < 2000; ++round) {
    pool.run(tasks, [&](int64_t task, unsigned) {
      to[task] = from[(task + 1) % tasks] + 1;
    });
    std::swap(from, to);
  }
  EXPECT_EQ(from, std::vector<int64_t>(tasks, 2001));
}

TEST_P(Pools, WakesWorkersThatSleep) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> done = 0;
    pool.run(8, [&](int64_t, unsigned) { ++done; });
    EXPECT_EQ(done, 8);
  }
}

TEST_P(Pools, RunsOnEveryThread) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread::id> ids(pool.threads());
    pool.runOnEach([&](unsigned worker) {
      EXPECT_EQ(ids[worker], std::thread::id());
      ids[worker] = std::this_thread::get_id();
    });
    EXPECT_EQ(ids[0], std::this_thread::get_id());
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), pool.threads());
  }
}

// What a worker wrote in one launch is in its own cache in the next.
TEST_P(Pools, EachWorkerHasItsShareOfTheTasks) {
  ThreadPool pool(GetParam());
  const int64_t tasks = 3 * pool.threads();
  for (int round = 0; round < 20; ++round) {
    // No worker is still looking for tasks of the launch before.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::atomic<unsigned> begun = 0;
    std::vector<unsigned> worker(tasks);
    pool.run(tasks, [&](int64_t task, unsigned by) {
      worker[task] = by;
      if (task % 3 != 0)
        return;
      for (++begun; begun != pool.threads();)
        std::this_thread::yield();
    });
    for (unsigned by = 0; by < pool.threads(); ++by)
      EXPECT_EQ(worker[3 * by], by);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Pools, testing::Values(1, 2, 3, 8));

TEST(ThreadPool, WorkersHaveNumbersOfTheirOwn) {
  ThreadPool pool(4);
  std::atomic<int> inside[4] = {};
  for (int round = 0; round < 200; ++round)
    pool.run(50, [&](int64_t, unsigned worker) {
      EXPECT_EQ(inside[worker].fetch_add(1), 0);
      inside[worker].fetch_sub(1);
    });
}

TEST(ThreadPool, TakesOneThreadACoreByDefault) {
  ThreadPool pool;
  EXPECT_GE(pool.threads(), 1u);
  EXPECT_LE(pool.threads(), std::max(std::thread::hardware_concurrency(), 1u));
}

TEST(ThreadPool, HasAFewThreadsACoreAtMost) {
  ThreadPool pool(1000000);
  EXPECT_EQ(pool.threads(), ThreadPool::most());
}

/// Uses up the stack. Two recursive calls keep it from becoming a loop.
[[maybe_unused]] int recurse(volatile int *depth) {
  volatile int more = *depth + 1;
  if (more < 0) // never: the stack is smaller
    return 0;
  return recurse(&more) + recurse(&more);
}

TEST(ThreadPoolDeathTest, AHandlerRunsWhereAWorkerIsOutOfStack) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto overflow = [] {
    struct sigaction action = {};
    action.sa_handler = [](int) { _exit(7); };
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    ThreadPool(2).runOnEach([](unsigned worker) {
      volatile int depth = 0;
      if (worker == 1)
        recurse(&depth);
    });
  };
  EXPECT_EXIT(overflow(), testing::ExitedWithCode(7), "");
}

} // namespace
