//===- scaler-protocol-test.cpp - training steps against GradScaler's -----===//
//
// Whole steps that overflow, with one optimizer and with two, against PyTorch's
// (test/goldens/scaler_protocol.py): on the CPU and on the emulated device.
// Skips, scales and growth trackers are the same; parameters, which are below
// two, within 5e-7 (four units in the last place of one), in f16 within 1e-3.
//
//===----------------------------------------------------------------------===//
#include "OnBothTargets.h"
#include "TrainingSession.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mp;
using namespace mp::test;

namespace {

MP_ON_BOTH_TARGETS(ScalerProtocol);

constexpr int64_t kRows = 4;

//===----------------------------------------------------------------------===//
// The networks of the goldens
//===----------------------------------------------------------------------===//

std::string variables(int64_t model) {
  return formatv(R"mlir(
    mp.variable @model{0}.0.weight : tensor<4x5xf32> = #mp.init<zeros>
    mp.variable @model{0}.0.bias : tensor<4xf32> = #mp.init<zeros>
    mp.variable @model{0}.1.weight : tensor<4x4xf32> = #mp.init<zeros>
    mp.variable @model{0}.1.bias : tensor<4xf32> = #mp.init<zeros>)mlir",
                 model)
      .str();
}

/// %oN, in f32 whatever the layers are in.
std::string forward(int64_t model) {
  return formatv(R"mlir(
      %c{0} = mp.slice %batch offsets[0, {1}] sizes[-1, 1] : tensor<?x10xf32>
      %i{0} = mp.concat %x, %c{0} dim(1) : tensor<?x4xf32>, tensor<?x1xf32>
      %w{0} = mp.read @model{0}.0.weight : tensor<4x5xf32>
      %b{0} = mp.read @model{0}.0.bias : tensor<4xf32>
      %h{0} = mp.linear %i{0}, %w{0}, %b{0} : tensor<?x5xf32>, tensor<4x5xf32>, tensor<4xf32>
      %v{0} = mp.read @model{0}.1.weight : tensor<4x4xf32>
      %a{0} = mp.read @model{0}.1.bias : tensor<4xf32>
      %y{0} = mp.linear %h{0}, %v{0}, %a{0} : tensor<?x4xf32>, tensor<4x4xf32>, tensor<4xf32>
      %o{0} = mp.cast %y{0} : tensor<?x4xf32> to tensor<?x4xf32>)mlir",
                 model, 4 + model)
      .str();
}

const char *const kOneLoss = R"mlir(
      %l0 = mp.mse_loss %o0, %t : tensor<?x4xf32>, tensor<?x4xf32>
      return %l0 : tensor<f32>)mlir";
/// The third loss is the sum of the others.
const char *const kTwoLosses = R"mlir(
      %k0 = mp.constant dense<0.3> : tensor<f32>
      %k1 = mp.constant dense<0.7> : tensor<f32>
      %k2 = mp.constant dense<0.6> : tensor<f32>
      %k3 = mp.constant dense<0.4> : tensor<f32>
      %p0 = mp.mul %o0, %k0 : tensor<?x4xf32>, tensor<f32>
      %p1 = mp.mul %o1, %k1 : tensor<?x4xf32>, tensor<f32>
      %p2 = mp.mul %o0, %k2 : tensor<?x4xf32>, tensor<f32>
      %p3 = mp.mul %o1, %k3 : tensor<?x4xf32>, tensor<f32>
      %s0 = mp.add %p0, %p1 : tensor<?x4xf32>, tensor<?x4xf32>
      %s1 = mp.sub %p2, %p3 : tensor<?x4xf32>, tensor<?x4xf32>
      %l0 = mp.mse_loss %s0, %t : tensor<?x4xf32>, tensor<?x4xf32>
      %l1 = mp.mse_loss %s1, %t : tensor<?x4xf32>, tensor<?x4xf32>
      %l2 = mp.add %l0, %l1 : tensor<f32>, tensor<f32>
      return %l0, %l1, %l2 : tensor<f32>, tensor<f32>, tensor<f32>)mlir";

std::string network(int64_t models, StringRef recipe) {
  std::string text, layers;
  for (int64_t model = 0; model < models; ++model) {
    text += variables(model);
    layers += forward(model);
  }
  return text + formatv(R"mlir(
    func.func @losses(%batch: tensor<?x10xf32> {{mp.name = "x"}) -> (tensor<f32> {{mp.name = "loss"}{0}) {{
      %x = mp.slice %batch offsets[0, 0] sizes[-1, 4] : tensor<?x10xf32>
      %t = mp.slice %batch offsets[0, 6] sizes[-1, 4] : tensor<?x10xf32>
      {1}{2}
    }
    {3})mlir",
                        models > 1 ? ", tensor<f32>, tensor<f32>" : "", layers,
                        models > 1 ? kTwoLosses : kOneLoss, recipe)
                    .str();
}

//===----------------------------------------------------------------------===//
// The goldens
//===----------------------------------------------------------------------===//

/// Returns the variable in which an optimizer counts; a single optimizer has no
/// name.
std::string countOf(StringRef optimizer) {
  return ("step." + optimizer + (optimizer.empty() ? "" : ".") + "applied")
      .str();
}

/// Returns an optimizer's state: its model's variables and its count.
std::map<std::string, Numbers> stateOf(TrainingSession &session, size_t model,
                                       StringRef optimizer) {
  std::map<std::string, Numbers> state;
  std::string prefix = "model" + std::to_string(model) + ".";
  for (const Variable &variable : session.variables())
    if (StringRef(variable.name).starts_with(prefix) ||
        variable.name == countOf(optimizer))
      state[variable.name] = session.read(variable.name);
  return state;
}

class Follower {
public:
  Follower(const json::Object &golden, Device device)
      : golden(golden), session(network(*golden.getInteger("models"),
                                        *golden.getString("recipe")),
                                kRows, device),
        isHalf(golden.getString("recipe")->contains("f16")) {
    for (auto &[name, tensor] : *golden.getObject("start"))
      session.write(name, numbers(tensor));
  }

  void run() {
    for (const json::Value &step : *golden.getArray("steps")) {
      SCOPED_TRACE("step " + std::to_string(done++));
      follow(*step.getAsObject());
      if (testing::Test::HasFatalFailure())
        return;
    }
  }

private:
  static Numbers numbers(const json::Value &tensor) {
    return cantFail(goldenNumbers(*tensor.getAsObject()));
  }

  void follow(const json::Object &step) {
    std::vector<Numbers> inputs;
    for (const json::Value &input : *step.getArray("inputs"))
      inputs.push_back(numbers(input));
    auto names = optimizers();
    std::vector<std::map<std::string, Numbers>> before;
    for (auto [model, name] : enumerate(names))
      before.push_back(stateOf(session, model, name));

    auto results = session.runWindow(inputs);
    checkScaler(step, results);
    bool any = false;
    for (auto [model, expected] : enumerate(*step.getArray("skipped"))) {
      bool skips = *expected.getAsBoolean();
      any |= skips;
      if (names.size() > 1 && results.count("skipped"))
        ASSERT_EQ(results.at("skipped." + names[model]), skips) << model;
      auto after = stateOf(session, model, names[model]);
      ASSERT_GE(after.size(), 5u);
      for (auto &[name, value] : after)
        ASSERT_EQ(value == before[model].at(name), skips) << name;
    }
    if (results.count("skipped"))
      ASSERT_EQ(results.at("skipped"), any);
    else
      ASSERT_FALSE(any);
    ASSERT_NEAR(results.at("loss"), *step.getNumber("loss"),
                isHalf ? 1e-3 : 1e-6);
    checkParameters(*step.getObject("parameters"));
  }

  /// Their names, in order.
  std::vector<std::string> optimizers() {
    std::vector<std::string> names;
    for (const Variable &variable : session.variables()) {
      StringRef name = variable.name;
      if (!name.consume_front("step.") || !name.consume_back("applied"))
        continue;
      name.consume_back(".");
      names.push_back(name.str());
    }
    EXPECT_EQ(names.size(), size_t(*golden.getInteger("models")));
    return names;
  }

  void checkScaler(const json::Object &step,
                   const std::map<std::string, double> &results) {
    std::optional<int64_t> tracker = step.getInteger("growth_tracker");
    ASSERT_EQ(bool(results.count("scale")), bool(tracker));
    if (!tracker)
      return;
    ASSERT_EQ(results.at("scale"), *step.getNumber("scale"));
    ASSERT_EQ(session.read("scaler.growth_tracker")[0], *tracker);
  }

  void checkParameters(const json::Object &parameters) {
    double tolerance = isHalf ? 1e-3 : 5e-7;
    for (auto &[name, tensor] : parameters) {
      Numbers expected = numbers(tensor), found = session.read(name);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], expected[i], tolerance) << name.str() << " " << i;
      }
    }
  }

  const json::Object &golden;
  TrainingSession session;
  bool isHalf;
  unsigned done = 0;
};

TEST_P(ScalerProtocol, SameStepsAsPyTorch) {
  json::Object file = cantFail(readGolden("scaler-protocol.json"));
  ASSERT_GE(file.getArray("cases")->size(), 15u);
  for (const json::Value &item : *file.getArray("cases")) {
    const json::Object &golden = *item.getAsObject();
    std::string name = golden.getString("name")->str();
    SCOPED_TRACE(name);
    Follower follower(golden, GetParam());
    follower.run();
    if (HasFatalFailure())
      return;
  }
}

} // namespace
