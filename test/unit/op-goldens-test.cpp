//===- op-goldens-test.cpp - ops and optimizers against PyTorch -----------===//
//
// Every family of test/goldens/ops, forward and backward, in the types its
// generator chose. A golden says how many units in the last place ours may be
// off; cases.py says what they are counted at.
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

TEST(OptimizerGoldens, Steps) {
  json::Object file = cantFail(readGolden("optimizers.json"));
  ASSERT_GE(file.getArray("optimizers")->size(), 9u);
  auto elements = [](const json::Value &tensor) {
    return cantFail(goldenNumbers(*tensor.getAsObject()));
  };
  for (const json::Value &item : *file.getArray("optimizers")) {
    const json::Object &golden = *item.getAsObject();
    StringRef module = *golden.getString("module");
    Expected<GoldenFunction> function = GoldenFunction::compile(module);
    if (!function) {
      ADD_FAILURE() << module.str() << toString(function.takeError());
      continue;
    }
    // The parameter and its slots, which start at zero.
    Numbers start = elements(*golden.get("start"));
    size_t slots = module.contains("%v:") ? 2 : module.contains("%m:") ? 1 : 0;
    std::vector<Numbers> state(1 + slots, Numbers(start.size(), 0.0));
    state[0] = start;
    const json::Array &gradients = *golden.getArray("gradients");
    const json::Array &parameters = *golden.getArray("parameters");
    for (size_t step = 0; step < gradients.size(); ++step) {
      std::vector<Numbers> inputs = {elements(gradients[step]),
                                     {*golden.getNumber("lr")},
                                     {static_cast<double>(step + 1)}};
      inputs.insert(inputs.end(), state.begin(), state.end());
      state = cantFail((*function)(inputs));
      Numbers theirs = elements(parameters[step]);
      for (size_t i = 0; i < theirs.size(); ++i)
        EXPECT_NEAR(state[0][i], theirs[i], 1e-6 + 1e-6 * std::abs(theirs[i]))
            << module.str() << "step " << step + 1;
    }
  }
}
