//===- gradients-test.cpp - gradient rules against central differences ----===//
//
// Iterates the registry: an op with a gradient is found here without being
// named, by the samples that it gives of itself. Each sample becomes a scalar
// function of its operands, loss = sum(weights * op(operands)), compiled in f64
// together with its gradient by mp-autodiff.
//
//===----------------------------------------------------------------------===//
#include "OpSamples.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mp;

namespace {
constexpr double kTolerance =
    1e-6; // relative to an operand's largest derivative
constexpr double kStep =
    1e-5; // error of central differences: step^2, and 1e-16 / step

void checkSample(const OpSample &text) {
  auto sample = sampleModules(text);
  ASSERT_TRUE(sample) << text.op;
  SampleFunction loss(sample->backward, "f"),
      gradient(sample->backward, "f.gradient");
  ASSERT_TRUE(loss.isReady() && gradient.isReady());
  std::vector<Numbers> analytic = gradient(sample->operands);
  size_t next = 0;
  for (auto [type, values, operand] :
       llvm::zip_equal(sample->types, sample->operands, text.operands)) {
    if (!isa<FloatType>(type.getElementType()))
      continue;
    const Numbers &exact = analytic.at(next++);
    // Only f64 operands are differentiated; a scale in f32 is a constant.
    if (!type.getElementType().isF64())
      continue;
    double largest = 0, worst = 0;
    for (auto [value, derivative] : llvm::zip_equal(values, exact)) {
      double saved = value;
      value = saved + kStep;
      double above = loss(sample->operands).front().front();
      value = saved - kStep;
      double below = loss(sample->operands).front().front();
      value = saved;
      double numeric = (above - below) / (2 * kStep);
      largest = std::max({largest, std::abs(numeric), std::abs(derivative)});
      worst = std::max(worst, std::abs(numeric - derivative));
    }
    EXPECT_LE(worst, kTolerance * largest) << text.op;
    if (operand.flat)
      EXPECT_EQ(largest, 0) << text.op << ": an operand is not flat";
    else
      EXPECT_GT(largest, 0) << text.op << ": nothing depends on an operand";
  }
}
} // namespace

class Gradients : public testing::TestWithParam<DifferentiableOp> {};

TEST_P(Gradients, AgreeWithCentralDifferences) {
  ASSERT_FALSE(GetParam().samples.empty()) << "the op has no sample";
  for (const OpSample &sample : GetParam().samples)
    checkSample(sample);
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
