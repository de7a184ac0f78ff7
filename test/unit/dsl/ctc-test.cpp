//===- ctc-test.cpp - connectionist temporal classification ---------------===//
//
// Losses and gradients are PyTorch's (test/goldens/ctc.json); a small one is
// the sum over all paths, written out.
//
//===----------------------------------------------------------------------===//
#include "GraphRun.h"
#include "dsl/Ctc.h"
#include "mantissa.h"
#include <cmath>
#include <gtest/gtest.h>

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
}

} // namespace
