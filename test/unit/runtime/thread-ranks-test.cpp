//===- thread-ranks-test.cpp - ranks that are threads ---------------------===//
#include "CollectiveCase.h"
#include "runtime/ranks/ThreadRanks.h"
#include "gtest/gtest.h"
#include <functional>
#include <thread>

using namespace mp;
using namespace mp::test;

namespace {

using Ranks = std::vector<std::unique_ptr<Communicator>>;

/// Runs `body` on a thread for each rank.
void onEach(Ranks &ranks, std::function<void(Communicator &)> body) {
  std::vector<std::thread> threads;
  for (auto &rank : ranks)
    threads.emplace_back([&body, &rank] { body(*rank); });
  for (std::thread &thread : threads)
    thread.join();
}

std::string failureOf(Communicator &rank) {
  return llvm::toString(rank.failure());
}

Collective sum(std::vector<int64_t> elements) {
  return {.elements = std::move(elements)};
}

class Sizes : public testing::TestWithParam<int64_t> {};

TEST_P(Sizes, EveryCollectiveIsThatOfAPlainLoop) {
  Ranks ranks = createThreadRanks(GetParam());
  onEach(ranks, [](Communicator &rank) {
    for (const Collective &collective : everyCollective(rank.size(), 17)) {
      CollectiveCase test{collective, rank.size()};
      auto given = test.given(rank.rank()), got = test.room();
      EXPECT_EQ(
          llvm::toString(run(rank, collective, readable(given), writable(got))),
          "");
      for (size_t tensor = 0; tensor < got.size(); ++tensor)
        EXPECT_EQ(got[tensor], test.expected(rank.rank(), tensor))
            << collective.str();
    }
  });
}

TEST_P(Sizes, ManyInFlightEndInOrder) {
  Ranks ranks = createThreadRanks(GetParam());
  onEach(ranks, [](Communicator &rank) {
    std::vector<float> values(200);
    Communicator::Ticket last = 0;
    for (float &value : values) {
      value = &value - values.data();
      last = rank.start(sum({1}), {&value}, {&value});
    }
    rank.wait(last);
    for (float &value : values)
      EXPECT_EQ(value, (&value - values.data()) * rank.size());
  });
}

TEST_P(Sizes, TextsOfEveryLengthAreGathered) {
  Ranks ranks = createThreadRanks(GetParam());
  onEach(ranks, [](Communicator &rank) {
    auto texts = gatherTexts(rank, std::string(3 * rank.rank(), 'a'));
    ASSERT_TRUE(bool(texts));
    ASSERT_EQ(int64_t(texts->size()), rank.size());
    for (int64_t other = 0; other < rank.size(); ++other)
      EXPECT_EQ((*texts)[other], std::string(3 * other, 'a'));
  });
}

TEST_P(Sizes, ATextIsBroadcast) {
  Ranks ranks = createThreadRanks(GetParam());
  onEach(ranks, [](Communicator &rank) {
    for (const char *text : {"", "seven"}) {
      int64_t root = rank.size() - 1;
      auto got =
          broadcastText(rank, rank.rank() == root ? text : "other", root);
      ASSERT_TRUE(bool(got));
      EXPECT_EQ(*got, text);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, Sizes, testing::Values(1, 2, 3, 4));

TEST(ThreadRanks, DifferentCollectivesFailOnEveryRank) {
  Ranks ranks = createThreadRanks(3);
  onEach(ranks, [](Communicator &rank) {
    std::vector<float> values(128 * 3);
    Collective collective = sum({128});
    if (rank.rank() == 2) {
      collective.kind = Collective::Kind::AllGather;
      collective.elements = {4};
    }
    rank.wait(rank.start(collective, {values.data()}, {values.data()}));
    std::string message = failureOf(rank);
    EXPECT_NE(message.find("rank 2 all_gather f32 [4]"), std::string::npos)
        << message;
    EXPECT_NE(message.find("all_reduce sum f32 [128]"), std::string::npos);
    // What is started after a failure does nothing.
    rank.wait(rank.start(collective, {values.data()}, {values.data()}));
  });
}

TEST(ThreadRanks, ARankThatEndsFailsThoseThatWaitForIt) {
  Ranks ranks = createThreadRanks(2);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ranks[1].reset();
  });
  float value = 1;
  ranks[0]->wait(ranks[0]->start(sum({1}), {&value}, {&value}));
  other.join();
  EXPECT_EQ(failureOf(*ranks[0]),
            "rank 1 ended before collective 0 (all_reduce sum f32 [1]), in "
            "which rank 0 waits for it");
}

TEST(ThreadRanks, ARankMayEndThatNobodyWaitsFor) {
  Ranks ranks = createThreadRanks(2);
  onEach(ranks, [&](Communicator &rank) {
    float value = 1;
    rank.start(sum({1}), {&value}, {&value});
    ranks[rank.rank()].reset(); // waits
    EXPECT_EQ(value, 2);
  });
}

TEST(ThreadRanksDeathTest, AbortEndsTheProcessAndSaysWhyOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Ranks ranks = createThreadRanks(2);
  EXPECT_EXIT(onEach(ranks, [](Communicator &rank) { rank.abort("no data"); }),
              testing::ExitedWithCode(1), "^no data\n$");
}

TEST(Collectives, SayWhatTheyAre) {
  Collective collective = sum({128, 10});
  EXPECT_EQ(collective.str(), "all_reduce sum f32 [128, 10]");
  collective.kind = Collective::Kind::Broadcast;
  collective.element = ElementType::BF16;
  collective.root = 2;
  EXPECT_EQ(collective.str(), "broadcast bf16 [128, 10] of rank 2");
}

} // namespace
