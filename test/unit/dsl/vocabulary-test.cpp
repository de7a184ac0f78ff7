//===- vocabulary-test.cpp - losses of very many classes ------------------===//
//
// The adaptive softmax is PyTorch's (test/goldens/adaptive.json). The sampled
// one is computed here in f64 from the classes that the step has drawn.
//
//===----------------------------------------------------------------------===//
#include "GraphRun.h"
#include "dsl/Layers.h"
#include "dsl/Vocabulary.h"
#include "mantissa.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mantissa;
using mp::Numbers, mp::test::check, mp::test::read;

namespace {

void expectNear(const std::string &what, const std::vector<float> &ours,
                const std::vector<float> &theirs, double tolerance) {
  ASSERT_EQ(ours.size(), theirs.size()) << what;
  double largest = 1e-30;
  for (float value : theirs)
    largest = std::max(largest, std::abs(double(value)));
  for (size_t i = 0; i < ours.size(); ++i)
    EXPECT_NEAR(ours[i], theirs[i], tolerance * largest) << what << " " << i;
}

Tensor integers(Graph &net, const std::vector<float> &values) {
  std::vector<double> wide(values.begin(), values.end());
  return constant(net, wide, {int64_t(wide.size())}, I32);
}

void write(Step &step, const std::string &name,
           const std::vector<float> &values) {
  auto type = check(step.typeOf(name));
  ASSERT_FALSE(bool(step.write(name, TensorRef(values, type.shape))));
}

void compareAdaptive(const llvm::json::Object &golden, int64_t rows,
                     int64_t features) {
  Graph net("m");
  std::map<std::string, std::vector<float>> written, gradients;
  auto add = [&](const std::string &name, const llvm::json::Array &values,
                 const llvm::json::Array &gradient) {
    written[name] = read(values);
    gradients[name] = read(gradient);
  };
  AdaptiveSoftmax layer;
  layer.name = "softmax";
  layer.classes = *golden.getInteger("classes");
  for (const llvm::json::Value &cutoff : *golden.getArray("cutoffs"))
    layer.cutoffs.push_back(*cutoff.getAsInteger());
  layer.divValue = *golden.getNumber("div_value");
  layer.headBias = golden.getBoolean("head_bias").value_or(false);
  Tensor x = net.parameter("x", F32, {rows, features}, zeros());
  add("x", *golden.getArray("x"), *golden.getArray("gradient"));
  for (auto &[name, variable] : *golden.getObject("weights"))
    add("softmax." + name.str(), *variable.getAsObject()->getArray("values"),
        *variable.getAsObject()->getArray("gradient"));
  Tensor targets = integers(net, read(*golden.getArray("targets")));
  net.output("loss", adaptiveSoftmaxLoss(x, targets, layer));
  net.train({.optimizer = sgd({.lr = 0})});
  ASSERT_TRUE(net.mistakes().empty()) << net.mistakes().front();

  StepOptions options{.threads = 1};
  for (auto &[name, values] : gradients)
    options.outputs.push_back("grad:" + name);
  Step step = check(check(Module::fromGraph(net)).compileStep(options));
  for (auto &[name, values] : written)
    write(step, name, values);
  auto results = check(step.run({}));
  expectNear("loss", check(results.read<float>("loss")),
             read(*golden.getArray("loss")), 1e-6);
  for (auto &[name, expected] : gradients)
    expectNear(name, check(results.read<float>("grad:" + name)), expected,
               1e-5);
}

TEST(AdaptiveSoftmax, IsPyTorchs) {
  llvm::json::Object all = check(mp::readGolden("adaptive.json"));
  size_t index = 0;
  for (const llvm::json::Value &golden : *all.getArray("cases")) {
    SCOPED_TRACE("case " + std::to_string(index++));
    compareAdaptive(*golden.getAsObject(), *all.getInteger("rows"),
                    *all.getInteger("features"));
  }
  EXPECT_EQ(index, 3u);
}

/// A step of the sampled softmax, and what it should compute.
struct Drawn {
  static constexpr int64_t rows = 5, features = 3, classes = 40, samples = 16;
  std::vector<float> x, weight, bias, targets = {0, 1, 7, 39, 2};
  std::vector<int32_t> drawn;

  double expectedTimes(double k) const {
    return samples * std::log((k + 2) / (k + 1)) / std::log(classes + 1.0);
  }
  double score(int64_t row, int64_t k) const {
    double total = bias[k] - std::log(expectedTimes(k));
    for (int64_t i = 0; i < features; ++i)
      total += double(x[row * features + i]) * weight[k * features + i];
    return total;
  }
  double loss() const {
    double total = 0;
    for (int64_t row = 0; row < rows; ++row) {
      auto target = static_cast<int64_t>(targets[row]);
      double own = score(row, target), sum = std::exp(own);
      for (int32_t k : drawn)
        if (k != target)
          sum += std::exp(score(row, k));
      total += std::log(sum) - own;
    }
    return total / rows;
  }
};

std::vector<float> spread(size_t count, double scale) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(scale * std::sin(1.0 + 3.0 * double(i)));
  return values;
}

TEST(SampledSoftmax, IsItsDefinition) {
  Drawn expected;
  Graph net("m");
  Tensor x = net.parameter("x", F32, {Drawn::rows, Drawn::features}, zeros());
  auto result = sampledSoftmaxLoss(x, integers(net, expected.targets),
                                   {.classes = Drawn::classes,
                                    .samples = Drawn::samples,
                                    .name = "softmax"});
  net.output("loss", result.loss);
  net.output("drawn", result.drawn);
  net.train({.optimizer = sgd({.lr = 0.1})});
  ASSERT_TRUE(net.mistakes().empty()) << net.mistakes().front();
  StepOptions options{.threads = 1};
  Step step = check(check(Module::fromGraph(net)).compileStep(options));
  expected.x = spread(Drawn::rows * Drawn::features, 0.9);
  expected.weight = spread(Drawn::classes * Drawn::features, 0.7);
  expected.bias = spread(Drawn::classes, 0.3);
  std::vector<int64_t> counts(Drawn::classes);
  constexpr int steps = 200;
  for (int i = 0; i < steps; ++i) {
    write(step, "x", expected.x);
    write(step, "softmax.weight", expected.weight);
    write(step, "softmax.bias", expected.bias);
    auto results = check(step.run({}));
    expected.drawn = check(results.read<int32_t>("drawn"));
    ASSERT_EQ(expected.drawn.size(), size_t(Drawn::samples));
    for (int32_t k : expected.drawn) {
      ASSERT_GE(k, 0);
      ASSERT_LT(k, Drawn::classes);
      ++counts[k];
    }
    EXPECT_NEAR(check(results.read<float>("loss"))[0], expected.loss(), 1e-5);
  }
  // Counts lie within four standard deviations of what is expected.
  for (int64_t k = 0; k < Drawn::classes; ++k) {
    double mean = steps * expected.expectedTimes(k);
    EXPECT_NEAR(counts[k], mean, 4 * std::sqrt(mean) + 1) << k;
  }
}

/// Rows may be the tokens of a batch of texts.
TEST(Vocabulary, TakesSeveralRowsOfASample) {
  Graph net("m");
  Tensor x = reshape(net.input("x", F32, {Batch, 6, 8}), {-1, 8});
  Tensor y = reshape(net.input("y", I32, {Batch, 6}), {-1});
  AdaptiveSoftmax adaptive{.classes = 40, .cutoffs = {10}, .name = "adaptive"};
  Tensor loss = adaptiveSoftmaxLoss(x, y, adaptive);
  auto sampled = sampledSoftmaxLoss(
      x, y, {.classes = 40, .samples = 5, .name = "sampled"});
  net.output("loss", loss + sampled.loss);
  net.train({.optimizer = sgd({.lr = 0.1})});
  ASSERT_TRUE(net.mistakes().empty()) << net.mistakes().front();
  EXPECT_EQ(sampled.drawn.type(), "5xi32");
  check(check(Module::fromGraph(net)).compileStep({.batch = 3, .threads = 1}));
}

TEST(Vocabulary, SaysWhatIsWrong) {
  auto refuses = [](auto add, const char *expected) {
    Graph net("m");
    add(net, net.input("x", F32, {Batch, 8}), net.input("y", I32, {Batch}));
    ASSERT_EQ(net.mistakes().size(), 1u);
    EXPECT_NE(net.mistakes()[0].find(expected), std::string::npos)
        << net.mistakes()[0];
  };
  refuses(
      [](Graph &, const Tensor &x, const Tensor &y) {
        adaptiveSoftmaxLoss(
            x, y, {.classes = 10, .cutoffs = {4, 4}, .name = "softmax"});
      },
      "adaptiveSoftmaxLoss 'softmax' of ?x8xf32: cutoffs ascend from 1 to less "
      "than 10");
  refuses(
      [](Graph &, const Tensor &x, const Tensor &y) {
        adaptiveSoftmaxLoss(
            x, y, {.classes = 10, .cutoffs = {2, 4}, .name = "softmax"});
      },
      "the last cluster has no features left");
  refuses(
      [](Graph &, const Tensor &x, const Tensor &y) {
        // What comes of it is no value, and says no more.
        sum(sampledSoftmaxLoss(x, y, {.classes = 10, .name = "softmax"}).loss);
      },
      "sampledSoftmaxLoss 'softmax' of ?x8xf32: 0 samples");
}

} // namespace
