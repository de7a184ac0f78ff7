//===- recurrent-test.cpp - layers that go from time step to time step ----===//
//
// Results, last states, gradients and gradients of gradients are PyTorch's
// (test/goldens/recurrent.json).
//
//===----------------------------------------------------------------------===//
#include "GraphRun.h"
#include "dsl/Recurrent.h"
#include "mantissa.h"
#include <gtest/gtest.h>

using namespace mantissa;
using mp::Numbers, mp::test::check, mp::test::read;

namespace {

Dims shapeIn(const llvm::json::Object &variable) {
  Dims shape;
  for (const llvm::json::Value &size : *variable.getArray("shape"))
    shape.push_back(*size.getAsInteger());
  return shape;
}

/// A case of the goldens, whose input and states are parameters, so that their
/// gradients can be read.
class Case {
public:
  Case(const llvm::json::Object &all, const llvm::json::Object &golden)
      : golden(golden), kind(*golden.getString("kind")),
        batch(*all.getInteger("batch")), steps(*all.getInteger("steps")),
        features(*all.getInteger("features")),
        hidden(*all.getInteger("hidden")) {}

  void compare(Precision precision, double tolerance) {
    build();
    StepOptions options{
        .precision = precision, .scaler = Scaler::None, .threads = 1};
    for (auto &[name, values] : written)
      if (gradients.count(name))
        options.outputs.push_back("grad:" + name);
    Step step = check(check(Module::fromGraph(net)).compileStep(options));
    for (auto &[name, values] : written) {
      auto type = check(step.typeOf(name));
      ASSERT_FALSE(bool(step.write(name, TensorRef(values, type.shape))));
    }
    auto results = check(step.run({}));
    for (auto &[name, expected] : outputs)
      expectNear(name, check(results.read<float>(name)), expected, tolerance);
    for (auto &[name, expected] : gradients)
      expectNear("grad:" + name, check(results.read<float>("grad:" + name)),
                 expected, tolerance);
  }

private:
  static void expectNear(const std::string &what,
                         const std::vector<float> &ours,
                         const std::vector<float> &theirs, double tolerance) {
    ASSERT_EQ(ours.size(), theirs.size()) << what;
    double largest = 0;
    for (float value : theirs)
      largest = std::max(largest, std::abs(double(value)));
    for (size_t i = 0; i < ours.size(); ++i)
      EXPECT_NEAR(ours[i], theirs[i], tolerance * largest) << what << " " << i;
  }

  int64_t option(const char *name, int64_t fallback) const {
    return golden.getObject("options")->getInteger(name).value_or(fallback);
  }
  bool flag(const char *name, bool fallback) const {
    return golden.getObject("options")->getBoolean(name).value_or(fallback);
  }

  Tensor parameter(const std::string &name, const Dims &shape,
                   std::vector<float> values) {
    written[name] = std::move(values);
    return net.parameter(name, F32, shape, zeros());
  }

  template <typename Layer> Layer layer() const {
    Layer layer;
    layer.hidden = hidden;
    layer.name = "layer";
    layer.layers = option("num_layers", 1);
    layer.bias = flag("bias", true);
    layer.bidirectional = flag("bidirectional", false);
    layer.lengths = lengths;
    if constexpr (std::is_same_v<Layer, Lstm>)
      layer.projection = option("proj_size", 0);
    if constexpr (std::is_same_v<Layer, Rnn>)
      layer.relu =
          golden.getObject("options")->getString("nonlinearity") == "relu";
    return layer;
  }

  RecurrentResult run(const Tensor &x, const RecurrentState &first) {
    if (kind == "lstm")
      return lstm(x, layer<Lstm>(), first);
    if (kind == "gru")
      return gru(x, layer<Gru>(), first);
    return rnn(x, layer<Rnn>(), first);
  }

  /// The part of a golden [states, batch, size] that is state `index`.
  std::vector<float> stateIn(const llvm::json::Array &states, size_t index,
                             size_t count) const {
    auto all = read(states);
    size_t size = all.size() / count;
    return {all.begin() + index * size, all.begin() + (index + 1) * size};
  }

  RecurrentState firstStates(size_t count) {
    RecurrentState first;
    const llvm::json::Array &given = *golden.getArray("first");
    const auto &grads = *golden.getArray("gradients of inputs");
    for (size_t which = 0; which < given.size(); ++which)
      for (size_t index = 0; index < count; ++index) {
        std::string name =
            "first" + std::to_string(which) + "." + std::to_string(index);
        auto values = stateIn(*given[which].getAsArray(), index, count);
        gradients[name] = stateIn(*grads[which + 1].getAsArray(), index, count);
        int64_t size = values.size() / batch;
        (which ? first.cell : first.hidden)
            .push_back(parameter(name, {batch, size}, std::move(values)));
      }
    return first;
  }

  /// Adds a result, and its weighted sum to the loss.
  void addResult(const std::string &name, const Tensor &value,
                 std::vector<float> expected, std::vector<float> weights) {
    outputs[name] = std::move(expected);
    written["probe " + name] = std::move(weights);
    Tensor probe = net.buffer("probe " + name, F32, value.shape(), zeros());
    Tensor part = sum(value * probe);
    loss = loss ? loss + part : part;
    net.output(name, value * 1);
  }

  void build() {
    const llvm::json::Array &grads = *golden.getArray("gradients of inputs");
    Tensor x =
        parameter("x", {batch, steps, features}, read(*golden.getArray("x")));
    gradients["x"] = read(*grads[0].getAsArray());
    if (const llvm::json::Array *given = golden.getArray("lengths")) {
      std::vector<float> counts = read(*given);
      lengths = constant(net, {counts.begin(), counts.end()}, {batch}, I32);
    }
    size_t count =
        option("num_layers", 1) * (flag("bidirectional", false) ? 2 : 1);
    RecurrentResult result = run(x, firstStates(count));
    for (auto &[name, variable] : *golden.getObject("weights")) {
      std::string ours = "layer." + name.str();
      const auto &object = *variable.getAsObject();
      parameter(ours, shapeIn(object), read(*object.getArray("values")));
      gradients[ours] = read(*golden.getObject("gradients")->getArray(name));
    }
    const auto &results = *golden.getArray("results");
    const auto &probes = *golden.getArray("probes");
    addResult("output", result.output, read(*results[0].getAsArray()),
              read(*probes[0].getAsArray()));
    for (size_t which = 1; which < results.size(); ++which)
      for (size_t index = 0; index < count; ++index)
        addResult("last" + std::to_string(which) + "." + std::to_string(index),
                  (which == 1 ? result.state.hidden : result.state.cell)[index],
                  stateIn(*results[which].getAsArray(), index, count),
                  stateIn(*probes[which].getAsArray(), index, count));
    if (golden.getBoolean("second")) {
      Tensor derivative = gradient(loss, {x}).front();
      loss = sum(derivative * derivative);
    }
    net.output("loss", loss);
    net.train({.optimizer = sgd({.lr = 0})});
    ASSERT_TRUE(net.mistakes().empty()) << net.mistakes().front();
  }

  const llvm::json::Object &golden;
  std::string kind;
  int64_t batch, steps, features, hidden;
  Graph net{"m"};
  Tensor loss, lengths;
  std::map<std::string, std::vector<float>> written, outputs, gradients;
};

void compareAll(Precision precision, double tolerance) {
  llvm::json::Object all = check(mp::readGolden("recurrent.json"));
  size_t index = 0;
  for (const llvm::json::Value &golden : *all.getArray("cases")) {
    SCOPED_TRACE("case " + std::to_string(index++));
    // A gradient of a gradient has twice as many roundings.
    bool isSecond = golden.getAsObject()->getBoolean("second").has_value();
    if (precision == Precision::FP32 || !isSecond)
      Case(all, *golden.getAsObject()).compare(precision, tolerance);
  }
  EXPECT_EQ(index, 35u);
}

TEST(Recurrent, IsPyTorchs) { compareAll(Precision::FP32, 1e-5); }

/// Products have 11 bits, and errors add up over time steps and layers.
TEST(Recurrent, IsNearPyTorchsInFP16) { compareAll(Precision::FP16, 0.01); }

/// The same with 8 bits.
TEST(Recurrent, IsNearPyTorchsInBF16) { compareAll(Precision::BF16, 0.06); }

std::string firstMistake(const Graph &net) {
  return net.mistakes().empty() ? "none" : net.mistakes().front();
}

TEST(Recurrent, NamesItsVariablesAsPyTorch) {
  Graph net("m");
  Tensor x = net.input("x", F32, {Batch, 7, 3});
  auto result = lstm(
      x, {{.hidden = 4, .name = "rnn", .layers = 2, .bidirectional = true}});
  EXPECT_EQ(result.output.type(), "?x7x8xf32");
  ASSERT_EQ(result.state.hidden.size(), 4u);
  EXPECT_EQ(result.state.cell[3].type(), "?x4xf32");
  EXPECT_TRUE(net.mistakes().empty()) << firstMistake(net);
  std::string text = check(net.text(false));
  for (const char *variable : {"@rnn.weight_ih_l0 : tensor<16x3xf32>",
                               "@rnn.weight_hh_l0_reverse : tensor<16x4xf32>",
                               "@rnn.weight_ih_l1 : tensor<16x8xf32>",
                               "@rnn.bias_hh_l1_reverse : tensor<16xf32>"})
    EXPECT_NE(text.find(variable), std::string::npos) << variable;
}

TEST(Recurrent, SaysWhatIsWrong) {
  auto refuses = [](auto add, const char *expected) {
    Graph net("m");
    add(net);
    ASSERT_EQ(net.mistakes().size(), 1u) << firstMistake(net);
    EXPECT_NE(net.mistakes()[0].find(expected), std::string::npos)
        << net.mistakes()[0];
  };
  refuses(
      [](Graph &net) {
        gru(net.input("x", F32, {Batch, 3}), {{.hidden = 4, .name = "rnn"}});
      },
      "gru 'rnn' on ?x3xf32: expected [batch, steps, features]");
  refuses(
      [](Graph &net) {
        auto none = rnn(net.input("x", F32, {Batch, 2, 3}), {{.name = "rnn"}});
        relu(none.state.hidden[0] + none.output); // none, so nothing more
      },
      "rnn 'rnn' on ?x2x3xf32: 1 layers of 0 features, expected at least 1");
  refuses(
      [](Graph &net) {
        Tensor x = net.input("x", F32, {Batch, 2, 3});
        Tensor h = net.parameter("h", F32, {2, 4}, zeros());
        lstm(x, {{.hidden = 4, .name = "rnn"}}, {{h, h}, {h}});
      },
      "2 first states, expected 1, one for each layer and direction");
  refuses(
      [](Graph &net) {
        Tensor x = net.input("x", F32, {Batch, 2, 3});
        gru(x, {{.hidden = 4,
                 .name = "rnn",
                 .lengths = net.input("n", F32, {Batch})}});
      },
      "lengths of ?xf32, expected i32 [batch]");
  refuses(
      [](Graph &net) {
        Tensor x = net.input("x", F32, {Batch, 2, 3});
        gru(x, {{.hidden = 4, .name = "rnn", .keepsState = true}});
      },
      "states that are kept need a batch of a known size");
  refuses(
      [](Graph &net) {
        Tensor x = net.input("x", F32, {5, 2, 3});
        gru(x, {{.hidden = 4,
                 .name = "rnn",
                 .bidirectional = true,
                 .keepsState = true}});
      },
      "a direction from the end does not know where a text begins");
  refuses(
      [](Graph &net) {
        Tensor x = net.input("x", F32, {5, 2, 3});
        gru(x,
            {{.hidden = 4, .name = "rnn", .begins = net.input("n", U8, {5})}});
      },
      "begins of 5xui8, expected [batch, steps]");
}

//===----------------------------------------------------------------------===//
// Texts that go on
//===----------------------------------------------------------------------===//

constexpr int64_t kRows = 2, kFeatures = 3, kStates = 4;

/// A step of two layers, whose loss is the sum of what they return, weighted by
/// numbers that differ from place to place. Weights are always the same.
Step stepOf(int64_t steps, bool keepsState, bool hasBegins = false) {
  Graph net("m");
  Tensor x = net.input("x", F32, {kRows, steps, kFeatures});
  Lstm layer{{.hidden = kStates, .name = "rnn", .layers = 2}};
  layer.keepsState = keepsState;
  if (hasBegins)
    layer.begins = net.input("begins", U8, {kRows, steps});
  Tensor output = lstm(x, layer).output;
  Tensor place = cast(iota(net, {I32, {steps}}, 0), F32);
  net.output("loss", sum(output * reshape(cos(place), {1, steps, 1})));
  net.output("output", output * 1);
  net.train({.optimizer = sgd({.lr = 0})});
  EXPECT_TRUE(net.mistakes().empty()) << firstMistake(net);
  Step step = check(check(Module::fromGraph(net))
                        .compileStep({.precision = Precision::FP32,
                                      .predictions = {"output"},
                                      .threads = 1}));
  llvm::cantFail(step.initialize(5));
  return step;
}

/// Numbers of [kRows, steps, kFeatures], from time step `first` on.
std::vector<float> inputs(int64_t first, int64_t steps) {
  std::vector<float> x;
  for (int64_t row = 0; row < kRows; ++row)
    for (int64_t t = first; t < first + steps; ++t)
      for (int64_t i = 0; i < kFeatures; ++i)
        x.push_back(std::sin(1.7 * t + 0.9 * i + 4 * row));
  return x;
}

/// The time steps from `first` on of [kRows, steps, kStates].
std::vector<float> partOf(const std::vector<float> &all, int64_t first,
                          int64_t steps) {
  int64_t length = all.size() / (kRows * kStates);
  std::vector<float> part;
  for (int64_t row = 0; row < kRows; ++row)
    for (int64_t i = first * kStates; i < (first + steps) * kStates; ++i)
      part.push_back(all[row * length * kStates + i]);
  return part;
}

void expectNear(const std::vector<float> &a, const std::vector<float> &b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 1e-6) << i;
}

TEST(KeptState, GoesOnWhereTheBatchBeforeEnded) {
  Step whole = stepOf(9, false), parts = stepOf(3, true);
  auto x = inputs(0, 9);
  auto all =
      check(check(whole.run({{"x", TensorRef(x, {kRows, 9, kFeatures})}}))
                .read<float>("output"));
  for (int64_t first : {0, 3, 6}) {
    auto part = inputs(first, 3);
    auto results =
        check(parts.run({{"x", TensorRef(part, {kRows, 3, kFeatures})}}));
    expectNear(check(results.read<float>("output")), partOf(all, first, 3));
  }
}

TEST(KeptState, IsOfTrainingAlone) {
  Step step = stepOf(3, true);
  auto x = inputs(0, 3);
  TensorRef given(x, {kRows, 3, kFeatures});
  auto train = [&]() -> std::vector<float> {
    return check(check(step.run({{"x", given}})).read<float>("output"));
  };
  // The second batch does not begin with zeros; an evaluation does.
  auto first = train();
  EXPECT_NE(train(), first);
  expectNear(check(check(step.predict({{"x", given}})).read<float>("output")),
             first);
}

TEST(KeptState, IsForgottenWhereATextBegins) {
  Step marked = stepOf(5, true, true);
  Step fresh = stepOf(3, false);
  auto x = inputs(4, 5), behind = inputs(6, 3);
  // Of the first row, the third time step begins a text.
  std::vector<uint8_t> begins{0, 0, 7, 0, 0, 0, 0, 0, 0, 0}, none(10);
  auto run = [&](std::vector<uint8_t> &begins) {
    return check(check(marked.run({{"x", TensorRef(x, {kRows, 5, kFeatures})},
                                   {"begins", TensorRef(begins, {kRows, 5})}}))
                     .read<float>("output"));
  };
  (void)run(none); // leaves states that are not zeros
  auto ours = partOf(run(begins), 2, 3);
  auto theirs =
      check(check(fresh.run({{"x", TensorRef(behind, {kRows, 3, kFeatures})}}))
                .read<float>("output"));
  size_t half = ours.size() / 2;
  expectNear({ours.begin(), ours.begin() + half},
             {theirs.begin(), theirs.begin() + half});
  // The second row goes on.
  EXPECT_GT(std::abs(ours[half] - theirs[half]), 1e-3);
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

TEST(Scan, AddsUp) {
  Graph net("m");
  Tensor xs = net.input("xs", F32, {2, 3});
  Tensor w = net.parameter("w", F32, {2}, ones());
  auto all = net.scan({w * 0}, {xs}, {.dim = 1},
                      [&](const auto &carried, const auto &slices) -> Scanned {
                        // A variable that is named here first.
                        Tensor two =
                            net.buffer("two", F32, {2}, constantInit(2));
                        Tensor sum = carried[0] + slices[0] * two;
                        return {{sum}, {sum}};
                      });
  ASSERT_TRUE(net.mistakes().empty()) << firstMistake(net);
  net.output("last", all.carried[0]);
  net.output("sums", all.stacked[0]);
  auto results = mp::test::run(net, {{1, 2, 3, 4, 5, 6}});
  EXPECT_EQ(results[0], (Numbers{12, 30}));
  EXPECT_EQ(results[1], (Numbers{2, 6, 12, 8, 18, 30}));
}

TEST(Scan, SaysWhatIsWrong) {
  auto refuses = [](const Scan &how, Graph::TimeStep body,
                    const char *expected) {
    Graph net("m");
    Tensor xs = net.input("xs", F32, {Batch, 3});
    Tensor first = net.input("first", F32, {Batch});
    auto all = net.scan({first}, {xs}, how, body);
    ASSERT_EQ(all.carried.size(), 1u); // none, on which ops say nothing
    relu(all.carried[0]);
    ASSERT_EQ(net.mistakes().size(), 1u) << firstMistake(net);
    EXPECT_NE(net.mistakes()[0].find(expected), std::string::npos)
        << net.mistakes()[0];
  };
  auto same = [](const auto &carried, const auto &) -> Scanned {
    return {carried, {}};
  };
  refuses({.dim = 0}, same, "runs along the batch of 'tensor<?x3xf32>'");
  refuses({.dim = 2}, same, "runs along dimension 2, which 'tensor<?x3xf32>'");
  refuses({.dim = 1, .steps = 4}, same, "has 4 time steps");
  refuses(
      {.dim = 1}, [](const auto &, const auto &) -> Scanned { return {}; },
      "the scan carries 1 values, and its time step returns 0");
  refuses(
      {.dim = 1},
      [](const auto &carried, const auto &) -> Scanned {
        return {{cast(carried[0], F64)}, {}};
      },
      "the scan carries ?xf32, and its time step returns ?xf64: a carried "
      "value keeps its type");
}

TEST(Scan, KeepsValuesOfATimeStep) {
  Graph net("m");
  Tensor xs = net.input("xs", F32, {2, 3}), inner;
  net.scan({}, {xs}, {.dim = 1},
           [&](const auto &, const auto &slices) -> Scanned {
             inner = relu(slices[0]);
             return {{}, {inner}};
           });
  relu(inner);
  ASSERT_EQ(net.mistakes().size(), 1u) << firstMistake(net);
  EXPECT_NE(net.mistakes()[0].find(
                "is a value of one time step: carry it, or stack it"),
            std::string::npos)
      << net.mistakes()[0];
}

} // namespace
