//===- op-goldens-test.cpp - ops and optimizers against PyTorch -----------===//
//
// Every family of test/goldens/ops, forward and backward, in the types that its
// generator chose. A golden has the allowed units in the last place; cases.py
// says where they are counted.
//
//===----------------------------------------------------------------------===//
#include "OpGoldens.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace mp;

namespace {
/// The largest distance of a family's cases, in units in the last place.
class OpGoldens : public testing::TestWithParam<std::string> {
protected:
  void check(const std::vector<OpGolden> &goldens) {
    for (const OpGolden &golden : goldens) {
      Expected<std::vector<Numbers>> ours = runGolden(golden);
      if (!ours) {
        ADD_FAILURE() << golden.module << toString(ours.takeError());
        continue;
      }
      for (auto [index, theirs] : enumerate(golden.expected))
        if (theirs)
          compare((*ours)[index], *theirs, golden);
    }
    RecordProperty("worst_ulps", std::to_string(worst));
  }

private:
  void compare(const Numbers &ours, const GoldenTensor &theirs,
               const OpGolden &golden) {
    ASSERT_EQ(ours.size(), theirs.numbers.size()) << golden.module;
    for (size_t i = 0; i < ours.size(); ++i) {
      double off = ulpsApart(ours[i], theirs, i, golden.atLargest);
      worst = std::max(worst, off);
      EXPECT_LE(off, golden.ulps)
          << "element " << i << " is " << ours[i] << ", PyTorch's "
          << theirs.numbers[i] << ", of\n"
          << golden.module;
    }
  }

  double worst = 0;
};
} // namespace

TEST_P(OpGoldens, Forward) {
  OpGoldenFile file = readOpGoldens(GetParam());
  ASSERT_GE(file.forward.size(), 1u);
  check(file.forward);
}

TEST_P(OpGoldens, Backward) { check(readOpGoldens(GetParam()).backward); }

INSTANTIATE_TEST_SUITE_P(Families, OpGoldens,
                         testing::ValuesIn(opGoldenFamilies()),
                         [](const auto &info) { return info.param; });

// An empty folder must not pass.
TEST(OpGoldenFiles, AreThere) { EXPECT_GE(opGoldenFamilies().size(), 5u); }

TEST(OpGoldenFiles, CountUnitsInTheLastPlace) {
  GoldenTensor theirs{{1.0, 0.0, 4.0, std::nan("")},
                      TensorType{ElementType::F16, {4}}};
  EXPECT_EQ(ulpsApart(1.0 + 0x1p-10, theirs, 0, false), 1);
  EXPECT_EQ(ulpsApart(1.0 + 0x1p-10, theirs, 0, true), 0.25);
  EXPECT_EQ(ulpsApart(0x1p-24, theirs, 1, false), 1); // the smallest subnormal
  EXPECT_EQ(ulpsApart(-0.0, theirs, 1, false), 0);
  EXPECT_EQ(ulpsApart(std::nan(""), theirs, 3, false), 0);
  EXPECT_TRUE(std::isinf(ulpsApart(1.0, theirs, 3, false)));
  EXPECT_TRUE(std::isinf(ulpsApart(std::nan(""), theirs, 0, true)));
}
