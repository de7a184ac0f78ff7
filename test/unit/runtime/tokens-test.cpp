//===- tokens-test.cpp - windows of a file of tokens ----------------------===//
#include "TestFiles.h"
#include "runtime/data/Prefetcher.h"
#include "runtime/data/Shuffle.h"
#include <numeric>

using namespace mp;
using namespace mp::test;

namespace {

using Numbers = std::vector<int64_t>;

template <typename T> std::string bytesOf(const Numbers &numbers) {
  std::string bytes;
  for (int64_t number : numbers) {
    auto token = static_cast<T>(number);
    bytes.append(reinterpret_cast<const char *>(&token), sizeof(T));
  }
  return bytes;
}

Numbers count(int64_t n) {
  Numbers numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

class TokensTest : public testing::Test {
protected:
  /// Inputs of three tokens, and the token after each.
  DataSource source(int64_t stride, ElementType type = ElementType::U16) const {
    DataColumn x{"x", "t.bin", "tokens", "", type, {"net.mlir", 5, 1}};
    x.shape = {3};
    x.window = {.tokens = 4, .stride = stride};
    DataColumn y = x;
    y.argument = "y";
    y.window.offset = 1;
    return {"train", {x, y}, {}};
  }
  llvm::Expected<Dataset> open(int64_t stride,
                               ElementType type = ElementType::U16) const {
    return Dataset::open(source(stride, type), folder.root);
  }
  /// Samples of a column of uint16.
  static Numbers gather(const Dataset &data, unsigned column,
                        llvm::ArrayRef<int64_t> rows) {
    std::vector<uint16_t> tokens(3 * rows.size());
    llvm::cantFail(
        data.gather(column, rows, reinterpret_cast<char *>(tokens.data())));
    return {tokens.begin(), tokens.end()};
  }
  TestFolder folder;
};

TEST_F(TokensTest, WindowsOverlapByTheirStride) {
  folder.write("t.bin", bytesOf<uint16_t>(count(10)));
  Dataset data = llvm::cantFail(open(2));
  EXPECT_EQ(data.samples(), 4);
  EXPECT_EQ(gather(data, 0, {3, 0, 1}), (Numbers{6, 7, 8, 0, 1, 2, 2, 3, 4}));
  EXPECT_EQ(gather(data, 1, {3, 0, 1}), (Numbers{7, 8, 9, 1, 2, 3, 3, 4, 5}));
  // As many as nanoGPT draws from: tokens - length.
  EXPECT_EQ(llvm::cantFail(open(1)).samples(), 7);
  EXPECT_EQ(llvm::cantFail(open(3)).samples(), 3);
  EXPECT_EQ(llvm::cantFail(open(100)).samples(), 1);
}

TEST_F(TokensTest, StreamsGoOnFromBatchToBatch) {
  folder.write("t.bin", bytesOf<uint16_t>(count(26)));
  DataSource three = source(3);
  for (DataColumn &column : three.columns)
    column.window.streams = 3;
  Dataset data = llvm::cantFail(Dataset::open(three, folder.root));
  // 8 windows are 3 texts of 2, and 2 are left.
  EXPECT_EQ(data.samples(), 6);
  EXPECT_EQ(gather(data, 0, {0, 1, 2}),
            (Numbers{0, 1, 2, 6, 7, 8, 12, 13, 14}));
  EXPECT_EQ(gather(data, 0, {3, 4, 5}),
            (Numbers{3, 4, 5, 9, 10, 11, 15, 16, 17}));
  EXPECT_EQ(gather(data, 1, {3, 5}), (Numbers{4, 5, 6, 16, 17, 18}));

  three.columns[1].window.streams = 1;
  EXPECT_EQ(message(Dataset::open(three, folder.root)),
            "columns differ in length: " + folder.path("t.bin") +
                " holds 6 samples, " + folder.path("t.bin") + " holds 8");
  three.columns[1].window.streams = 2;
  for (DataColumn &column : three.columns)
    column.window.stride = 2;
  // 12 windows are 3 texts of 4, or 2 of 6.
  EXPECT_EQ(message(Dataset::open(three, folder.root)),
            "columns differ in streams: " + folder.path("t.bin") + " has 3, " +
                folder.path("t.bin") + " has 2");
  folder.write("t.bin", bytesOf<uint16_t>(count(5)));
  EXPECT_EQ(message(Dataset::open(three, folder.root)),
            folder.path("t.bin") +
                ": has 1 windows, which are fewer than the 3 streams "
                "(net.mlir:5:1)");
}

TEST_F(TokensTest, TokensAreLittleEndian) {
  folder.write("t.bin", bytesOf<uint32_t>({1, 70000, 1 << 20, 4, 5}));
  Dataset data = llvm::cantFail(open(1, ElementType::U32));
  EXPECT_EQ(data.samples(), 2);
  uint32_t tokens[3];
  llvm::cantFail(data.gather(0, {1}, reinterpret_cast<char *>(tokens)));
  EXPECT_EQ(Numbers(tokens, tokens + 3), (Numbers{70000, 1 << 20, 4}));
  // A text is its own file of bytes.
  folder.write("t.bin", "abcdef");
  data = llvm::cantFail(open(1, ElementType::U8));
  char text[3];
  llvm::cantFail(data.gather(1, {2}, text));
  EXPECT_EQ(std::string(text, 3), "def");
}

TEST_F(TokensTest, NamesTheFileThatIsTruncatedOrShort) {
  std::string path = folder.write("t.bin", "abcdefg");
  EXPECT_EQ(message(open(1)),
            path + ": has 7 bytes, which are no whole number of tokens of "
                   "ui16: it is truncated, or in another format "
                   "(net.mlir:5:1)");
  for (int64_t tokens : {0, 3}) {
    folder.write("t.bin", bytesOf<uint16_t>(count(tokens)));
    EXPECT_EQ(message(open(1)), path + ": has " + std::to_string(tokens) +
                                    " tokens of ui16, which are fewer than the "
                                    "4 of a window (net.mlir:5:1)");
  }
}

/// A step that looks the tokens up in a table of ten rows.
Entry entry(ElementType type) {
  Entry entry;
  entry.function = "step";
  entry.inputs = {{"x", {type, {2, 3}}, {{0, 10}}, {}, {"net.mlir", 7, 2}}};
  return entry;
}

TEST_F(TokensTest, TokensOutsideOfTheVocabularyAreNamed) {
  for (ElementType type : {ElementType::U16, ElementType::U32}) {
    Numbers tokens = {0, 1, 2, 9, 4, 10, 6};
    folder.write("t.bin", type == ElementType::U16 ? bytesOf<uint16_t>(tokens)
                                                   : bytesOf<uint32_t>(tokens));
    EXPECT_EQ(message(llvm::cantFail(open(1, type)).bind(entry(type))),
              folder.path("t.bin") + ": token 5 holds 10, argument 'x' takes 0 "
                                     "to 9 (net.mlir:7:2)");
  }
  // No number is taken for a negative one.
  folder.write("t.bin", bytesOf<uint16_t>({0, 1, 2, 65535}));
  EXPECT_HAS(message(llvm::cantFail(open(1)).bind(entry(ElementType::U16))),
             "token 3 holds 65535");
}

/// The file is large enough to be mapped.
TEST_F(TokensTest, ARunThatGoesOnSeesTheSameWindows) {
  constexpr int64_t tokens = 40000;
  Numbers numbers = count(tokens);
  folder.write("t.bin", bytesOf<uint16_t>(numbers));
  Dataset data = llvm::cantFail(open(1));
  PrefetchOptions options{
      .plan = {.samples = data.samples(), .batch = 1000, .dropLast = true},
      .seed = 7};
  auto seen = [&](int64_t first, int64_t last) {
    options.firstStep = first;
    options.lastStep = last;
    Prefetcher batches(data, {{0, {}}, {1, {}}}, options);
    std::string all;
    for (int64_t step = first; step < last; ++step)
      for (const TensorView &view : llvm::cantFail(batches.take()))
        all.append(static_cast<const char *>(view.data()), view.bytes().size());
    return all;
  };
  constexpr size_t step = 2 * 1000 * 3 * sizeof(uint16_t);
  std::string all = seen(0, 80); // two epochs
  ASSERT_EQ(all.size(), 80 * step);
  EXPECT_EQ(seen(33, 80), all.substr(33 * step));
  EXPECT_NE(all.substr(0, step), all.substr(39 * step, step));
  // Targets are the inputs' next tokens.
  uint16_t number;
  for (size_t i = 0; i < 3000; ++i) {
    std::memcpy(&number, all.data() + i * 2, 2);
    uint16_t next;
    std::memcpy(&next, all.data() + step / 2 + i * 2, 2);
    ASSERT_EQ(number + 1, next);
  }
  // Another size is a change.
  folder.write("t.bin", bytesOf<uint16_t>(count(tokens + 1)));
  EXPECT_HAS(message(data.check()), "has changed since it was opened");
}

} // namespace
