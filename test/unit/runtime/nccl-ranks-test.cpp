//===- nccl-ranks-test.cpp - ranks that NCCL alone connects ---------------===//
//
// On the emulated libraries, with ranks that are threads of one process.
//
//===----------------------------------------------------------------------===//
#include "ChildProcess.h"
#include "CollectiveCase.h"
#include "runtime/Session.h"
#include "runtime/cuda/NcclRanks.h"
#include "gtest/gtest.h"
#include <mutex>
#include <thread>

using namespace mp;
using namespace mp::test;

namespace {

using Body = std::function<llvm::Error(Communicator &)>;

/// Joins `size` ranks, and runs `body` on each; returns the first error.
llvm::Error onRanks(int64_t size, const Body &body) {
  auto id = createNcclId();
  if (!id)
    return id.takeError();
  std::mutex mutex;
  llvm::Error all = llvm::Error::success();
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      // Emulated devices of one process end together, so they share one.
      auto own = openNcclRanks({rank, size, "cuda:0", *id});
      llvm::Error error = own ? body(**own) : own.takeError();
      std::lock_guard guard(mutex);
      all = llvm::joinErrors(std::move(all), std::move(error));
    });
  for (std::thread &thread : threads)
    thread.join();
  return all;
}

Outcome inEmulator(llvm::function_ref<llvm::Error()> body) {
  return inChild(
      {{"MP_CUDA_PATH", MP_EMULATOR_DIR}, {"MP_EMULATOR_DEVICES", "3"}}, body);
}

void expectOnRanks(int64_t size, const Body &body) {
  Outcome outcome = inEmulator([&] { return onRanks(size, body); });
  EXPECT_EQ(outcome.exit, 0)
      << outcome.message << outcome.said << " signal " << outcome.signal;
}

llvm::Error fault(const llvm::Twine &text) {
  return llvm::createStringError(text.str());
}

/// Whether a collective gives what a plain loop does.
llvm::Error tryOne(Communicator &rank, const Collective &collective,
                   bool inPlace) {
  CollectiveCase test{collective, rank.size()};
  auto given = test.given(rank.rank()), got = test.room();
  auto &result = inPlace ? given : got;
  if (llvm::Error error =
          run(rank, collective, readable(given), writable(result)))
    return error;
  for (size_t tensor = 0; tensor < result.size(); ++tensor)
    if (result[tensor] != test.expected(rank.rank(), tensor))
      return fault(collective.str());
  return llvm::Error::success();
}

llvm::Error tryAll(Communicator &rank, int64_t elements) {
  for (const Collective &collective : everyCollective(rank.size(), elements))
    for (bool inPlace : {false, true})
      if (!inPlace || collective.kind == Collective::Kind::AllReduce ||
          collective.kind == Collective::Kind::Broadcast)
        if (llvm::Error error = tryOne(rank, collective, inPlace))
          return error;
  return llvm::Error::success();
}

class NcclRanksOfSize : public testing::TestWithParam<int64_t> {};

/// 5 elements travel with the head, and 1501 do not.
TEST_P(NcclRanksOfSize, EveryCollectiveIsThatOfAPlainLoop) {
  expectOnRanks(GetParam(), [](Communicator &rank) -> llvm::Error {
    for (int64_t elements : {5, 1501})
      if (llvm::Error error = tryAll(rank, elements))
        return error;
    return llvm::Error::success();
  });
}
INSTANTIATE_TEST_SUITE_P(All, NcclRanksOfSize, testing::Values(1, 2, 3));

TEST(NcclRanks, LongTensorsGoInPieces) {
  expectOnRanks(2, [](Communicator &rank) -> llvm::Error {
    return tryOne(rank, {.elements = {700000, 3}}, false);
  });
}

TEST(NcclRanks, EmptyTensorsAndNoTensors) {
  expectOnRanks(2, [](Communicator &rank) -> llvm::Error {
    for (const Collective &collective :
         {Collective{.elements = {0, 2, 0}}, Collective{.elements = {}}})
      if (llvm::Error error = tryOne(rank, collective, false))
        return error;
    return llvm::Error::success();
  });
}

TEST(NcclRanks, Texts) {
  expectOnRanks(3, [](Communicator &rank) -> llvm::Error {
    std::string own(rank.rank() * 3000, 'a' + rank.rank());
    auto texts = gatherTexts(rank, own);
    if (!texts)
      return texts.takeError();
    for (int64_t other = 0; other < rank.size(); ++other)
      if ((*texts)[other] != std::string(other * 3000, 'a' + other))
        return fault("another text of rank " + llvm::Twine(other));
    auto text = broadcastText(rank, rank.rank() == 1 ? "second" : "", 1);
    if (!text)
      return text.takeError();
    return *text == "second" ? llvm::Error::success() : fault(*text);
  });
}

TEST(NcclRanks, DifferentCollectivesFailOnAllRanks) {
  expectOnRanks(2, [](Communicator &rank) -> llvm::Error {
    float values[4] = {};
    Collective collective{.elements = {1}};
    rank.wait(rank.start(collective, {values}, {values}));
    if (rank.rank() == 1)
      collective.kind = Collective::Kind::AllGather;
    rank.wait(rank.start(collective, {values}, {values + 1}));
    std::string text = llvm::toString(rank.failure());
    return text == "ranks differ in collective 1: rank 0 started all_reduce "
                   "sum f32 [1], rank 1 all_gather f32 [1]"
               ? llvm::Error::success()
               : fault(text);
  });
}

TEST(NcclRanks, ARankThatEndsIsMissed) {
  expectOnRanks(2, [](Communicator &rank) -> llvm::Error {
    if (rank.rank() == 1)
      return llvm::Error::success();
    float value = 0;
    llvm::Error error = run(rank, {.elements = {1}}, {&value}, {&value});
    std::string text = llvm::toString(std::move(error));
    return llvm::StringRef(text).contains("rank 1")
               ? llvm::Error::success()
               : fault("no word of rank 1: " + text);
  });
}

TEST(NcclRanks, TheObserverLearnsOfEachCollective) {
  expectOnRanks(2, [](Communicator &rank) -> llvm::Error {
    int seen = 0;
    rank.observe([&](const Collective &, Communicator::Time begin,
                     Communicator::Time met) { seen += begin <= met; });
    float value = 0;
    if (llvm::Error error = run(rank, {.elements = {1}}, {&value}, {&value}))
      return error;
    return seen == 1 ? llvm::Error::success() : fault("not seen once");
  });
}

TEST(NcclRanks, StepsOnCpusAreRefused) {
  Outcome outcome = inEmulator([&]() -> llvm::Error {
    auto id = createNcclId();
    if (!id)
      return id.takeError();
    auto own = openNcclRanks({0, 1, "cuda", *id});
    if (!own)
      return own.takeError();
    SessionOptions options;
    options.ranks = std::move(*own);
    return Session::create(options).takeError();
  });
  EXPECT_EQ(outcome.message,
            "NCCL connects these 1 ranks, for steps on CUDA devices, but this "
            "one runs on the CPU: start ranks on CPUs by mpirun");
}

TEST(NcclRanks, Mistakes) {
  auto refusal = [](NcclRank place) {
    return inEmulator([&]() -> llvm::Error {
             return openNcclRanks(place).takeError();
           })
        .message;
  };
  EXPECT_EQ(refusal({2, 2}), "there is no rank 2 of 2");
  EXPECT_EQ(refusal({0, 2, "cpu"}),
            "NCCL connects CUDA devices, and 'cpu' is cpu");
  EXPECT_EQ(refusal({0, 2, "cuda:7"}),
            "device cuda:7 is not available: no CUDA device 7, there are 3");
  EXPECT_EQ(refusal({0, 2, "cuda", "short"}),
            "the id of a group has 5 bytes, expected 128");
}

} // namespace
