//===- ctc-test.cpp - connectionist temporal classification ---------------===//
//
// Losses and gradients are PyTorch's (test/goldens/ctc.json); a small one is
// the sum over all paths, written out.
//
//===----------------------------------------------------------------------===//
#include "GraphRun.h"
#include "dsl/Ctc.h"
#include "mantissa.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace mantissa;
using mp::Numbers, mp::test::check, mp::test::read;

namespace {

/// A case of the goldens, whose logits are a parameter.
class Case {
public:
  explicit Case(const llvm::json::Object &golden) : golden(golden) {}

  void compare(Precision precision, double tolerance) {
    build();
    StepOptions options{.precision = precision, .threads = 1};
    options.outputs.push_back("grad:logits");
    Step step = check(check(Module::fromGraph(net)).compileStep(options));
    auto type = check(step.typeOf("logits"));
    auto logits = read(*golden.getArray("logits"));
    ASSERT_FALSE(bool(step.write("logits", TensorRef(logits, type.shape))));
    auto results = check(step.run({}));
    expectNear(check(results.read<float>("each")),
               read(*golden.getArray("loss")), tolerance);
    expectNear(check(results.read<float>("grad:logits")),
               read(*golden.getArray("gradient")), tolerance);
  }

private:
  static void expectNear(const std::vector<float> &ours,
                         const std::vector<float> &theirs, double tolerance) {
    ASSERT_EQ(ours.size(), theirs.size());
    double largest = 0;
    for (float value : theirs)
      largest = std::max(largest, std::abs(double(value)));
    for (size_t i = 0; i < ours.size(); ++i)
      EXPECT_NEAR(ours[i], theirs[i], tolerance * largest) << i;
  }

  Tensor integers(const char *name) {
    const llvm::json::Array *given = golden.getArray(name);
    if (!given)
      return {};
    std::vector<double> values;
    for (const llvm::json::Value &value : *given)
      values.push_back(*value.getAsNumber());
    int64_t count = values.size();
    return constant(net, values, {count}, I32);
  }

  void build() {
    const llvm::json::Array &rows = *golden.getArray("targets");
    std::vector<double> labels;
    for (const llvm::json::Value &row : rows)
      for (const llvm::json::Value &label : *row.getAsArray())
        labels.push_back(*label.getAsInteger());
    int64_t batch = rows.size(), length = labels.size() / rows.size();
    Tensor logits = net.parameter(
        "logits", F32,
        {batch, *golden.getInteger("steps"), *golden.getInteger("classes")},
        zeros());
    CtcLoss options;
    options.blank = golden.getInteger("blank").value_or(0);
    options.zeroInfinity = golden.getBoolean("zero_infinity").value_or(false);
    options.steps = integers("inputs");
    options.labels = integers("labels");
    auto reduction = golden.getString("reduction").value_or("mean");
    options.reduction = reduction == "none"  ? LossReduction::none
                        : reduction == "sum" ? LossReduction::sum
                                             : LossReduction::mean;
    Tensor targets = constant(net, labels, {batch, length}, I32);
    Tensor each = ctcLoss(logits, targets, options);
    net.output("each", each * 1);
    net.output("loss", sum(each));
    net.train({.optimizer = sgd({.lr = 0})});
    ASSERT_TRUE(net.mistakes().empty()) << net.mistakes().front();
  }

  const llvm::json::Object &golden;
  Graph net{"m"};
};

void compareAll(Precision precision, double tolerance) {
  llvm::json::Object all = check(mp::readGolden("ctc.json"));
  size_t index = 0;
  for (const llvm::json::Value &golden : *all.getArray("cases")) {
    SCOPED_TRACE("case " + std::to_string(index++));
    Case(*golden.getAsObject()).compare(precision, tolerance);
  }
  EXPECT_EQ(index, 8u);
}

TEST(Ctc, IsPyTorchs) { compareAll(Precision::FP32, 1e-5); }

/// The loss is computed in f32 whatever the precision.
TEST(Ctc, IsPyTorchsInBF16) { compareAll(Precision::BF16, 1e-5); }

/// Samples at random, whose best classes and targets are given.
struct Spoken {
  static constexpr int64_t batch = 50, time = 9, labels = 4, classes = 4;
  std::vector<double> best, targets, steps, lengths;

  Spoken() {
    std::mt19937 random(1);
    auto draw = [&](int64_t first, int64_t last) {
      return double(first + int64_t(random() % (last - first + 1)));
    };
    for (int64_t i = 0; i < batch; ++i) {
      steps.push_back(draw(1, time));
      lengths.push_back(draw(0, labels));
    }
    for (int64_t i = 0; i < batch * time; ++i)
      best.push_back(draw(0, classes - 1));
    for (int64_t i = 0; i < batch * labels; ++i)
      targets.push_back(draw(0, classes - 2)); // the last one is the blank
  }

  std::vector<double> said(int64_t sample, int64_t steps) const {
    std::vector<double> found;
    double before = classes - 1;
    for (int64_t t = 0; t < steps; ++t) {
      double now = best[sample * time + t];
      if (now != classes - 1 && now != before)
        found.push_back(now);
      before = now;
    }
    return found;
  }

  /// The edits between what is said and the target, by their definition.
  double edits(const std::vector<double> &found, size_t i, int64_t sample,
               int64_t j) const {
    if (i == 0 || j == 0)
      return double(i) + double(j);
    double same = found[i - 1] == targets[sample * labels + j - 1] ? 0 : 1;
    return std::min({edits(found, i - 1, sample, j - 1) + same,
                     edits(found, i - 1, sample, j) + 1,
                     edits(found, i, sample, j - 1) + 1});
  }

  double rate(bool hasLengths) const {
    double errors = 0, count = 0;
    for (int64_t i = 0; i < batch; ++i) {
      auto found = said(i, hasLengths ? int64_t(steps[i]) : time);
      int64_t length = hasLengths ? int64_t(lengths[i]) : labels;
      errors += edits(found, found.size(), i, length);
      count += double(length);
    }
    return errors / count;
  }
};

TEST(Ctc, CountsErrorsOfTheBestPath) {
  Spoken spoken;
  for (bool hasLengths : {false, true}) {
    Graph net("m");
    Tensor best =
        constant(net, spoken.best, {Spoken::batch, Spoken::time, 1}, I32);
    Tensor isBest =
        compare(best, iota(net, {I32, {Spoken::classes}}, 0), Comparison::eq);
    Tensor targets =
        constant(net, spoken.targets, {Spoken::batch, Spoken::labels}, I32);
    CtcLoss options{.blank = Spoken::classes - 1};
    if (hasLengths) {
      options.steps = constant(net, spoken.steps, {Spoken::batch}, I32);
      options.labels = constant(net, spoken.lengths, {Spoken::batch}, I32);
    }
    net.output("rate", ctcErrorRate(cast(isBest, F32), targets, options));
    ASSERT_TRUE(net.mistakes().empty()) << net.mistakes().front();
    EXPECT_NEAR(mp::test::run(net, {})[0][0], spoken.rate(hasLengths), 1e-6);
  }
}

TEST(Ctc, SaysWhatIsWrong) {
  auto refuses = [](auto add, const char *expected) {
    Graph net("m");
    add(net);
    ASSERT_EQ(net.mistakes().size(), 1u)
        << (net.mistakes().empty() ? "none" : net.mistakes()[1]);
    EXPECT_NE(net.mistakes()[0].find(expected), std::string::npos)
        << net.mistakes()[0];
  };
  refuses(
      [](Graph &net) {
        ctcLoss(net.input("x", F32, {Batch, 3}),
                net.input("y", I32, {Batch, 2}));
      },
      "expected logits [batch, steps, classes] and targets [batch, labels]");
  refuses(
      [](Graph &net) {
        ctcLoss(net.input("x", F32, {Batch, 5, 3}),
                net.input("y", I32, {Batch, 2}), {.blank = 3});
      },
      "blank is class 3 of 3");
  refuses(
      [](Graph &net) {
        CtcLoss loss;
        loss.steps = net.input("n", I64, {Batch});
        ctcLoss(net.input("x", F32, {Batch, 5, 3}),
                net.input("y", I32, {Batch, 2}), loss);
      },
      "lengths are ?xi64, expected i32 [batch]");
  refuses(
      [](Graph &net) {
        ctcLoss(net.input("x", F32, {Batch, 5, 3}),
                net.input("y", I32, {4, 2}));
      },
      "the batches differ");
  refuses(
      [](Graph &net) {
        ctcErrorRate(net.input("x", F32, {Batch, 5, 3}),
                     net.input("y", I32, {Batch, 2}), {.blank = -1});
      },
      "ctcErrorRate of ?x5x3xf32 and ?x2xi32: blank is class -1 of 3");
}

} // namespace
