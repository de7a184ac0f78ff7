//===- dataset-test.cpp - data sources, order, prefetching ----------------===//
//
// Binding data sources to folders and entry points; order and prefetching.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "runtime/data/ColumnFinder.h"
#include "runtime/data/Prefetcher.h"
#include "runtime/data/Shuffle.h"
#include <algorithm>
#include <fcntl.h>
#include <numeric>
#include <sys/stat.h>
#include <unistd.h>

using namespace mp;
using namespace mp::test;

namespace {

Location line(unsigned number) { return {"net.mlir", number, 3}; }

DataSource source() {
  return {"train",
          {{"image", "x-images*", "idx", "", ElementType::U8, line(10)},
           {"label", "x-labels*", "idx", "", ElementType::U8, line(11)}},
          line(9)};
}

/// An entry point with a 2x2 image and a label below 10 (or 255).
Entry entry(int64_t batch) {
  Entry entry;
  entry.function = "step";
  entry.batch = batch;
  entry.inputs = {
      {"image", {ElementType::U8, {batch, 2, 2}}, {}, {}, line(20)},
      {"label", {ElementType::U8, {batch}}, {{0, 10}}, 255, line(21)}};
  return entry;
}

std::vector<unsigned> columnsOf(const ColumnBinding &binding) {
  std::vector<unsigned> columns;
  for (const BoundColumn &bound : binding)
    columns.push_back(bound.column);
  return columns;
}

/// Ten samples: image i is four bytes i, label is i.
class DatasetTest : public testing::Test {
protected:
  DatasetTest() { writeRecords(10, 10); }
  void writeRecords(unsigned images, unsigned labels) {
    std::string pixels, classes;
    for (unsigned i = 0; i < images; ++i)
      pixels.append(4, char(i));
    for (unsigned i = 0; i < labels; ++i)
      classes += char(i);
    folder.write("x-images.idx", idx(0x08, {images, 2, 2}, pixels));
    folder.write("x-labels.idx", idx(0x08, {labels}, classes));
  }
  std::string openFault(const DataSource &source) {
    return message(Dataset::open(source, folder.root));
  }
  std::string bindFault(const Entry &entry) {
    return message(
        llvm::cantFail(Dataset::open(source(), folder.root)).bind(entry));
  }
  TestFolder folder;
};

TEST_F(DatasetTest, BindsInTheOrderOfTheInputs) {
  auto data = Dataset::open(source(), folder.root);
  ASSERT_TRUE(bool(data));
  EXPECT_EQ(data->samples(), 10);
  Entry swapped = entry(4);
  std::swap(swapped.inputs[0], swapped.inputs[1]);
  auto binding = data->bind(swapped);
  ASSERT_TRUE(bool(binding));
  EXPECT_EQ(columnsOf(*binding), (std::vector<unsigned>{1, 0}));
  // An entry point may take some of the columns.
  swapped.inputs.pop_back();
  EXPECT_EQ(columnsOf(*data->bind(swapped)), std::vector<unsigned>{1});
}

TEST_F(DatasetTest, PatternsReachIntoSubFolders) {
  llvm::sys::fs::create_directories(folder.path("sub"));
  folder.write("sub/x-images.idx", idx(0x08, {1}, "a"));
  EXPECT_EQ(llvm::cantFail(findFiles(folder.root, "sub/x-*", Matches::File)),
            std::vector<std::string>{folder.path("sub/x-images.idx")});
}

TEST_F(DatasetTest, NamesWhatAPatternMatches) {
  folder.write("x-images.idx.gz", "");
  std::string text = openFault(source());
  EXPECT_HAS(text, "matches 2 files");
  EXPECT_HAS(text, "'x-images.idx', 'x-images.idx.gz'");
  EXPECT_HAS(text, "net.mlir:10:3");
}

TEST_F(DatasetTest, SuggestsNamesForAPatternThatMatchesNothing) {
  DataSource wrong = source();
  wrong.columns[0].pattern = "x-image-*";
  std::string text = openFault(wrong);
  EXPECT_HAS(text, "no file in " + folder.root + " matches 'x-image-*'");
  EXPECT_HAS(text, "(nearest: 'x-images.idx', 'x-labels.idx')");
  EXPECT_HAS(message(Dataset::open(source(), folder.path("none"))),
             "cannot open data folder " + folder.path("none"));
}

TEST_F(DatasetTest, ChecksColumns) {
  DataSource wrong = source();
  wrong.columns[0].element = ElementType::F32;
  std::string text = openFault(wrong);
  EXPECT_HAS(text, "holds ui8 elements, column 'image' expects f32");
  EXPECT_HAS(text, "net.mlir:10:3");

  writeRecords(10, 9);
  text = openFault(source());
  EXPECT_HAS(text, "x-images.idx holds 10 samples");
  EXPECT_HAS(text, "x-labels.idx holds 9");

  writeRecords(0, 0);
  EXPECT_HAS(openFault(source()), "holds no samples");

  folder.write("x-images.idx", "junk");
  text = openFault(source());
  EXPECT_HAS(text, "x-images.idx: not an idx file");
  EXPECT_HAS(text, "net.mlir:10:3");
}

TEST_F(DatasetTest, ChecksRecordsAgainstInputs) {
  Entry wrong = entry(4);
  wrong.inputs[0].type.shape = {4, 3, 3};
  std::string text = bindFault(wrong);
  EXPECT_HAS(text, "x-images.idx: a sample is 2x2xui8, argument 'image' takes "
                   "3x3xui8 (net.mlir:20:3)");
  wrong = entry(4);
  wrong.inputs[0].type.element = ElementType::F32;
  EXPECT_HAS(bindFault(wrong), "takes 2x2xf32");
  wrong = entry(4);
  wrong.inputs[0].name = "imge";
  EXPECT_HAS(bindFault(wrong), "no column for argument 'imge', did you mean "
                               "'image'?");
}

TEST_F(DatasetTest, ChecksTheRangeOfEveryRecord) {
  EXPECT_EQ(bindFault(entry(4)), "no error");
  folder.write("x-labels.idx", idx(0x08, {10}, "\1\2\3\4\377\6\7\10\11\12"));
  EXPECT_HAS(
      bindFault(entry(4)),
      "x-labels.idx: sample 9 holds 10, argument 'label' takes 0 to 9 or "
      "255 (net.mlir:21:3)");
}

TEST(Shuffle, IsAPermutationOfItsOwnForEachSeedAndEpoch) {
  std::vector<int64_t> one = shuffledOrder(1, 0, 1000);
  EXPECT_EQ(one, shuffledOrder(1, 0, 1000));
  EXPECT_NE(one, shuffledOrder(1, 1, 1000));
  EXPECT_NE(one, shuffledOrder(2, 0, 1000));
  std::vector<int64_t> sorted = one, all(1000);
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  EXPECT_NE(one, all);
}

TEST(Shuffle, IsTheSameOnEveryMachine) {
  EXPECT_EQ(shuffledOrder(7, 3, 8),
            (std::vector<int64_t>{3, 2, 5, 0, 6, 7, 1, 4}));
}

TEST(Shuffle, PlacesEveryRecordEvenly) {
  // Sample 0 of 8 lands at each place 1000 times in 8000 epochs, with a
  // deviation of about 30.
  std::vector<int> landed(8);
  for (int epoch = 0; epoch < 8000; ++epoch) {
    auto order = shuffledOrder(5, epoch, 8);
    ++landed[std::find(order.begin(), order.end(), 0) - order.begin()];
  }
  for (int count : landed)
    EXPECT_NEAR(count, 1000, 150);
}

TEST(BatchPlan, CountsStepsAndRows) {
  BatchPlan plan{.samples = 10, .batch = 4};
  EXPECT_EQ(plan.stepsPerEpoch(), 3);
  EXPECT_EQ(plan.remainder(), 2);
  EXPECT_EQ(plan.rows(1), 4);
  EXPECT_EQ(plan.rows(2), 2);
  EXPECT_EQ(plan.rows(5), 2);
  EXPECT_EQ(plan.epoch(5), 1);
  plan.dropLast = true;
  EXPECT_EQ(plan.stepsPerEpoch(), 2);
  EXPECT_EQ(plan.rows(1), 4);
  plan = {.samples = 8, .batch = 4};
  EXPECT_EQ(plan.remainder(), 0);
  EXPECT_EQ(plan.rows(1), 4);
}

TEST(BatchPlan, CountsMicroBatches) {
  // Steps of 6, 6 and 5 rows, taken in 3: the last is 3 and 2.
  BatchPlan plan{.samples = 17, .batch = 6, .accumulate = 2};
  EXPECT_EQ(plan.stepsPerEpoch(), 3);
  EXPECT_EQ(plan.microRows(), 3);
  EXPECT_EQ(plan.microRemainder(), 2);
  EXPECT_EQ(plan.microBatches(1), 2);
  EXPECT_EQ(plan.rows(1, 1), 3);
  EXPECT_EQ(plan.microBatches(2), 2);
  EXPECT_EQ(plan.rows(2, 0), 3);
  EXPECT_EQ(plan.rows(2, 1), 2);
  // The last has one micro-batch less.
  plan.samples = 15;
  EXPECT_EQ(plan.microRemainder(), 0);
  EXPECT_EQ(plan.microBatches(2), 1);
  plan.dropLast = true;
  EXPECT_EQ(plan.microRemainder(), 0);
  EXPECT_EQ(plan.stepsPerEpoch(), 2);
}

/// Returns the labels that steps [first, last) see.
std::string labels(const Dataset &data, PrefetchOptions options, int64_t first,
                   int64_t last) {
  options.firstStep = first;
  options.lastStep = last;
  Prefetcher batches(data, {{1, {}}}, options);
  std::string seen;
  for (int64_t step = first; step < last; ++step)
    for (int64_t micro = 0; micro < options.plan.microBatches(step); ++micro) {
      auto inputs = llvm::cantFail(batches.take());
      EXPECT_EQ(reinterpret_cast<uintptr_t>(inputs[0].data()) % 64, 0u);
      EXPECT_EQ(inputs[0].size(), options.plan.rows(step, micro));
      seen.append(static_cast<const char *>(inputs[0].data()),
                  options.plan.rows(step, micro));
    }
  EXPECT_FALSE(llvm::cantFail(batches.next()));
  return seen;
}

TEST_F(DatasetTest, PrefetchesEveryRecordOnceAnEpoch) {
  Dataset data = llvm::cantFail(Dataset::open(source(), folder.root));
  PrefetchOptions options{.plan = {.samples = 10, .batch = 4}, .seed = 3};
  std::string seen = labels(data, options, 0, 6);
  ASSERT_EQ(seen.size(), 20u);
  std::string first = seen.substr(0, 10), second = seen.substr(10);
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, second);
  EXPECT_EQ(first, std::string("\0\1\2\3\4\5\6\7\10\11", 10));
  // A run that starts in the middle sees the same.
  EXPECT_EQ(labels(data, options, 2, 6), seen.substr(8));
  // And so does one that takes its batches in parts.
  PrefetchOptions parts = options;
  parts.plan.accumulate = 4;
  EXPECT_EQ(labels(data, parts, 0, 6), seen);
  EXPECT_EQ(labels(data, parts, 2, 6), seen.substr(8));

  options.plan.dropLast = true;
  EXPECT_EQ(labels(data, options, 0, 4).size(), 16u);
  options.shuffle = false;
  EXPECT_EQ(labels(data, options, 0, 2), std::string("\0\1\2\3\4\5\6\7", 8));
}

TEST_F(DatasetTest, PrefetcherStopsEarly) {
  Dataset data = llvm::cantFail(Dataset::open(source(), folder.root));
  for (int taken : {0, 1, 2}) {
    Prefetcher batches(
        data, {{0, {}}, {1, {}}},
        {.plan = {.samples = 10, .batch = 4}, .lastStep = 1000000});
    for (int i = 0; i < taken; ++i)
      EXPECT_TRUE(llvm::cantFail(batches.next()));
  }
}

std::string npyOfBytes(int64_t count, char byte) {
  return npy("{'descr': '|u1', 'fortran_order': False, 'shape': (" +
                 std::to_string(count) + ",), }\n",
             std::string(count, byte));
}

/// Labels in a file that is mapped, as it is large.
class ChangingLabels : public testing::Test {
protected:
  static constexpr int64_t kSamples = 3 * MappedFile::kCopied;

  void SetUp() override {
    folder.write("label.npy", npyOfBytes(kSamples, 1));
    path = folder.path("label.npy");
    data.emplace(llvm::cantFail(Dataset::open(
        {"train", {{"label", "label.npy", "npy", "", ElementType::U8, {}}}, {}},
        folder.root)));
    Entry entry;
    entry.inputs = {{"label", {ElementType::U8, {4}}, {{0, 10}}, {}, {}}};
    binding = llvm::cantFail(data->bind(entry));
  }
  PrefetchOptions everything() const {
    return {.plan = {.samples = kSamples, .batch = 4},
            .shuffle = false,
            .lastStep = kSamples / 4};
  }
  /// Sets all labels to `byte`, as another process would.
  void overwrite(char byte) {
    std::fstream file(path, std::ios::in | std::ios::out);
    file.seekp(-kSamples, std::ios::end);
    file << std::string(kSamples, byte);
  }
  /// The error of the first batch that has one, and how many came before it.
  std::pair<std::string, int64_t> firstProblem(Prefetcher &batches) {
    for (int64_t count = 0;; ++count) {
      auto batch = batches.next();
      if (!batch)
        return {llvm::toString(batch.takeError()), count};
      if (!*batch)
        return {"", count};
      for (char label : (**batch)[0].bytes())
        EXPECT_EQ(label, 1);
    }
  }

  TestFolder folder;
  std::string path;
  std::optional<Dataset> data;
  ColumnBinding binding;
};

TEST_F(ChangingLabels, EndBatchesWhenTheyChange) {
  Prefetcher batches(*data, binding, everything());
  EXPECT_TRUE(llvm::cantFail(batches.next()).has_value());
  usleep(20000); // times of files advance in ticks of the kernel
  overwrite(2);
  auto [problem, count] = firstProblem(batches);
  EXPECT_EQ(problem, path + ": has changed since it was opened: it was written "
                            "to");
  // Those that were gathered before are good.
  EXPECT_LE(count, 2);
}

/// The time of a write through a mapping may come late.
TEST_F(ChangingLabels, AreCheckedWhereTheTimeDoesNotTell) {
  struct stat before;
  ASSERT_EQ(stat(path.c_str(), &before), 0);
  overwrite(12);
  timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  Prefetcher batches(*data, binding, everything());
  EXPECT_EQ(firstProblem(batches).first,
            path + ": has changed since it was opened: sample 0 holds 12, "
                   "argument 'label' takes 0 to 9");
}

TEST_F(ChangingLabels, EndBatchesWhenTheFileShrinks) {
  ASSERT_EQ(truncate(path.c_str(), 4096), 0);
  Prefetcher batches(*data, binding, everything());
  auto [problem, count] = firstProblem(batches);
  EXPECT_NE(problem.find("it has 4096 bytes now"), std::string::npos);
  EXPECT_EQ(count, 0);
}

TEST_F(ChangingLabels, AreTheOpenedOnesWhereTheFileIsReplaced) {
  folder.write("other.npy", npyOfBytes(kSamples, 2));
  ASSERT_EQ(rename(folder.path("other.npy").c_str(), path.c_str()), 0);
  Prefetcher batches(*data, binding, everything());
  EXPECT_EQ(firstProblem(batches).first, "");
  EXPECT_EQ(data->replacedFiles(), std::vector<std::string>{path});
}

} // namespace
