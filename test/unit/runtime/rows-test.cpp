//===- rows-test.cpp - JSON lines, CSV, and weights of classes ------------===//
#include "TestFiles.h"
#include "runtime/data/ClassWeights.h"
#include "runtime/text/Rows.h"
#include "llvm/ADT/StringExtras.h"

using namespace mp;
using namespace mp::test;
using namespace mp::tokenizers;

namespace {

class RowsTest : public testing::Test {
protected:
  /// The values of `fields`, "a|b" for each row, and "N: " before it.
  std::string read(const std::string &name, const std::string &content,
                   std::vector<std::string> fields = {"a", "b"}) {
    std::string all;
    llvm::Error error = readRows(
        folder.write(name, content), fields,
        [&](llvm::ArrayRef<std::string> values, size_t line) {
          all += std::to_string(line) + ": " + llvm::join(values, "|") + ";";
          return llvm::Error::success();
        });
    return error ? all + llvm::toString(std::move(error)) : all;
  }
  TestFolder folder;
};

TEST_F(RowsTest, JsonLines) {
  EXPECT_EQ(read("x.jsonl", "{\"b\": \"2\", \"c\": [1, {}], \"a\": \"1\"}\n\n"
                            "{\"a\": -1.50e3 , \"b\": 3}"),
            "1: 1|2;3: -1.50e3|3;");
  // The first escape is of two units, U+20000.
  EXPECT_EQ(read("x.jsonl", R"({"a": "\ud840\udc00\n\u00e9", "b": ""})"),
            "1: 𠀀\né|;");
  std::string path = folder.path("x.jsonl");
  EXPECT_EQ(read("x.jsonl", "{\"a\": 1, \"b\": 2}\n{\"a\": 1}"),
            "1: 1|2;" + path + ": line 2: has no field 'b' (known: 'a')");
  EXPECT_HAS(read("x.jsonl", "{\"a\": true, \"b\": 2}"),
             path + ": line 1: byte 6: expected a string or a number");
  EXPECT_HAS(read("x.jsonl", "{\"a\": \"1\", \"b\": \"2\"} x"),
             path + ": line 1: byte 21");
  EXPECT_HAS(read("x.jsonl", "[1]"), path + ": line 1: byte 0");
  EXPECT_EQ(
      read("x.jsonl", "{\"b\": 1, \"a\": 2, \"b\": 3, \"c\": 4, \"c\": 5}"),
      path + ": line 1: has more than one field 'b'");
  EXPECT_EQ(read("x.jsonl", "{\"a\": \"\x80\"}"),
            path + ": byte 7 is not UTF-8");
}

TEST_F(RowsTest, Csv) {
  EXPECT_EQ(read("x.csv", "\xEF\xBB\xBF"
                          "b,c,a\r\n1,2,3\r\n\r\n"
                          "\"x,\n\"\"y\"\"\",,\n4,5,6"),
            "2: 3|1;4: |x,\n\"y\";6: 6|4;");
  EXPECT_EQ(read("x.tsv", "a\tb\n1, 2\t3\n"), "2: 1, 2|3;");
  std::string path = folder.path("x.csv");
  EXPECT_EQ(read("x.csv", ""),
            path + ": line 0: is empty, expected a line of names");
  EXPECT_EQ(read("x.csv", "a,b\n1\n"),
            path + ": line 2: has 1 values, the first line has 2 names");
  EXPECT_HAS(read("x.csv", "x,y\n1,2\n"), path + ": line 2: has no field 'a'");
  EXPECT_EQ(read("x.csv", "c,a,c,b\n1,2,3,4\n"), "2: 2|4;");
  EXPECT_EQ(read("x.csv", "a,b,a\n1,2,3\n"),
            path + ": line 1: has more than one field 'a'");
  EXPECT_EQ(read("x.csv", "a,b\n\"1,2\n"),
            path + ": line 2: a value in quotes has no end");
  EXPECT_HAS(read("x.csv", "a,b\n\"1\"2,3\n"),
             path + ": line 2: expected ',' or the end of the line after a "
                    "value in quotes, found");
}

Array labelsOf(ElementType type, llvm::ArrayRef<char> bytes) {
  return {{type, {int64_t(bytes.size() / byteWidth(type))}}, bytes, {}};
}

TEST(ClassWeights, AreBalanced) {
  const char labels[] = {0, 0, 0, 1, 2, 2, char(-100)};
  auto counts =
      llvm::cantFail(countClasses(labelsOf(ElementType::I8, labels), 0));
  EXPECT_EQ(counts, (std::vector<int64_t>{3, 1, 2}));
  // compute_class_weight("balanced", classes=[0, 1, 2], y=[0, 0, 0, 1, 2, 2])
  EXPECT_EQ(balancedWeights(counts),
            (std::vector<float>{0.6666667f, 2.0f, 1.0f}));
  counts = llvm::cantFail(countClasses(labelsOf(ElementType::I8, labels), 5));
  EXPECT_EQ(balancedWeights(counts),
            (std::vector<float>{0.6666667f, 2.0f, 1.0f, 0, 0}));
}

TEST(ClassWeights, RefuseOtherLabels) {
  const char labels[] = {0, 3, 1, char(-1)};
  EXPECT_EQ(message(countClasses(labelsOf(ElementType::I8, labels), 0)),
            "label 3 is -1, expected 0 to 16777215 or -100");
  EXPECT_EQ(message(countClasses(labelsOf(ElementType::U8, labels), 2)),
            "label 1 is 3, expected 0 to 1 or -100");
  EXPECT_EQ(message(countClasses(labelsOf(ElementType::F32, labels), 0)),
            "holds f32 elements, expected labels, which are integers");
}

} // namespace
