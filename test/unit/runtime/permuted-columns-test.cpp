//===- permuted-columns-test.cpp - images with channels first -------------===//
//
// Columns whose files hold the dimensions of a sample in another order.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "runtime/data/Prefetcher.h"

using namespace mp;
using namespace mp::test;

namespace {

constexpr int64_t kSamples = 5, kChannels = 3, kHeight = 2, kWidth = 4;

/// Element [n, c, y, x] of the file is its place, with 60 samples at most.
class PermutedColumns : public testing::Test {
protected:
  PermutedColumns() {
    std::string pixels;
    for (int i = 0; i < kSamples * kChannels * kHeight * kWidth; ++i)
      pixels += char(i);
    folder.write("images.npy",
                 npy("{'descr': '|u1', 'fortran_order': False, 'shape': "
                     "(5, 3, 2, 4), }\n",
                     pixels));
  }
  static DataSource source(std::vector<int64_t> dims) {
    Location column{"net.mlir", 10, 3};
    return {"train",
            {{"image", "images.npy", "npy", "", ElementType::U8, column, dims}},
            {}};
  }
  static Entry entry(std::vector<int64_t> shape) {
    Entry entry;
    entry.inputs = {{"image",
                     {ElementType::U8, shape},
                     {{0, 256}},
                     {},
                     {"net.mlir", 20, 3}}};
    return entry;
  }
  Dataset open(std::vector<int64_t> dims) {
    return llvm::cantFail(Dataset::open(source(dims), folder.root));
  }
  /// Element [y, x, c] of a sample with channels last.
  static std::string channelsLast(int64_t sample) {
    std::string pixels;
    for (int64_t y = 0; y < kHeight; ++y)
      for (int64_t x = 0; x < kWidth; ++x)
        for (int64_t c = 0; c < kChannels; ++c)
          pixels += char(((sample * kChannels + c) * kHeight + y) * kWidth + x);
    return pixels;
  }
  TestFolder folder;
};

TEST_F(PermutedColumns, BatchesHaveChannelsLast) {
  Dataset data = open({0, 3, 1, 2});
  auto binding = llvm::cantFail(data.bind(entry({2, 2, 4, 3})));
  Prefetcher batches(data, binding,
                     {.plan = {.samples = kSamples, .batch = 2},
                      .shuffle = false,
                      .lastStep = 3});
  std::string seen, expected;
  while (auto batch = llvm::cantFail(batches.next()))
    seen.append((*batch)[0].bytes().begin(), (*batch)[0].bytes().end());
  for (int64_t sample = 0; sample < kSamples; ++sample)
    expected += channelsLast(sample);
  EXPECT_EQ(seen, expected);
}

TEST_F(PermutedColumns, TheSameOrderCopiesWhole) {
  Dataset data = open({0, 1, 2, 3});
  EXPECT_EQ(message(data.bind(entry({2, 3, 2, 4}))), "no error");
  char sample[kChannels * kHeight * kWidth];
  llvm::cantFail(data.gather(0, {1}, sample));
  EXPECT_EQ(sample[0], char(std::size(sample)));
  EXPECT_EQ(sample[1], char(std::size(sample) + 1));
}

TEST_F(PermutedColumns, ShapesAreComparedAsTheArgumentHasThem) {
  EXPECT_EQ(message(open({0, 3, 1, 2}).bind(entry({2, 2, 4, 5}))),
            folder.path("images.npy") +
                ": a sample is 2x4x3xui8, permuted from the file's 5x3x2x4xui8 "
                "by dims_in_files [0, 3, 1, 2], argument 'image' takes "
                "2x4x5xui8 (net.mlir:20:3)");
}

TEST_F(PermutedColumns, AFileWithOtherDimensionsIsRefused) {
  EXPECT_EQ(message(Dataset::find(source({0, 2, 1}), folder.root)),
            folder.path("images.npy") +
                ": holds 5x3x2x4xui8, whose dimensions column 'image' does not "
                "permute: dims_in_files [0, 2, 1] has 3 entries, expected 4 "
                "(net.mlir:10:3)");
}

/// The number of a sample in an error is that of the file.
TEST_F(PermutedColumns, RangesAreChecked) {
  Entry narrow = entry({2, 2, 4, 3});
  narrow.inputs[0].range = {0, 50};
  EXPECT_HAS(message(open({0, 3, 1, 2}).bind(narrow)),
             "sample 2 holds 50, argument 'image' takes");
}

} // namespace
