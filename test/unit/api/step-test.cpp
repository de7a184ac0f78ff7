//===- step-test.cpp - a step on the caller's tensors ---------------------===//
//
// What mantissa.h computes is compared with formulas written out here.
//
//===----------------------------------------------------------------------===//
#include "api/SmallModule.h"
#include <thread>

using namespace mantissa;
using namespace mantissa::test;

namespace {

using Matrix = std::vector<double>;

/// The logits of the classifier, in double.
Matrix logitsOf(const SmallData &data, const std::vector<float> &w,
                const std::vector<float> &b) {
  Matrix logits;
  for (size_t i = 0; i < data.label.size(); ++i)
    for (size_t c = 0; c < 3; ++c) {
      double sum = b[c];
      for (size_t k = 0; k < 4; ++k)
        sum += double(data.x[4 * i + k]) * w[4 * c + k];
      logits.push_back(sum);
    }
  return logits;
}

/// The mean cross entropy, and its gradient with respect to the weight.
struct Reference {
  double loss = 0;
  Matrix gradient = Matrix(12);

  Reference(const SmallData &data, const Matrix &logits) {
    size_t rows = data.label.size();
    for (size_t i = 0; i < rows; ++i) {
      double total = 0;
      for (size_t c = 0; c < 3; ++c)
        total += std::exp(logits[3 * i + c]);
      loss -= (logits[3 * i + data.label[i]] - std::log(total)) / rows;
      for (size_t c = 0; c < 3; ++c) {
        double error =
            std::exp(logits[3 * i + c]) / total - (c == data.label[i]);
        for (size_t k = 0; k < 4; ++k)
          gradient[4 * c + k] += error * data.x[4 * i + k] / rows;
      }
    }
  }
};

TEST(Step, LossGradientAndUpdateAreThoseOfTheFormulas) {
  Step step = smallStep({.outputs = {"grad:fc.weight", "value:%logits"}});
  SmallData data;
  auto before = check(step.read<float>("fc.weight"));
  auto logits = logitsOf(data, before, check(step.read<float>("fc.bias")));
  Reference expected(data, logits);

  StepResults results = train(step, data);
  EXPECT_NEAR(results.loss, expected.loss, 1e-6);
  EXPECT_NEAR(check(results.number("loss")), expected.loss, 1e-6);
  EXPECT_EQ(check(results.find("grad:fc.weight")).type(), "3x4xf32");
  auto gradient = check(results.read<float>("grad:fc.weight"));
  auto value = check(results.read<float>("value:%logits"));
  auto after = check(step.read<float>("fc.weight"));
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(gradient[i], expected.gradient[i], 1e-6);
    EXPECT_NEAR(after[i], before[i] - 0.5 * expected.gradient[i], 1e-6);
  }
  for (size_t i = 0; i < logits.size(); ++i)
    EXPECT_NEAR(value[i], logits[i], 1e-6);
}

TEST(Step, GradientsOnRequestAreUnscaledAndClipped) {
  Step plain = smallStep({.outputs = {"grad:fc.weight"}});
  Step scaled = smallStep({.scaler = Scaler::Static,
                           .staticScale = 1024,
                           .outputs = {"grad:fc.weight"}});
  // The scale has all its digits.
  Step tiny = smallStep({.scaler = Scaler::Static, .staticScale = 0x1.08p-12});
  EXPECT_EQ(train(tiny, SmallData()).lossScale, 0x1.08p-12);
  Step clipped = smallStep({.clipNorm = 0.01, .outputs = {"grad:fc.weight"}});
  SmallData data;
  StepResults full = train(plain, data);
  auto gradient = check(full.read<float>("grad:fc.weight"));
  StepResults same = train(scaled, data);
  EXPECT_EQ(same.lossScale, 1024);
  EXPECT_EQ(gradient, check(same.read<float>("grad:fc.weight")));
  StepResults small = train(clipped, data);
  auto shortened = check(small.read<float>("grad:fc.weight"));
  for (size_t i = 0; i < gradient.size(); ++i)
    EXPECT_NEAR(shortened[i], gradient[i] * 0.01 / full.gradientNorm, 1e-8);
}

TEST(Step, FindsWhereValuesStopBeingFinite) {
  // f16 overflows in the product; the update is skipped.
  Step step = smallStep({.precision = Precision::FP16, .staticScale = 1});
  SmallData data, huge;
  huge.x[5] = 6e4;
  std::vector<float> weight(12, 3);
  check(step.write("fc.weight", TensorRef(weight, {3, 4})));
  StepResults results = train(step, huge);
  EXPECT_TRUE(results.skipped);
  auto find = [&](const SmallData &data) {
    return check(
        step.findNonFinite({{"x", data.points()}, {"label", data.label}}));
  };
  std::string found = find(huge);
  EXPECT_NE(
      found.find("mp.linear at small.mlir:9:15: 6x3xf16, 3 of 18 not finite"),
      std::string::npos)
      << found;
  EXPECT_EQ(find(data), "");
  // Nothing has changed, and what runs is still the step.
  EXPECT_EQ(step.steps(), 1);
  EXPECT_EQ(check(step.read<float>("fc.weight")), weight);
  EXPECT_FALSE(train(step, data).skipped);
}

TEST(Step, PredictsWithoutLabelsForAnyNumberOfRows) {
  Step step = smallStep({.predictions = {"value:%logits"}});
  for (int i = 0; i < 3; ++i)
    train(step, SmallData());
  auto inputs = check(step.predictInputs());
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].name, "x");
  for (int64_t rows : {6, 1, 5}) {
    SmallData data(rows);
    auto expected = logitsOf(data, check(step.read<float>("fc.weight")),
                             check(step.read<float>("fc.bias")));
    Results results = check(step.predict({{"x", data.points()}}));
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results.name(0), "value:%logits");
    auto logits = check(results.read<float>("value:%logits"));
    ASSERT_EQ(logits.size(), expected.size());
    for (size_t i = 0; i < logits.size(); ++i)
      EXPECT_NEAR(logits[i], expected[i], 1e-6);
  }
  EXPECT_EQ(step.steps(), 3);
}

TEST(Step, MicroBatchesAreRowsOfTheSameTensors) {
  // Two micro-batches of three rows are one batch of six.
  Step whole = smallStep();
  Step parts = smallStep({.batch = 3, .accumulate = 2});
  EXPECT_EQ(parts.inputs()[0].type.str(), "6x4xf32");
  SmallData data;
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(train(whole, data).loss, train(parts, data).loss, 1e-6);
  auto a = check(whole.read<float>("fc.weight"));
  auto b = check(parts.read<float>("fc.weight"));
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 1e-6);
}

TEST(Step, LearningRateIsAVariable) {
  SmallData data;
  Step step = smallStep();
  EXPECT_EQ(train(step, data).learningRate, 0.5);
  check(step.scaleLearningRate(0.5));
  check(step.scaleLearningRate(0.5));
  EXPECT_EQ(train(step, data).learningRate, 0.125);
  check(step.setLearningRate(0.25));
  EXPECT_EQ(train(step, data).learningRate, 0.25);
  check(step.scaleLearningRate(2));
  EXPECT_EQ(train(step, data).learningRate, 0.5);
  check(step.setLearningRate(0));
  auto before = check(step.read<float>("fc.weight"));
  train(step, data);
  EXPECT_EQ(check(step.read<float>("fc.weight")), before);
  check(step.resetLearningRate());
  EXPECT_EQ(train(step, data).learningRate, 0.5);
  EXPECT_EQ(messageOf(step.setLearningRate(-1)),
            "the learning rate is -1, expected a finite number from 0 on");
  EXPECT_EQ(messageOf(step.scaleLearningRate(NAN)),
            "the factor of the learning rate is nan, expected a finite number "
            "from 0 on");
}

TEST(Step, SteeringAtTheRecipesRateChangesNoBit) {
  // A factor of one and the rate of the schedule are exact.
  SmallData data;
  Step plain = smallStep(), set = smallStep();
  check(set.setLearningRate(0.5));
  for (int i = 0; i < 5; ++i) {
    train(plain, data);
    train(set, data);
  }
  EXPECT_EQ(check(plain.read<float>("fc.weight")),
            check(set.read<float>("fc.weight")));
}

TEST(Step, ThreadsEachHaveTheirOwn) {
  // Eight models at once give the bits of one alone.
  SmallData data;
  auto weights = [&] {
    Step step = smallStep({.predictions = {"value:%logits"}});
    for (int i = 0; i < 50; ++i) {
      train(step, data);
      check(step.predict({{"x", data.points()}}));
    }
    return check(step.read<float>("fc.weight"));
  };
  auto expected = weights();
  std::vector<std::vector<float>> found(8);
  std::vector<std::thread> threads;
  for (auto &result : found)
    threads.emplace_back([&] { result = weights(); });
  for (std::thread &thread : threads)
    thread.join();
  for (const auto &result : found)
    EXPECT_EQ(result, expected);
}

TEST(Step, RefusesASecondThread) {
  SmallData data;
  Step step = smallStep();
  std::atomic<int> refused = 0, ran = 0;
  auto work = [&] {
    for (int i = 0; i < 20000 && !refused; ++i) {
      std::string message =
          messageOf(step.run({{"x", data.points()}, {"label", data.label}}));
      EXPECT_TRUE(message.empty() ||
                  message == "another thread is using this step: a step is for "
                             "one thread at a time")
          << message;
      ++(message.empty() ? ran : refused);
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_GT(refused, 0);
  EXPECT_EQ(step.steps(), ran);
}

} // namespace
