//===- step-inputs-test.cpp - wrong tensors are errors that name both -----===//
//----------===//
#include "api/SmallModule.h"

using namespace mantissa;
using namespace mantissa::test;

namespace {

class Inputs : public testing::Test {
protected:
  std::string run(NamedTensors tensors) { return messageOf(step.run(tensors)); }
  /// A run with another `x`.
  std::string runX(const TensorRef &x) {
    return run({{"x", x}, {"label", data.label}});
  }
  void TearDown() override {
    // No error ran anything.
    EXPECT_EQ(step.steps(), 0);
    EXPECT_EQ(runX(data.points()), "");
  }
  SmallData data;
  Step step = smallStep();
};

TEST_F(Inputs, Names) {
  NamedTensor x{"x", data.points()}, label{"label", data.label};
  EXPECT_EQ(run({x}), "input 'label' of 6xui8 is missing");
  EXPECT_EQ(run({}), "input 'x' of 6x4xf32 is missing");
  EXPECT_EQ(run({x, {"lable", data.label}}),
            "there is no input 'lable', did you mean 'label'?");
  EXPECT_EQ(run({x, x}), "'x' is given twice");
  EXPECT_EQ(run({x, label, {"weights", data.x}}),
            "there is no input 'weights' (known: 'x', 'label')");
  EXPECT_EQ(run({x, label, label}), "'label' is given twice");
}

TEST(UnnamedInputs, AreKnownByTheirPlaces) {
  Step step = check(check(Module::parse(R"(
    mp.variable @w : tensor<2xf32> = #mp.init<ones>
    func.func @loss(%a: tensor<2xf32>, %b: tensor<2xf32> {mp.name = "b"},
                    %c: tensor<2xf32>)
        -> (tensor<f32> {mp.name = "loss"}, tensor<2xf32> {mp.name = "y"}) {
      %w = mp.read @w : tensor<2xf32>
      %loss = mp.sum %w dims[0] : tensor<2xf32>
      %ab = mp.sub %a, %b : tensor<2xf32>, tensor<2xf32>
      %y = mp.sub %ab, %c : tensor<2xf32>, tensor<2xf32>
      return %loss, %y : tensor<f32>, tensor<2xf32>
    }
    mp.train @step of @loss {
      mp.minimize result(0) {optimizer = #mp.sgd}
    })"))
                        .compileStep({.threads = 1}));
  std::vector<float> a{9, 9}, b{1, 2}, c{3, 5};
  auto result = [&](NamedTensors tensors) {
    return check(check(step.run(tensors)).read<float>("y")).vec();
  };
  EXPECT_EQ(result({{"2", c}, {"b", b}, {"0", a}}), (std::vector<float>{5, 2}));
  EXPECT_EQ(result({{"", a}, {"b", b}, {"", c}}), (std::vector<float>{5, 2}));
  // Names of the text are not those of the function.
  EXPECT_EQ(messageOf(step.run({{"c", c}, {"b", b}, {"a", a}})),
            "there is no input 'c' (known: '0', 'b', '2')");
  EXPECT_EQ(messageOf(step.run({{"0", a}, {"b", b}, {"0", c}})),
            "'0' is given twice");
}

TEST_F(Inputs, TypesAndShapes) {
  std::vector<double> wide(24);
  EXPECT_EQ(runX(TensorRef(wide, {6, 4})), "'x' is 6x4xf64, expected 6x4xf32");
  EXPECT_EQ(runX(TensorRef(data.x, {4, 6})),
            "'x' is 4x6xf32, expected 6x4xf32");
  EXPECT_EQ(runX(data.x), "'x' is 24xf32, expected 6x4xf32");
  EXPECT_EQ(runX(TensorRef(data.x.data(), {-6, -4})),
            "'x' is -6x-4xf32, expected 6x4xf32");
  std::vector<int64_t> many(9, 1);
  EXPECT_EQ(runX(TensorRef(ElementType::F32, data.x.data(), many)),
            "'x': the view has 9 dimensions, and 8 are the most; expected "
            "6x4xf32");
}

TEST_F(Inputs, ShapesMayBeVectors) {
  std::vector<int64_t> shape = {6, 4};
  EXPECT_EQ(TensorRef(data.x, shape).type(), "6x4xf32");
  EXPECT_EQ(TensorRef(data.x.data(), shape).type(), "6x4xf32");
  shape = {5, 4};
  EXPECT_EQ(runX(TensorRef(data.x, shape)), "'x' is 5x4xf32, expected 6x4xf32");
  data.x.resize(20);
  EXPECT_EQ(runX(TensorRef(data.x, std::vector<int64_t>{6, 4})),
            "'x': the view is of 6x4xf32, but there are 20 elements");
  data.x.resize(24);
}

TEST_F(Inputs, Memory) {
  EXPECT_EQ(runX(TensorRef()), "'x' is f32, expected 6x4xf32");
  EXPECT_EQ(runX(TensorRef(ElementType::F32, nullptr, {6, 4})),
            "'x': the view of 6x4xf32 has no memory: its address is null");
  std::vector<float> room(25);
  const char *odd = reinterpret_cast<const char *>(room.data()) + 1;
  EXPECT_NE(runX(TensorRef(ElementType::F32, odd, {6, 4}))
                .find("is not aligned to the 4 bytes of an element"),
            std::string::npos);
  std::vector<float> few(23);
  EXPECT_EQ(runX(TensorRef(few, {6, 4})),
            "'x': the view is of 6x4xf32, but there are 23 elements");
}

TEST_F(Inputs, Strides) {
  auto strided = [&](std::vector<int64_t> strides) {
    return runX(TensorRef(ElementType::F32, data.x.data(), {6, 4}, strides));
  };
  EXPECT_EQ(strided({1, 6}), "'x': the strides of the view of 6x4xf32 are [1, "
                             "6] elements, expected dense rows: copy it");
  EXPECT_NE(strided({4, -1}), "");
  EXPECT_NE(strided({4}), "");
  EXPECT_NE(strided({0, 1}), "");
}

TEST_F(Inputs, DenseStridesAreFine) {
  Step own = smallStep();
  TensorRef x(ElementType::F32, data.x.data(), {6, 4}, {4, 1});
  EXPECT_EQ(messageOf(own.run({{"label", data.label}, {"x", x}})), "");
}

TEST_F(Inputs, Ranges) {
  data.label[4] = 3;
  std::string message = runX(data.points());
  EXPECT_NE(message.find("'label' has an element out of range at 4: expected 0 "
                         "to 2 or -100 (small.mlir:"),
            std::string::npos)
      << message;
  data.label[4] = 1;
}

TEST_F(Inputs, Results) {
  Step own = smallStep({.predictions = {"value:%logits"}});
  StepResults results = train(own, data);
  EXPECT_EQ(messageOf(results.number("los")),
            "'step' has no result 'los', did you mean 'loss'?");
  EXPECT_EQ(messageOf(results.read<double>("loss")),
            "the elements are f32, not f64; floats() converts them");
  Results logits = check(own.predict({{"x", data.points()}}));
  EXPECT_EQ(messageOf(logits.number("value:%logits")),
            "'value:%logits' is 6x3xf32, not one number");
  EXPECT_EQ(messageOf(own.predict({{"label", data.label}})),
            "there is no input 'label' (known: 'x')");
  EXPECT_EQ(messageOf(own.predict({})),
            "nothing to predict: the tensors have no rows");
  EXPECT_EQ(
      messageOf(own.predict({{"x", TensorRef(ElementType::F32, data.x.data(),
                                             {int64_t(1) << 40, 4})}})),
      "a prediction takes at most 1000000000 rows, not 1099511627776");
  EXPECT_EQ(messageOf(own.predictInputs(-7)),
            "a prediction takes at least one row, not -7");
}

TEST(Options, AreChecked) {
  Module module = check(Module::parse(kSmallModule, "small.mlir"));
  EXPECT_EQ(messageOf(module.compileStep({.batch = -1})),
            "StepOptions::batch is -1, expected a number from 0 to 1e+09");
  EXPECT_EQ(messageOf(module.compileStep({.batch = int64_t(1) << 40})),
            "StepOptions::batch is 1099511627776, expected a number from 0 to "
            "1e+09");
  EXPECT_EQ(messageOf(module.compileStep({.batch = 6, .accumulate = -2})),
            "StepOptions::accumulate is -2, expected a number from 0 to 1e+09");
  EXPECT_EQ(messageOf(module.compileStep({.batch = 6, .clipNorm = NAN})),
            "StepOptions::clipNorm is nan, expected a number from 0 to inf");
  EXPECT_EQ(messageOf(module.compileStep(
                {.batch = 6, .precision = static_cast<Precision>(99)})),
            "StepOptions::precision is 99, which is no Precision");
  EXPECT_EQ(messageOf(module.compileStep(
                {.batch = 6, .scaler = static_cast<Scaler>(-3)})),
            "StepOptions::scaler is -3, which is no Scaler");
  EXPECT_NE(messageOf(module.compileStep({})).find("small.mlir"),
            std::string::npos);
  EXPECT_EQ(messageOf(module.compileStep({.batch = 6, .recipe = "stop"})),
            "small.mlir: the module has no recipe (mp.train) \"stop\", but "
            "step");
  EXPECT_EQ(messageOf(module.compileStep({.batch = 6, .outputs = {"loss"}})),
            "small.mlir: cannot return 'loss': an output is \"grad:PARAMETER\" "
            "or \"value:%NAME\"; the function's results are returned anyway");
  EXPECT_NE(
      messageOf(module.compileStep({.batch = 6, .outputs = {"grad:fc.wieght"}}))
          .find("'fc.wieght' whose gradient to return, did you mean "
                "'fc.weight'?"),
      std::string::npos);
  std::string message =
      messageOf(module.compileStep({.batch = 6, .outputs = {"value:%logit"}}));
  EXPECT_NE(message.find("'%logit', did you mean '%logits'"), std::string::npos)
      << message;
  EXPECT_EQ(messageOf(parsePrecision("fp61")),
            "unknown precision 'fp61', did you mean 'fp16', 'fp32' or 'fp8'?");
  EXPECT_EQ(check(parsePrecision("half")), Precision::FP16);
  EXPECT_EQ(check(parseScaler("jmp")), Scaler::Jmp);
}

TEST(Modules, AreVerifiedWhenTheyAreRead) {
  EXPECT_EQ(messageOf(Module::parse("module {", "half.mlir")).substr(0, 10),
            "half.mlir:");
  EXPECT_NE(messageOf(Module::read("/nonexistent.mlir")).find("No such file"),
            std::string::npos);
}

} // namespace
