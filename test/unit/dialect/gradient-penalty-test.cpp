//===- gradient-penalty-test.cpp - gradients of gradients -----------------===//
//
// The penalty of WGAN-GP (Gulrajani et al., arXiv 1704.00028) on a perceptron:
// its gradient against central differences of the penalty, whose inner gradient
// is checked in the same way; and a step that minimises it.
//
//===----------------------------------------------------------------------===//
#include "OpSamples.h"
#include "TrainingSession.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include <cmath>
#include <random>

using namespace mp;
using namespace llvm;

namespace {

/// Returns mean over rows of (||d score / d x||_2 - 1)^2, and the score's
/// derivative.
std::string penalty(StringRef tanh, StringRef softplus) {
  return (R"mlir(
  func.func @penalty(%x: tensor<4x3xf64>, %w1: tensor<5x3xf64>, %b1: tensor<5xf64>, %w2: tensor<6x5xf64>,
                     %w3: tensor<1x6xf64>) -> tensor<f64> {
    %one = mp.constant dense<1.0> : tensor<f64>
    %h1 = mp.linear %x, %w1, %b1 : tensor<4x3xf64>, tensor<5x3xf64>, tensor<5xf64>
)mlir" + tanh +
          R"mlir(
    %h2 = mp.linear %tanh, %w2 : tensor<4x5xf64>, tensor<6x5xf64>
)mlir" + softplus +
          R"mlir(
    %y = mp.linear %softplus, %w3 : tensor<4x6xf64>, tensor<1x6xf64>
    %score = mp.sum %y dims[0, 1] : tensor<4x1xf64>
    %dx = mp.gradient %score of %x : tensor<f64>, tensor<4x3xf64>
    %squares = mp.mul %dx, %dx : tensor<4x3xf64>, tensor<4x3xf64>
    %sums = mp.sum %squares dims[1] : tensor<4x3xf64>
    %norms = mp.sqrt %sums : tensor<4xf64>
    %off = mp.sub %norms, %one : tensor<4xf64>, tensor<f64>
    %terms = mp.mul %off, %off : tensor<4xf64>, tensor<4xf64>
    %penalty = mp.mean %terms dims[0] : tensor<4xf64>
    return %penalty : tensor<f64>
  })mlir")
      .str();
}

std::string differentiated(StringRef text, StringRef function) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &sampleContext());
  mlir::PassManager manager(&sampleContext());
  manager.addPass(createAutodiff({function.str()}));
  EXPECT_TRUE(module && succeeded(manager.run(*module)));
  std::string printed;
  raw_string_ostream(printed) << *module;
  return printed;
}

Numbers randomNumbers(size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> draw(-1, 1);
  Numbers numbers(count);
  for (double &number : numbers)
    number = draw(random);
  return numbers;
}

/// Checks that @f.gradient equals the central differences of @f, for every
/// argument.
void checkGradient(StringRef text, StringRef name) {
  std::string module = differentiated(text, name);
  auto value = cantFail(GoldenFunction::compile(module, name));
  auto gradient =
      cantFail(GoldenFunction::compile(module, (name + ".gradient").str()));
  std::vector<Numbers> inputs;
  for (const Input &input : value.entry().inputs)
    inputs.push_back(randomNumbers(input.type.elements(), inputs.size()));
  auto exact = cantFail(gradient(inputs));
  ASSERT_EQ(exact.size(), inputs.size());
  constexpr double step = 1e-5;
  for (auto [numbers, slopes] : zip_equal(inputs, exact)) {
    double largest = 0;
    for (auto [number, slope] : zip_equal(numbers, slopes)) {
      double saved = number;
      number = saved + step;
      double above = cantFail(value(inputs))[0][0];
      number = saved - step;
      double below = cantFail(value(inputs))[0][0];
      number = saved;
      // The difference loses 1e-16 of the value over the step.
      EXPECT_NEAR(slope, (above - below) / (2 * step),
                  1e-8 * std::max(1.0, std::abs(slope)));
      largest = std::max(largest, std::abs(slope));
    }
    EXPECT_GT(largest, 1e-3) << "nothing depends on this argument";
  }
}

TEST(GradientPenalty, AgreesWithCentralDifferences) {
  checkGradient(penalty(R"mlir(
    %n1 = mp.neg %h1 : tensor<4x5xf64>
    %up = mp.exp %h1 : tensor<4x5xf64>
    %down = mp.exp %n1 : tensor<4x5xf64>
    %sinh = mp.sub %up, %down : tensor<4x5xf64>, tensor<4x5xf64>
    %cosh = mp.add %up, %down : tensor<4x5xf64>, tensor<4x5xf64>
    %tanh = mp.div %sinh, %cosh : tensor<4x5xf64>, tensor<4x5xf64>)mlir",
                        R"mlir(
    %e2 = mp.exp %h2 : tensor<4x6xf64>
    %s2 = mp.add %e2, %one : tensor<4x6xf64>, tensor<f64>
    %softplus = mp.log %s2 : tensor<4x6xf64>)mlir"),
                "penalty");
}

/// The derivative uses the activations' own gradient ops.
TEST(GradientPenalty, AgreesWithActivations) {
  checkGradient(penalty("%tanh = mp.tanh %h1 : tensor<4x5xf64>",
                        "%softplus = mp.softplus %h2 : tensor<4x6xf64>"),
                "penalty");
}

/// The third derivative of x^4, with a factor in it, differentiated once more.
TEST(GradientPenalty, GradientsNest) {
  checkGradient(R"mlir(
    func.func @third(%x: tensor<3xf64>, %k: tensor<f64>) -> tensor<f64> {
      %2 = mp.mul %x, %x : tensor<3xf64>, tensor<3xf64>
      %4 = mp.mul %2, %2 : tensor<3xf64>, tensor<3xf64>
      %l0 = mp.sum %4 dims[0] : tensor<3xf64>
      %g1 = mp.gradient %l0 of %x : tensor<f64>, tensor<3xf64>
      %l1 = mp.sum %g1 dims[0] : tensor<3xf64>
      %g2 = mp.gradient %l1 of %x : tensor<f64>, tensor<3xf64>
      %m = mp.mul %g2, %k : tensor<3xf64>, tensor<f64>
      %l2 = mp.sum %m dims[0] : tensor<3xf64>
      %g3, %gk = mp.gradient %l2 of %x, %k : tensor<f64>, tensor<3xf64>, tensor<f64>
      %l3 = mp.sum %g3 dims[0] : tensor<3xf64>
      %l = mp.mul %l3, %gk : tensor<f64>, tensor<f64>
      return %l : tensor<f64>
    })mlir",
                "third");
}

constexpr int64_t kBatch = 4;

/// Softplus of a product, penalised; the loss scale is `scale`.
std::string critic(double scale, StringRef precision) {
  return formatv(R"mlir(
    mp.variable @w : tensor<2x3xf32> = #mp.init<kaiming_uniform>
    func.func @loss(%x: tensor<?x3xf32> {{mp.name = "x"}) -> (tensor<f32> {{mp.name = "loss"}) {{
      %w = mp.read @w : tensor<2x3xf32>
      %one = mp.constant dense<1.0> : tensor<f32>
      %h = mp.linear %x, %w : tensor<?x3xf32>, tensor<2x3xf32>
      %wide = mp.cast %h : tensor<?x2xf32> to tensor<?x2xf32>
      %e = mp.exp %wide : tensor<?x2xf32>
      %s = mp.add %e, %one : tensor<?x2xf32>, tensor<f32>
      %y = mp.log %s : tensor<?x2xf32>
      %score = mp.sum %y dims[0, 1] : tensor<?x2xf32>
      %dx = mp.gradient %score of %x : tensor<f32>, tensor<?x3xf32>
      %squares = mp.mul %dx, %dx : tensor<?x3xf32>, tensor<?x3xf32>
      %sums = mp.sum %squares dims[1] : tensor<?x3xf32>
      %norms = mp.sqrt %sums : tensor<?xf32>
      %off = mp.sub %norms, %one : tensor<?xf32>, tensor<f32>
      %terms = mp.mul %off, %off : tensor<?xf32>, tensor<?xf32>
      %penalty = mp.mean %terms dims[0] : tensor<?xf32>
      return %penalty : tensor<f32>
    }
    mp.scaler @scaler {{init_scale = {0}}
    mp.train @step of @loss {1} scaler(@scaler) {{
      mp.minimize result(0) {{optimizer = #mp.sgd<lr = 1.0e-1>}
    })mlir",
                 formatv("{0:e}", scale), precision)
      .str();
}

/// The inner gradient is a value of the loss, so the loss scale does not reach
/// it.
TEST(GradientPenalty, HasNoLossScaleInside) {
  test::TrainingSession one(critic(1, ""), kBatch);
  test::TrainingSession scaled(critic(1024, ""), kBatch);
  Numbers before = one.read("w");
  for (unsigned step = 0; step < 3; ++step) {
    Numbers input = randomNumbers(kBatch * 3, step);
    EXPECT_FALSE(one.skips(input));
    EXPECT_FALSE(scaled.skips(input));
    // A scale that is a power of two changes no bit.
    EXPECT_EQ(one.read("w"), scaled.read("w"));
  }
  EXPECT_NE(one.read("w"), before);
}

TEST(GradientPenalty, TrainsInF16) {
  test::TrainingSession exact(critic(1, ""), kBatch);
  test::TrainingSession half(critic(1024, "autocast(<dtype = f16>)"), kBatch);
  for (unsigned step = 0; step < 3; ++step) {
    Numbers input = randomNumbers(kBatch * 3, step);
    exact.skips(input);
    EXPECT_FALSE(half.skips(input));
  }
  for (auto [one, other] : zip_equal(exact.read("w"), half.read("w")))
    EXPECT_NEAR(one, other, 2e-3);
}

} // namespace
