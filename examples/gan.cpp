//===- gan.cpp - two losses, each with its own optimizer ------------------===//
//
// A generator learns to draw points on a circle, and a critic to tell them from
// real ones. Both are trained in one step: the critic's loss takes the
// generator's points without their gradient, and each loss updates the
// parameters of its own network alone.
//
//===----------------------------------------------------------------------===//
#include "dsl/Layers.h"
#include "mantissa.h"
#include <cmath>
#include <random>

using namespace mantissa;

static constexpr int64_t kRows = 256, kNoise = 4;

static Tensor generate(Graph &net, Tensor x) {
  auto scope = net.scope("generator");
  x = relu(linear(x, {.out = 64, .name = "fc1"}));
  x = relu(linear(x, {.out = 64, .name = "fc2"}));
  return linear(x, {.out = 2, .name = "fc3"});
}

static Tensor criticise(Graph &net, Tensor x) {
  auto scope = net.scope("critic");
  x = leakyRelu(linear(x, {.out = 64, .name = "fc1"}), {.negativeSlope = 0.2});
  x = leakyRelu(linear(x, {.out = 64, .name = "fc2"}), {.negativeSlope = 0.2});
  return linear(x, {.out = 1, .name = "fc3"});
}

static void build(Graph &net) {
  Tensor noise = net.input("noise", F32, {Batch, kNoise});
  Tensor real = net.input("real", F32, {Batch, 2});
  Tensor fake = generate(net, noise);
  Tensor ofReal = criticise(net, real);
  Tensor ofFake = criticise(net, stopGradient(fake));
  net.output("critic", mean(softplus(-ofReal) + softplus(ofFake)));
  net.output("generator", mean(softplus(-criticise(net, fake))));
  net.output("points", fake);
  net.train({.precision = "bf16",
             .groups = {{.result = "critic",
                         .params = {"critic.*"},
                         .optimizer = adam({.lr = 1e-3, .beta1 = 0.5})},
                        {.result = "generator",
                         .params = {"generator.*"},
                         .optimizer = adam({.lr = 1e-3, .beta1 = 0.5})}}});
}

int main() {
  llvm::ExitOnError check("gan: ");
  Graph net("gan");
  build(net);
  Module module = check(Module::fromGraph(net));
  Step step = check(module.compileStep({.batch = kRows, .seed = 1}));

  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> angle(0, 2 * std::acos(-1.0f));
  std::vector<float> noise(kRows * kNoise), real(kRows * 2);
  for (int i = 0; i < 1500; ++i) {
    for (float &number : noise)
      number = normal(random);
    for (int64_t row = 0; row < kRows; ++row) {
      float turn = angle(random);
      real[2 * row] = std::cos(turn);
      real[2 * row + 1] = std::sin(turn);
    }
    auto results = check(step.run(
        {{"noise", {noise, {kRows, kNoise}}}, {"real", {real, {kRows, 2}}}}));
    if (i % 500 == 499)
      llvm::outs() << "step " << i + 1 << " critic "
                   << check(results.number("critic")) << " generator "
                   << check(results.number("generator")) << "\n";
  }
  // How far the points are from the circle, on average.
  auto drawn = check(step.predict({{"noise", {noise, {kRows, kNoise}}}}));
  auto points = check(drawn.find("points")).floats();
  double distance = 0;
  for (int64_t row = 0; row < kRows; ++row)
    distance += std::abs(std::hypot(points[2 * row], points[2 * row + 1]) - 1);
  llvm::outs() << "distance from the circle " << distance / kRows << "\n";
}
