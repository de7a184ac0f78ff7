//===- length-buckets-test.cpp - batches of samples of about one length ---===//
//
// The plan alone: which samples are in which batch of which epoch.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "runtime/data/Prefetcher.h"
#include "runtime/data/Shuffle.h"
#include <numeric>
#include <set>

using namespace mp;
using namespace mp::test;

namespace {

/// Lengths 1 to 8 in turn: 26 samples in bucket 2, 26 in bucket 4, 50 in 8.
std::vector<int64_t> lengths() {
  std::vector<int64_t> lengths;
  for (int i = 0; i < 102; ++i)
    lengths.push_back(1 + i * 5 % 8);
  return lengths;
}

BatchPlan plan(LengthBucketOptions options) {
  options.lengths = {2, 4, 8};
  if (options.batch == 1)
    options.batch = 8;
  BatchPlan plan{
      .samples = 102, .batch = options.batch, .dropLast = options.dropLast};
  plan.buckets =
      std::make_shared<const LengthBuckets>(std::move(options), lengths());
  return plan;
}

/// The samples of a step of one micro-batch.
std::vector<int64_t> samples(const BatchPlan &plan, int64_t step) {
  std::vector<int64_t> order = plan.order(0, plan.epoch(step), true);
  auto first = order.begin() + plan.firstRow(step, 0);
  return {first, first + plan.rows(step)};
}

TEST(LengthBuckets, CountsSamplesBatchesAndPadding) {
  BatchPlan all = plan({});
  ASSERT_EQ(all.buckets->all().size(), 3u);
  int64_t count = 0, batches = 0, tokens = 0;
  for (const LengthBucket &bucket : all.buckets->all()) {
    EXPECT_EQ(bucket.batches, (bucket.samples + 7) / 8);
    EXPECT_EQ(bucket.padding(), bucket.samples * bucket.length - bucket.tokens);
    count += bucket.samples;
    batches += bucket.batches;
    tokens += bucket.tokens;
  }
  std::vector<int64_t> known = lengths();
  EXPECT_EQ(count, 102);
  EXPECT_EQ(tokens, std::accumulate(known.begin(), known.end(), int64_t(0)));
  EXPECT_EQ(batches, all.stepsPerEpoch());
  // A sample that is as long as a bucket is in it.
  EXPECT_EQ(all.buckets->all()[0].samples,
            std::ranges::count_if(known, [](int64_t n) { return n <= 2; }));
}

TEST(LengthBuckets, TakeEachSampleOnceAnEpochInItsBucket) {
  std::vector<int64_t> known = lengths();
  for (bool shuffle : {true, false}) {
    BatchPlan all = plan({.seed = 7, .shuffle = shuffle});
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::set<int64_t> seen;
      for (int64_t i = 0; i < all.stepsPerEpoch(); ++i) {
        int64_t step = epoch * all.stepsPerEpoch() + i;
        int64_t length = all.size(step, 0).length;
        for (int64_t sample : samples(all, step)) {
          EXPECT_TRUE(seen.insert(sample).second) << sample;
          EXPECT_LE(known[sample], length);
          EXPECT_GT(known[sample], length == 2 ? 0 : length / 2);
        }
      }
      EXPECT_EQ(seen.size(), 102u);
    }
  }
}

TEST(LengthBuckets, LeaveOutTheRemainderOfEachBucket) {
  BatchPlan whole = plan({.dropLast = true});
  int64_t expected = 0;
  for (const LengthBucket &bucket : whole.buckets->all())
    expected += bucket.samples / 8;
  EXPECT_EQ(whole.stepsPerEpoch(), expected);
  for (int64_t step = 0; step < expected; ++step)
    EXPECT_EQ(whole.rows(step), 8);
}

/// A run that is resumed asks a new plan for its next step alone.
TEST(LengthBuckets, AreTheSameWhereverARunGoesOn) {
  BatchPlan first = plan({.seed = 5});
  std::vector<std::vector<int64_t>> all;
  for (int64_t step = 0; step < 3 * first.stepsPerEpoch(); ++step)
    all.push_back(samples(first, step));
  for (int64_t step = 3 * first.stepsPerEpoch() - 1; step >= 0; step -= 7) {
    BatchPlan resumed = plan({.seed = 5});
    EXPECT_EQ(samples(resumed, step), all[step]) << step;
    EXPECT_EQ(resumed.size(step, 0), first.size(step, 0));
  }
}

TEST(LengthBuckets, ShuffleSamplesAndBatchesBySeedAndEpoch) {
  auto lengthsOf = [](const BatchPlan &plan, int64_t epoch) {
    std::vector<int64_t> lengths;
    for (int64_t i = 0; i < plan.stepsPerEpoch(); ++i)
      lengths.push_back(plan.size(epoch * plan.stepsPerEpoch() + i, 0).length);
    return lengths;
  };
  BatchPlan one = plan({.seed = 1}), other = plan({.seed = 2});
  EXPECT_NE(lengthsOf(one, 0), lengthsOf(one, 1));
  EXPECT_NE(lengthsOf(one, 0), lengthsOf(other, 0));
  EXPECT_FALSE(std::ranges::is_sorted(lengthsOf(one, 0)));
  EXPECT_NE(one.order(1, 0, true), one.order(1, 1, true));
  // Without shuffling, the buckets follow one another in the files' order.
  BatchPlan inOrder = plan({.shuffle = false});
  EXPECT_TRUE(std::ranges::is_sorted(lengthsOf(inOrder, 0)));
  EXPECT_TRUE(std::ranges::is_sorted(samples(inOrder, 0)));
  // The order on every machine, as checkpoints rely on it.
  EXPECT_EQ(shuffledBatches(7, 3, 8),
            std::vector<int64_t>({6, 5, 7, 1, 3, 2, 0, 4}));
}

/// The ranks of a step take micro-batches of one batch, and so of one bucket.
TEST(LengthBuckets, DivideStepsAmongMicroBatchesAndRanks) {
  BatchPlan whole = plan({.batch = 12});
  std::vector<BatchPlan> ranks(2, whole);
  for (int64_t rank = 0; rank < 2; ++rank) {
    ranks[rank].accumulate = 4;
    ranks[rank].rank = rank;
    ranks[rank].ranks = 2;
  }
  for (int64_t step = 0; step < whole.stepsPerEpoch(); ++step) {
    int64_t rows = 0;
    for (const BatchPlan &rank : ranks)
      for (int64_t micro = 0; micro < rank.microBatches(step); ++micro) {
        BatchSize size = rank.size(step, micro);
        EXPECT_EQ(size.length, whole.size(step, 0).length);
        if (rank.isIdle(step))
          continue;
        EXPECT_EQ(rank.firstRow(step, micro), whole.firstRow(step, 0) + rows);
        rows += size.rows;
      }
    EXPECT_EQ(rows, whole.rows(step));
  }
}

/// Each size is compiled once, in the order in which it is needed.
TEST(LengthBuckets, ListTheSizesOfTheirBatches) {
  BatchPlan all = plan({.seed = 5});
  for (int64_t begin : {int64_t(0), all.stepsPerEpoch() + 3}) {
    std::vector<BatchSize> expected;
    for (int64_t i = 0; i < all.stepsPerEpoch(); ++i)
      if (BatchSize size = all.size(begin + i, 0);
          std::ranges::find(expected, size) == expected.end())
        expected.push_back(size);
    EXPECT_EQ(all.sizes(begin), expected);
  }
  EXPECT_EQ(all.largest(), BatchSize(8, 8));
  EXPECT_EQ(all.size(all.firstStepOf(all.largest()), 0), all.largest());
  // The only batch of the largest bucket has few samples.
  BatchPlan few{.samples = 3, .batch = 2};
  few.buckets = std::make_shared<const LengthBuckets>(
      LengthBucketOptions{.lengths = {4, 8}, .batch = 2},
      std::vector<int64_t>{1, 2, 7});
  EXPECT_EQ(few.largest(), BatchSize(1, 8));
  // Without buckets there is a whole micro-batch and the remainder's.
  BatchPlan plain{.samples = 17, .batch = 6, .accumulate = 2};
  EXPECT_EQ(plain.sizes(), (std::vector<BatchSize>{3, 2}));
  EXPECT_EQ(plain.largest(), BatchSize(3));
}

TEST(LengthBuckets, AreListsThatGoUp) {
  EXPECT_EQ(llvm::cantFail(parseBuckets("32,64, 128")),
            std::vector<int64_t>({32, 64, 128}));
  EXPECT_EQ(bucketsText({32, 64}), "32,64");
  EXPECT_EQ(message(parseBuckets("32,16")),
            "16 follows 32, but the lengths of buckets go up: write them as "
            "32,64,128");
  EXPECT_EQ(message(parseBuckets("32,32")),
            "32 follows 32, but the lengths of buckets go up: write them as "
            "32,64,128");
  for (std::string text : {"0", "x", "", "32,", "-1", "2000000000"})
    EXPECT_NE(message(parseBuckets(text)).find("is not the length of a bucket"),
              std::string::npos)
        << text;
}

TEST(LengthBuckets, HaveAModuleEach) {
  auto modules =
      llvm::cantFail(modulesOfBuckets("a{tokens}/{tokens}.mlir", {2, 16}));
  EXPECT_EQ(modules[2], "a2/2.mlir");
  EXPECT_EQ(modules[16], "a16/16.mlir");
  EXPECT_NE(message(modulesOfBuckets("net.mlir", {2})).find("net.mlir: has "),
            std::string::npos);
}

/// Files of four samples of up to four tokens, with their lengths.
class BucketedData : public testing::Test {
protected:
  Dataset open(std::vector<int32_t> tokens, std::vector<int32_t> lengths) {
    auto write = [&](const std::string &name, const std::string &shape,
                     const std::vector<int32_t> &values) {
      folder.write(name, npy("{'descr': '<i4', 'fortran_order': False, "
                             "'shape': (" +
                                 shape + "), }\n",
                             {reinterpret_cast<const char *>(values.data()),
                              values.size() * sizeof(int32_t)}));
    };
    write("tokens.npy", "4, 4", tokens);
    write("lengths.npy", "4,", lengths);
    auto column = [](const char *name) {
      return DataColumn{name, std::string(name) + ".npy", "npy",
                        "",   ElementType::I32,           {}};
    };
    return llvm::cantFail(Dataset::open(
        {"train", {column("tokens"), column("lengths")}, {}}, folder.root));
  }
  static Entry entry(int64_t rows, int64_t length) {
    Entry entry;
    entry.inputs = {{"tokens", {ElementType::I32, {rows, length}}, {}, {}, {}},
                    {"lengths", {ElementType::I32, {rows}}, {}, {}, {}}};
    return entry;
  }
  TestFolder folder;
};

TEST_F(BucketedData, BatchesHoldTheBeginningsOfSamples) {
  Dataset data =
      open({1, 2, 3, 4, 5, 6, 0, 0, 7, 0, 0, 0, 8, 9, 10, 0}, {4, 2, 1, 3});
  BatchPlan plan{.samples = 4, .batch = 2};
  plan.buckets = llvm::cantFail(LengthBuckets::of(
      data, {.lengths = {2, 4}, .batch = 2, .shuffle = false}));
  Prefetcher batches(data, llvm::cantFail(data.bind(entry(2, 4), 4)),
                     {.plan = plan, .shuffle = false, .lastStep = 2});
  auto next = [&](int64_t length) {
    auto inputs = llvm::cantFail(batches.take(entry(2, length)));
    return llvm::cantFail(inputs[0].as<int32_t>()).vec();
  };
  EXPECT_EQ(next(2), std::vector<int32_t>({5, 6, 7, 0}));
  EXPECT_EQ(next(4), std::vector<int32_t>({1, 2, 3, 4, 8, 9, 10, 0}));
}

TEST_F(BucketedData, OnlyPaddingIsCutOff) {
  Dataset data =
      open({1, 2, 3, 4, 5, 6, 0, 0, 7, 0, 0, 0, 8, 9, 10, 0}, {4, 2, 1, 2});
  ColumnBinding whole = llvm::cantFail(data.bind(entry(2, 4), 4));
  EXPECT_EQ(message(checkCut(data, whole, entry(2, 2), 2, {1, 2})), "no error");
  EXPECT_NE(message(checkCut(data, whole, entry(2, 2), 2, {1, 2, 3}))
                .find("tokens.npy: sample 3 is longer than its bucket: after "
                      "its first 2 tokens there is more than padding"),
            std::string::npos);
  EXPECT_NE(message(checkCut(data, whole, entry(2, 4), 2, {1}))
                .find("the network of bucket 2 has no argument of so many "
                      "tokens"),
            std::string::npos);
  EXPECT_NE(message(data.bind(entry(2, 2))).find("a sample is 4xi32"),
            std::string::npos);
}

/// The second bucket has no batch without its remainder.
TEST_F(BucketedData, SamplesThatAreLeftOutAreNotBound) {
  Dataset data =
      open({1, 2, 3, 4, 5, 6, 0, 0, 7, 0, 0, 0, 8, 9, 0, 0}, {4, 2, 1, 2});
  auto of = [&](int64_t batch) {
    BatchPlan plan{.samples = 4, .batch = batch, .dropLast = true};
    plan.buckets = llvm::cantFail(LengthBuckets::of(
        data, {.lengths = {2, 4}, .batch = batch, .dropLast = true}));
    return plan;
  };
  EXPECT_EQ(of(1).largest(), (BatchSize{1, 4}));
  BatchPlan plan = of(2);
  EXPECT_EQ(plan.largest(), (BatchSize{2, 2}));
  EXPECT_EQ(plan.samplesOfBuckets(), std::vector<int64_t>({1, 2, 3}));
  Entry two = entry(2, 2);
  two.inputs[1].range = {0, 3};
  EXPECT_EQ(message(data.bind(two, 2, plan.samplesOfBuckets())), "no error");
  EXPECT_NE(message(data.bind(two, 2)).find("sample 0 holds 4, argument"),
            std::string::npos);
  two.inputs[0].range = {0, 8};
  EXPECT_NE(message(data.bind(two, 2, plan.samplesOfBuckets()))
                .find("sample 3 holds 8, argument 'tokens'"),
            std::string::npos);
}

TEST_F(BucketedData, LengthsAreWithinTheLargestBucket) {
  auto of = [&](std::vector<int32_t> lengths) {
    return message(LengthBuckets::of(open(std::vector<int32_t>(16), lengths),
                                     {.lengths = {2, 3}}));
  };
  EXPECT_NE(of({1, 2, 4, 1})
                .find("lengths.npy: sample 2 has a length of 4, "
                      "and the largest bucket takes 3: add a "
                      "longer one"),
            std::string::npos);
  EXPECT_NE(of({1, 2, 3, -1}).find("sample 3 has a length of -1"),
            std::string::npos);
}

} // namespace
