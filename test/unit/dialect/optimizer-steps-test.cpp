//===- optimizer-steps-test.cpp - recipes, step by step -------------------===//
//
// The parts of a recipe around an optimizer: groups, schedules, clipping,
// averages. Gradients are known, so that the tests contain the numbers.
//
//===----------------------------------------------------------------------===//
#include "TrainingSession.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;
using namespace mp;
using mp::test::TrainingSession;

namespace {

/// sum(x * (v + w)), so that both gradients are x. `type` is the type of the
/// product.
std::string network(StringRef recipe, StringRef type = "f32",
                    StringRef attributes = "") {
  return formatv(R"mlir(
    mp.variable @v.weight : tensor<4xf32> = #mp.init<ones>
    mp.variable @w.bias : tensor<4xf32> = #mp.init<ones>
    func.func @loss(%x: tensor<?x4xf32> {{mp.name = "x"}) -> (tensor<f32> {{mp.name = "loss"}) {{
      %v = mp.read @v.weight : tensor<4xf32>
      %w = mp.read @w.bias : tensor<4xf32>
      %s = mp.add %v, %w : tensor<4xf32>, tensor<4xf32>
      %a = mp.cast %s : tensor<4xf32> to tensor<4x{0}>
      %b = mp.cast %x : tensor<?x4xf32> to tensor<?x4x{0}>
      %p = mp.mul %b, %a : tensor<?x4x{0}>, tensor<4x{0}>
      %c = mp.cast %p : tensor<?x4x{0}> to tensor<?x4xf32>
      %l = mp.sum %c dims[0, 1] : tensor<?x4xf32>
      return %l : tensor<f32>
    }
    mp.scaler @scaler {{init_scale = 1024.0, growth_interval = 100}
    mp.train @step of @loss {1} {{ {2} })mlir",
                 type, attributes, recipe)
      .str();
}

constexpr StringLiteral scaled = "scaler(@scaler)";

Numbers all(double value) { return Numbers(4, value); }

/// A gradient that is infinite once it is scaled.
const Numbers huge = all(1e38);

void expectNear(const Numbers &ours, double theirs) {
  for (double number : ours)
    EXPECT_NEAR(number, theirs, 1e-6);
}

//===----------------------------------------------------------------------===//
// Groups and schedules
//===----------------------------------------------------------------------===//

// No decay on biases: each group has its own learning rate, decay and schedule.
TEST(OptimizerSteps, Groups) {
  TrainingSession session(network(R"(
        mp.minimize result(0) {params = ["*", "!*.bias"],
          optimizer = #mp.sgd<lr = 0.1, weight_decay = 0.5>,
          schedule = #mp.step<step_size = 2, gamma = 0.5>}
        mp.minimize result(0) {params = ["*.bias"],
          optimizer = #mp.sgd<lr = 0.01>,
          schedule = #mp.linear<from = 1, to = 0, steps = 4>})"),
                          /*batch=*/1);
  double v = 1, w = 1;
  for (int step = 0; step < 5; ++step) {
    double rate = 0.1 * std::pow(0.5, step / 2);
    EXPECT_NEAR(session.run(all(2)).at("lr"), rate, 1e-8);
    v -= rate * (2 + 0.5 * v);
    w -= 0.01 * (1 - std::min(step, 4) / 4.0) * 2;
    expectNear(session.read("v.weight"), v);
    expectNear(session.read("w.bias"), w);
  }
}

// Schedules, averages and moments do not move in a skipped step.
TEST(OptimizerSteps, SkippedStepsDoNotCount) {
  TrainingSession session(
      network(
          R"(mp.minimize result(0) {optimizer = #mp.adam<lr = 0.1, amsgrad = true>,
                 clip_norm = 1.0, ema = 0.5,
                 schedule = #mp.warmup<steps = 2, from = 0.5, then = #mp.step<step_size = 1>>})",
          "f32", scaled),
      /*batch=*/1);
  auto rate = [&](const Numbers &input) { return session.run(input).at("lr"); };
  EXPECT_NEAR(rate(all(1)), 0.05, 1e-8);
  std::map<std::string, Numbers> before;
  for (const Variable &variable : session.variables())
    if (variable.kind == VariableKind::Slot ||
        variable.kind == VariableKind::Parameter)
      before[variable.name] = session.read(variable.name);
  EXPECT_EQ(before.size(), 2u + 1 + 2 * 4); // parameters, the count, slots
  EXPECT_TRUE(session.skips(huge));
  EXPECT_TRUE(session.skips(all(NAN)));
  for (auto &[name, numbers] : before)
    EXPECT_EQ(session.read(name), numbers) << name;
  EXPECT_NEAR(rate(all(1)), 0.075, 1e-8);
  EXPECT_NEAR(rate(all(1)), 0.1, 1e-8);
  EXPECT_NEAR(rate(all(1)), 0.01, 1e-8);
}

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

// Both gradients are 3 in 4 elements: a norm of sqrt(72), in a group of 6.
TEST(OptimizerSteps, ClipsUnscaledGradients) {
  TrainingSession together(
      network("mp.minimize result(0) {optimizer = #mp.sgd<lr = 1>}", "f16",
              "scaler(@scaler) attributes {clip_norm = 1.0}"),
      /*batch=*/1);
  auto results = together.run(all(3));
  EXPECT_NEAR(results.at("grad_norm"), std::sqrt(72.0), 1e-5);
  expectNear(together.read("v.weight"), 1 - 3 / std::sqrt(72.0));

  TrainingSession group(
      network(
          R"(mp.minimize result(0) {params = ["v.*"], optimizer = #mp.sgd<lr = 1>, clip_norm = 1.5}
                 mp.minimize result(0) {params = ["w.*"], optimizer = #mp.sgd<lr = 1>})",
          "f16", scaled),
      /*batch=*/1);
  EXPECT_NEAR(group.run(all(3)).at("grad_norm"), std::sqrt(72.0), 1e-5);
  expectNear(group.read("v.weight"), 1 - 3 * 1.5 / 6);
  expectNear(group.read("w.bias"), 1 - 3);
}

// Without a scaler this follows PyTorch: an infinite norm makes a factor of
// zero, and infinity times zero NaN; the norm of finite gradients may overflow.
TEST(OptimizerSteps, NormsThatAreNotFinite) {
  std::string module =
      network("mp.minimize result(0) {optimizer = #mp.sgd<lr = 1>}", "f32",
              "attributes {clip_norm = 1.0}");
  TrainingSession overflow(module, /*batch=*/1);
  EXPECT_TRUE(std::isinf(overflow.run(all(1e30)).at("grad_norm")));
  EXPECT_EQ(overflow.read("v.weight"), all(1));
  TrainingSession infinite(module, /*batch=*/1);
  Numbers gradient = all(1);
  gradient[2] = INFINITY;
  EXPECT_TRUE(std::isinf(infinite.run(gradient).at("grad_norm")));
  EXPECT_EQ(infinite.read("v.weight")[0], 1);
  EXPECT_TRUE(std::isnan(infinite.read("v.weight")[2]));
}

//===----------------------------------------------------------------------===//
// Averages
//===----------------------------------------------------------------------===//

TEST(OptimizerSteps, AveragesFollowParameters) {
  TrainingSession session(
      network(
          R"(mp.minimize result(0) {params = ["v.*"], optimizer = #mp.sgd<lr = 0.5>, ema = 0.75}
                 mp.minimize result(0) {params = ["w.*"], optimizer = #mp.sgd<lr = 0.5>})"),
      /*batch=*/1);
  for (const Variable &variable : session.variables())
    EXPECT_NE(variable.name, "w.bias.ema");
  session.run(all(1));
  expectNear(session.read("v.weight.ema"), 0.5);
  session.run(all(1));
  expectNear(session.read("v.weight.ema"), 0.75 * 0.5 + 0.25 * 0);
  session.run(all(1));
  expectNear(session.read("v.weight.ema"), 0.75 * 0.375 - 0.25 * 0.5);
}

} // namespace
