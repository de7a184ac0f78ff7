//===- learning_rate.cpp - searches for a learning rate -------------------===//
//
// The range test of Smith, "Cyclical Learning Rates for Training Neural
// Networks" (2017), section 3.3: the learning rate grows with every step
// until the loss diverges. The step is compiled once:
// its learning rate is a variable.
//
//===----------------------------------------------------------------------===//
#include "dsl/Layers.h"
#include "mantissa.h"
#include <cmath>
#include <random>

using namespace mantissa;
static constexpr int64_t kRows = 256;
static llvm::ExitOnError check("learning_rate: ");

/// Two spirals, one of each class.
struct Spirals {
  std::vector<float> points = std::vector<float>(kRows * 2);
  std::vector<uint8_t> label = std::vector<uint8_t>(kRows);

  StepResults trainOn(Step &step, std::mt19937 &random) {
    draw(random);
    return check(
        step.run({{"points", {points, {kRows, 2}}}, {"label", label}}));
  }

  void draw(std::mt19937 &random) {
    std::uniform_real_distribution<float> along(0.1f, 1);
    std::normal_distribution<float> noise(0, 0.01f);
    for (int64_t i = 0; i < kRows; ++i) {
      float radius = along(random), turn = 7 * radius + 3.1416f * (i % 2);
      points[2 * i] = radius * std::cos(turn) + noise(random);
      points[2 * i + 1] = radius * std::sin(turn) + noise(random);
      label[i] = i % 2;
    }
  }
};

static void build(Graph &net) {
  Tensor x = net.input("points", F32, {Batch, 2});
  Tensor label = net.input("label", U8, {Batch});
  x = tanh(linear(x, {.out = 64, .name = "fc1"}));
  x = tanh(linear(x, {.out = 64, .name = "fc2"}));
  Tensor logits = linear(x, {.out = 2, .name = "fc3"});
  net.output("loss", crossEntropy(logits, label));
  net.output("accuracy", accuracy(logits, label));
  net.train({.optimizer = sgd({.momentum = 0.9}), .precision = "bf16"});
}

/// Returns a tenth of the learning rate at which the smoothed loss is least
/// while the rate grows from 1e-4 on, until the loss diverges.
static double rangeTest(Step &step, Spirals &data) {
  constexpr double smoothing = 0.9, growth = 1.06;
  std::mt19937 random(1);
  double average = 0, least = INFINITY, best = 0, rate = 1e-4;
  for (int i = 1; rate < 100; ++i, rate *= growth) {
    check(step.setLearningRate(rate));
    double loss = data.trainOn(step, random).loss;
    average = smoothing * average + (1 - smoothing) * loss;
    double smooth = average / (1 - std::pow(smoothing, i));
    if (!(smooth < 2 * least) && i > 10)
      break;
    if (smooth < least) {
      least = smooth;
      best = rate;
    }
  }
  return best / 10;
}

int main() {
  Graph net("spirals");
  build(net);
  Step step = check(
      check(Module::fromGraph(net)).compileStep({.batch = kRows, .seed = 1}));
  Spirals data;
  double rate = rangeTest(step, data);
  llvm::outs() << "learning rate " << rate << "\n";

  // From the first values again, at this rate, which falls at the end.
  check(step.initialize(/*seed=*/1));
  check(step.setLearningRate(rate));
  std::mt19937 random(2);
  double accuracy = 0;
  for (int i = 0; i < 1000; ++i) {
    if (i == 800)
      check(step.scaleLearningRate(0.1));
    accuracy = check(data.trainOn(step, random).number("accuracy"));
  }
  llvm::outs() << "accuracy " << accuracy << " after " << step.steps()
               << " steps\n";
}
