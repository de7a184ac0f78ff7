//===- host-peers-test.cpp - ranks of one host watch each other -----------===//
#include "ChildProcess.h"
#include "TestFiles.h"
#include "runtime/ranks/HostPeers.h"
#include "runtime/ranks/ThreadRanks.h"
#include "gtest/gtest.h"
#include <thread>

using namespace mp;
using namespace mp::test;
using namespace std::chrono_literals;

namespace {

/// Two ranks, of which a test plays both or the first.
class HostPeersTest : public testing::Test {
protected:
  std::unique_ptr<HostPeers> open(int64_t rank) {
    return HostPeers::open(path, rank, 2, options);
  }
  /// Waits for a failure, for at most three seconds.
  static std::string failureOf(HostPeers &peers) {
    for (int i = 0; i < 300 && peers.failure().empty(); ++i)
      std::this_thread::sleep_for(10ms);
    return peers.failure();
  }

  RanksOptions options{.deadAfterSeconds = 0.5, .lateAfterSeconds = 0.5};
  TestFolder folder;
  std::string path = folder.write("shared", "");
};

TEST_F(HostPeersTest, RanksThatLiveDoNotFail) {
  auto first = open(0), second = open(1);
  first->watch({0, 1});
  second->watch({0, 1});
  first->started(0, "all_gather");
  second->started(0, "all_gather");
  std::this_thread::sleep_for(1s); // longer than both limits
  EXPECT_EQ(first->failure(), "");
  EXPECT_EQ(second->failure(), "");
}

TEST_F(HostPeersTest, ARankThatIsKilledIsMissedAtOnce) {
  auto first = open(0);
  options.deadAfterSeconds = 60;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    auto second = open(1);
    (void)!write(ready[1], "x", 1);
    pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  first->watch({0, 1});
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(first->failure(), "");
  kill(child, SIGKILL);
  EXPECT_EQ(failureOf(*first),
            "rank 1 ended in the middle of the run: it was killed, or crashed");
  waitpid(child, nullptr, 0);
}

TEST_F(HostPeersTest, ARankThatStandsStillIsMissed) {
  auto first = open(0), second = open(1);
  first->watch({0, 1}); // and the second does not count
  EXPECT_EQ(failureOf(*first).rfind("rank 1 has not answered for ", 0), 0u);
}

TEST_F(HostPeersTest, ALateRankIsMissedUnlessItIsBusy) {
  auto first = open(0), second = open(1);
  second->setBusy(true);
  first->watch({0, 1});
  second->watch({0, 1});
  first->started(3, "all_gather i64 [1]");
  std::this_thread::sleep_for(1s);
  EXPECT_EQ(first->failure(), "");
  second->setBusy(false);
  EXPECT_EQ(failureOf(*first).rfind("rank 1 has not started collective 3 "
                                    "(all_gather i64 [1]), in which rank 0 has "
                                    "waited for it for ",
                                    0),
            0u);
}

TEST_F(HostPeersTest, ARankThatLeavesIsMissedInACollectiveAlone) {
  auto first = open(0), second = open(1);
  first->watch({0, 1});
  second->started(4, "all_gather");
  second.reset();
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(first->failure(), "");
  first->started(5, "broadcast");
  EXPECT_EQ(failureOf(*first), "rank 1 ended before collective 5 (broadcast), "
                               "in which rank 0 waits for it");
}

TEST_F(HostPeersTest, OneMessageEndsAll) {
  auto abortIn = [&](const char *message) {
    return inChild({}, [&] {
      auto peers = open(0);
      peers->watch({0, 1});
      std::this_thread::sleep_for(50ms);
      peers->abort(message);
      return llvm::Error::success();
    });
  };
  auto second = open(1);
  EXPECT_EQ(abortIn("no data").said, "no data\n");
  Outcome later = abortIn("no data, either");
  EXPECT_EQ(later.said, "");
  EXPECT_EQ(later.exit, 1);
  Outcome waits = inChild({}, [&] {
    auto peers = open(0);
    peers->watch({0, 1});
    std::this_thread::sleep_for(5s);
    return llvm::createStringError("it has not ended");
  });
  EXPECT_EQ(waits.message, "");
  EXPECT_EQ(waits.exit, 1);
}

TEST_F(HostPeersTest, AProcessThatDoesNotAskIsEnded) {
  auto second = open(1);
  auto begin = std::chrono::steady_clock::now();
  Outcome outcome = inChild({}, [&] {
    auto peers = open(0);
    peers->watch({0, 1});
    std::this_thread::sleep_for(30s);
    return llvm::createStringError("it has not ended");
  });
  EXPECT_EQ(outcome.said.rfind("rank 1 has not answered for ", 0), 0u)
      << outcome.said << outcome.message;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
}

TEST(HostPeers, RanksFindEachOther) {
  auto ranks = createThreadRanks(3);
  std::vector<std::unique_ptr<HostPeers>> found(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      auto met = HostPeers::meet(*ranks[rank], RanksOptions());
      ASSERT_TRUE(bool(met));
      found[rank] = std::move(*met);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (auto &peers : found) {
    ASSERT_NE(peers, nullptr);
    EXPECT_EQ(peers->failure(), "");
  }
  found[2]->started(1, "all_gather");
  found[1].reset();
  for (int i = 0; i < 300 && found[2]->failure().empty(); ++i)
    std::this_thread::sleep_for(10ms);
  EXPECT_EQ(found[2]->failure(), "rank 1 ended before collective 1 "
                                 "(all_gather), in which rank 2 waits for it");
}

} // namespace
