//===- gradients-test.cpp - gradient rules against central differences ----===//
//
// Iterates the registry: an op with a gradient is found here without being
// named, by the samples that it gives of itself. mp-run gradcheck runs the same
// checks on the ops of plugins.
//
//===----------------------------------------------------------------------===//
#include "OpSamples.h"
#include "precision/gradients/Check.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mp;

class Gradients : public testing::TestWithParam<DifferentiableOp> {};

TEST_P(Gradients, AgreeWithCentralDifferences) {
  auto check = precision::checkGradient(sampleContext(), GetParam());
  EXPECT_EQ(check.samples, GetParam().samples.size());
  for (const std::string &fault : check.faults)
    ADD_FAILURE() << fault;
}

/// "softmax" of "mp.softmax".
static std::string
nameOf(const testing::TestParamInfo<DifferentiableOp> &info) {
  return StringRef(info.param.name).drop_front(3).str();
}
INSTANTIATE_TEST_SUITE_P(Ops, Gradients, testing::ValuesIn(differentiableOps()),
                         nameOf);

// The bound is above the ops of a perceptron; an empty registry must not pass.
TEST(GradientsOfTheRegistry, AreMany) {
  EXPECT_GE(differentiableOps().size(), 50u);
}

//===----------------------------------------------------------------------===//
// What the check finds
//===----------------------------------------------------------------------===//

namespace {
/// The faults of samples that are given to it as those of an op.
std::vector<std::string> faultsOf(std::vector<OpSample> samples) {
  return precision::checkGradient(sampleContext(), {"op", std::move(samples)})
      .faults;
}
} // namespace

TEST(GradientFaults, AnOpWithoutSamples) {
  EXPECT_EQ(faultsOf({}),
            std::vector<std::string>{"sampleInputs returns no sample"});
}

// At its kink relu has the derivative 0 here, and a central difference is 1/2.
TEST(GradientFaults, ADerivativeThatDisagrees) {
  auto faults =
      faultsOf({{{{"tensor<2xf64>", 0, 1e-12}}, "mp.relu %0 : tensor<2xf64>"}});
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_TRUE(StringRef(faults[0]).contains("operand 0: at element"))
      << faults[0];
}

TEST(GradientFaults, AnOperandThatIsNotFlat) {
  auto faults = faultsOf({{{{"tensor<2xf64>", -1, 1, 0, /*flat=*/true}},
                           "mp.exp %0 : tensor<2xf64>"}});
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_TRUE(StringRef(faults[0]).contains("calls the operand flat"));
}

TEST(GradientFaults, AnOperandThatIsFlat) {
  auto faults =
      faultsOf({{{{"tensor<2xf64>", -2, -1}}, "mp.relu %0 : tensor<2xf64>"}});
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_TRUE(StringRef(faults[0]).contains("all derivatives are zero"));
}

TEST(GradientFaults, ASampleThatDoesNotParse) {
  auto faults = faultsOf({{{{"tensor<2xf64>"}}, "mp.exq %0 : tensor<2xf64>"}});
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_TRUE(StringRef(faults[0]).contains("mp.exq")) << faults[0];
}
