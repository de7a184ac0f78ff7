//===- two_models.cpp - two models, each in a thread of its own -----------===//
//
// A large network learns a function of two numbers, and a small one, at the
// same time, in another precision, learns it too. Each thread has its Step;
// nothing is shared and nothing is locked.
//
//===----------------------------------------------------------------------===//
#include "dsl/Layers.h"
#include "mantissa.h"
#include <cmath>
#include <random>
#include <thread>

using namespace mantissa;
static constexpr int64_t kRows = 128;
static llvm::ExitOnError check("two_models: ");

/// A network of this width that approximates sin(3 a) cos(2 b).
static Module model(int64_t width) {
  Graph net("surface");
  Tensor x = net.input("x", F32, {Batch, 2});
  Tensor y = net.input("y", F32, {Batch, 1});
  x = gelu(linear(x, {.out = width, .name = "fc1"}));
  x = gelu(linear(x, {.out = width, .name = "fc2"}));
  net.output("loss", mseLoss(linear(x, {.out = 1, .name = "fc3"}), y));
  net.train({.optimizer = adamw({.lr = 3e-3})});
  return check(Module::fromGraph(net));
}

/// Returns the loss of the last step.
static double train(const Module &module, Precision precision, int steps) {
  Step step = check(module.compileStep(
      {.batch = kRows, .precision = precision, .threads = 1, .seed = 1}));
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<float> x(kRows * 2), y(kRows);
  double loss = 0;
  for (int i = 0; i < steps; ++i) {
    for (int64_t row = 0; row < kRows; ++row) {
      float a = number(random), b = number(random);
      x[2 * row] = a;
      x[2 * row + 1] = b;
      y[row] = std::sin(3 * a) * std::cos(2 * b);
    }
    loss =
        check(step.run({{"x", {x, {kRows, 2}}}, {"y", {y, {kRows, 1}}}})).loss;
  }
  return loss;
}

int main() {
  double large = 0, small = 0;
  std::thread first([&] { large = train(model(256), Precision::BF16, 600); });
  std::thread second([&] { small = train(model(32), Precision::FP32, 600); });
  first.join();
  second.join();
  llvm::outs() << "loss of the large model in bf16 " << large
               << ", of the small one in fp32 " << small << "\n";
}
