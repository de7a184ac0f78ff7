//===- confusion-test.cpp - what a classifier takes for what --------------===//
//
// A batch of labels, logits and images, and the counts and the surest mistakes
// that are read off it by hand.
//
//===----------------------------------------------------------------------===//
#include "runtime/pictures/Picture.h"
#include "runtime/train/Confusion.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"
#include <cmath>
#include <numeric>

using namespace mp;

namespace {

constexpr int64_t kBatch = 5, kClasses = 3;

Input input(std::string name, TensorType type) {
  return {std::move(name), std::move(type), std::nullopt, std::nullopt, {}};
}

/// An entry point that takes images of 2 x 1 pixels and returns logits.
Entry classifier() {
  Entry entry;
  entry.inputs = {input("image", {ElementType::U8, {kBatch, 2, 1}}),
                  input("label", {ElementType::I32, {kBatch}})};
  entry.inputs[1].range = {0, kClasses};
  entry.results.resize(2);
  entry.results[0].name = "loss";
  entry.results[0].type = {ElementType::F32, {}};
  entry.results[1].name = "logits";
  entry.results[1].type = {ElementType::F32, {kBatch, kClasses}};
  return entry;
}

llvm::json::Object json(const Confusion &confusion,
                        llvm::ArrayRef<std::string> names = {}) {
  return *llvm::cantFail(llvm::json::parse(confusion.json(7, names)))
              .getAsObject();
}

class ConfusionTest : public testing::Test {
protected:
  ConfusionTest() { confusion = Confusion::of(entry); }

  void add(int64_t first, int64_t rows) {
    TensorView inputs[] = {{ElementType::U8, images, sizeof(images)},
                           {ElementType::I32, labels, sizeof(labels)}};
    const void *addresses[] = {&loss, logits};
    std::vector<int64_t> samples(rows);
    std::iota(samples.begin(), samples.end(), first);
    confusion->add(inputs, Results(entry, addresses), samples);
  }

  Entry entry = classifier();
  std::optional<Confusion> confusion;
  uint8_t images[2 * kBatch] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  // The last label is no class.
  int32_t labels[kBatch] = {0, 1, 2, 1, -100};
  float loss = 0;
  float logits[kBatch * kClasses] = {5, 1, 0, 0, 3, 0, 2, 0,
                                     1, 9, 0, 0, 0, 0, 9};
};

TEST_F(ConfusionTest, CountsLabelsAndPredictions) {
  ASSERT_TRUE(confusion);
  add(10, kBatch);
  llvm::json::Object found = json(*confusion, {"a", "b", "c"});
  EXPECT_EQ(found.getInteger("step"), 7);
  EXPECT_EQ(*found.getArray("classes"), llvm::json::Array({"a", "b", "c"}));
  using Row = llvm::json::Array;
  EXPECT_EQ(*found.getArray("counts"),
            Row({Row({1, 0, 0}), Row({1, 1, 0}), Row({1, 0, 0})}));
}

/// Precisions and recalls are 1/3 and 1, 1 and 1/2, and 0. Classes that do not
/// occur do not count, as the third where the first two samples are all.
TEST_F(ConfusionTest, MacroF1IsTheMeanOfTheClassesThatOccur) {
  EXPECT_TRUE(std::isnan(confusion->macroF1()));
  add(0, 2);
  EXPECT_EQ(confusion->macroF1(), 1);
  confusion = Confusion::of(entry);
  add(0, kBatch);
  EXPECT_NEAR(confusion->macroF1(), (1. / 2 + 2. / 3 + 0) / 3, 1e-12);
}

TEST_F(ConfusionTest, TheSurestMistakeComesFirstWithItsImage) {
  add(10, kBatch);
  llvm::json::Object found = json(*confusion);
  const llvm::json::Array &mistakes = *found.getArray("mistakes");
  ASSERT_EQ(mistakes.size(), 2u);
  const llvm::json::Object &first = *mistakes[0].getAsObject();
  EXPECT_EQ(first.getInteger("sample"), 13);
  EXPECT_EQ(first.getInteger("label"), 1);
  EXPECT_EQ(first.getInteger("predicted"), 0);
  EXPECT_NEAR(*first.getNumber("probability"), 1 / (1 + 2 * std::exp(-9.0)),
              1e-12);
  EXPECT_EQ(mistakes[1].getAsObject()->getInteger("sample"), 12);
  std::vector<char> png;
  llvm::cantFail(llvm::decodeBase64(*first.getString("png"), png));
  auto picture =
      llvm::cantFail(decodePng({png.data(), png.size()}, "a mistake"));
  EXPECT_EQ(picture.height, 2);
  EXPECT_EQ(picture.width, 1);
  EXPECT_EQ(picture.pixels, (std::vector<uint8_t>{6, 6, 6, 7, 7, 7}));
}

TEST_F(ConfusionTest, TheRowsOfASmallerBatchAloneCount) {
  add(0, 2);
  llvm::json::Object found = json(*confusion);
  EXPECT_TRUE(found.getArray("mistakes")->empty());
}

TEST_F(ConfusionTest, KeepsTheSurestMistakes) {
  for (int64_t batch = 0; batch < 20; ++batch) {
    logits[9] = static_cast<float>(batch);
    add(kBatch * batch, kBatch);
  }
  llvm::json::Object found = json(*confusion);
  const llvm::json::Array &mistakes = *found.getArray("mistakes");
  ASSERT_EQ(mistakes.size(), Confusion::mostMistakes);
  double before = 1;
  for (const llvm::json::Value &mistake : mistakes) {
    double own = *mistake.getAsObject()->getNumber("probability");
    EXPECT_LE(own, before);
    before = own;
  }
  EXPECT_EQ(mistakes[0].getAsObject()->getInteger("sample"), 5 * 19 + 3);
}

TEST_F(ConfusionTest, WithoutLabelsOrLogitsThereIsNone) {
  Entry other = classifier();
  other.inputs[1].range.reset();
  EXPECT_FALSE(Confusion::of(other));
  other = classifier();
  other.results.pop_back();
  EXPECT_FALSE(Confusion::of(other));
  // The only result of that shape is taken under any name, of two neither.
  other = classifier();
  other.results[1].name = "scores";
  EXPECT_TRUE(Confusion::of(other));
  other.results.push_back(other.results[1]);
  EXPECT_FALSE(Confusion::of(other));
}

} // namespace
