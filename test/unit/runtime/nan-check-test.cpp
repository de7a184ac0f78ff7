//===- nan-check-test.cpp - the first non-finite value --------------------===//
//
// The first non-finite origin among records, without a step: the records that
// it is computed from, those that it leads to, and those that do not count.
//
//===----------------------------------------------------------------------===//
#include "runtime/numerics/NanCheck.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mp;

namespace {

/// Records with one number each, a magnitude, as a step's kernels have them.
class Step {
public:
  /// Returns the record's number.
  uint32_t add(const char *op, float largest,
               std::vector<uint32_t> operands = {}) {
    Record record{op,
                  {"net.mlir", unsigned(entry.records.size() + 1), 1},
                  "forward",
                  {ElementType::F32, {4}},
                  std::move(operands)};
    record.results[size_t(RecordFact::Magnitude)] = entry.results.size();
    entry.records.push_back(record);
    entry.results.push_back({"", {ElementType::I32, {}}, {}});
    numbers.push_back(llvm::bit_cast<int32_t>(largest));
    return entry.records.size() - 1;
  }
  uint32_t watched(const char *op, float largest,
                   std::vector<uint32_t> operands = {}) {
    uint32_t number = add(op, largest, std::move(operands));
    entry.records[number].watched = true;
    return number;
  }

  std::string first(bool applied = false, bool isCertain = false) {
    auto found = findNonFiniteOrigin(entry, readRecords(entry, results()),
                                     applied, isCertain);
    return found ? found->value.name : "";
  }
  Executable::Results results() {
    pointers.clear();
    for (const int32_t &number : numbers)
      pointers.push_back(&number);
    return {entry, pointers};
  }

  Entry entry;

private:
  std::vector<int32_t> numbers;
  std::vector<const void *> pointers;
};

constexpr float inf = INFINITY;

TEST(NanCheck, AllFiniteIsNothing) {
  Step step;
  uint32_t x = step.add("x", 1);
  step.watched("g", 65504, {x});
  EXPECT_FALSE(anyNonFinite(step.entry, step.results(), true));
  EXPECT_EQ(step.first(), "");
  EXPECT_EQ(step.first(true, true), "");
}

TEST(NanCheck, IsWhatHasFiniteOperands) {
  Step step;
  uint32_t x = step.add("x", 3);
  uint32_t e = step.add("exp", inf, {x});
  uint32_t d = step.add("div", NAN, {e, x});
  step.watched("g", NAN, {d});
  EXPECT_TRUE(anyNonFinite(step.entry, step.results(), false));
  EXPECT_EQ(step.first(), "exp");
  auto found = findNonFiniteOrigin(
      step.entry, readRecords(step.entry, step.results()), false, false);
  ASSERT_EQ(found->operands.size(), 1u);
  EXPECT_EQ(found->str(), "exp at net.mlir:2:1: 4xf32, infinite; of x at "
                          "net.mlir:1:1 at most 3");
}

TEST(NanCheck, AnInfinityThatComesToNothingIsPassedBy) {
  Step step;
  uint32_t scores = step.add("log", inf);
  uint32_t p = step.add("softmax", 1, {scores});
  uint32_t g = step.add("matmul", inf, {p});
  step.watched("unscale", inf, {g});
  EXPECT_EQ(step.first(), "matmul");
}

TEST(NanCheck, AMaskIsMeantButNotWhatItBreaks) {
  Step step;
  uint32_t mask = step.add("add", inf);
  step.entry.records[mask].meant = true;
  uint32_t p = step.add("softmax", NAN, {mask}); // every score was masked
  step.watched("g", NAN, {p});
  EXPECT_EQ(step.first(), "softmax");
}

TEST(NanCheck, WhatAnotherMicroBatchLeftIsNoNews) {
  Step step;
  uint32_t sum = step.add("sum", NAN);
  step.entry.records[sum].meant = true;
  step.entry.records[sum].phase = "variable";
  step.watched("add", NAN, {sum});
  EXPECT_EQ(step.first(), "");
}

TEST(NanCheck, WithoutWatchedOnesOnlyWhereItIsCertain) {
  Step step;
  step.add("exp", inf);
  EXPECT_EQ(step.first(true, false), "");
  EXPECT_EQ(step.first(true, true), "exp");
}

TEST(NanCheck, WhatASkippedStepDidNotMakeIsNotRead) {
  Step step;
  uint32_t update = step.watched("update", NAN);
  step.entry.records[update].guarded = true;
  step.entry.records[update].phase = "update";
  EXPECT_FALSE(anyNonFinite(step.entry, step.results(), false));
  EXPECT_EQ(step.first(false), "");
  EXPECT_EQ(step.first(true), "update");
  EXPECT_EQ(firstBrokenState(step.entry, step.results()), "update");
}

/// In any graph, an infinity that is planted in one value, and spreads to all
/// values computed from it, is found at its origin.
TEST(NanCheck, FindsWhatWasPlantedInAnyGraph) {
  std::mt19937 random(7);
  for (int run = 0; run < 500; ++run) {
    Step step;
    unsigned size = 2 + random() % 40, planted = random() % size;
    std::vector<bool> broken;
    for (unsigned i = 0; i < size; ++i) {
      std::vector<uint32_t> operands;
      for (unsigned tries = i ? random() % 4 : 0; tries > 0; --tries)
        operands.push_back(random() % i);
      bool isBroken = i == planted;
      for (uint32_t operand : operands)
        isBroken |= broken[operand];
      broken.push_back(isBroken);
      step.add(i == planted ? "planted" : "other", isBroken ? NAN : 1,
               operands);
    }
    // The last value that it reaches is checked.
    unsigned last = size - 1;
    while (!broken[last])
      --last;
    step.entry.records[last].watched = true;
    EXPECT_EQ(step.first(), "planted") << "run " << run;
  }
}

TEST(NanCheck, ARangeSaysWhatIsKnown) {
  const float values[] = {1, -2, inf, NAN};
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(values),
                             sizeof values);
  ValueRange range = rangeOf({ElementType::F32, {4}}, bytes);
  EXPECT_FALSE(range.isFinite);
  EXPECT_TRUE(*range.hasNan);
  EXPECT_EQ(range.str(), "2 of 4 not finite, the others in [-2, 1]");
  EXPECT_EQ(rangeOf({ElementType::F32, {2}}, bytes.take_front(8)).str(),
            "in [-2, 1]");
  EXPECT_EQ(rangeOf({ElementType::F32, {1}}, bytes.slice(8, 4)).str(),
            "not finite");
}

TEST(NanCheck, NamesNeedNotBeUtf8) {
  NonFiniteOrigin origin;
  origin.value.name = "variable '\xff<b>\"'";
  origin.value.type = {ElementType::F32, {1}};
  auto parsed = llvm::json::parse(toJson(origin));
  ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
}

} // namespace
