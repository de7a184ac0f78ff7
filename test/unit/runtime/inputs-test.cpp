//===- inputs-test.cpp - inputs and results by name -----------------------===//
//
// A run's inputs are checked before anything reads them, and its outputs have
// names and types; on the CPU and on the emulated device.
//
//===----------------------------------------------------------------------===//
#include "OnBothTargets.h"
#include "TestFiles.h"
#include "codegen/Compile.h"
#include "runtime/Profile.h"
#include "runtime/Session.h"
#include <cmath>

using namespace mp;
using mp::test::message;

namespace {

constexpr llvm::StringLiteral network = R"mlir(
func.func @loss(%x: tensor<?x3xf32> {mp.name = "x"}, %label: tensor<?xi64> {mp.name = "label"})
    -> (tensor<f32> {mp.name = "loss"}, tensor<?x2xf32> {mp.name = "logits"}) {
  %w = mp.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = mp.linear %x, %w : tensor<?x3xf32>, tensor<2x3xf32>
  %l = mp.cross_entropy %y, %label : tensor<?x2xf32>, tensor<?xi64>
  return %l, %y : tensor<f32>, tensor<?x2xf32>
}
)mlir";

struct Running {
  std::unique_ptr<Session> session;
  Executable *function = nullptr;
};

Running load(llvm::StringRef text, Device device, CompileOptions options) {
  SessionOptions sessionOptions;
  sessionOptions.threads = 1;
  sessionOptions.device = device;
  Running running{llvm::cantFail(Session::create(sessionOptions))};
  options.filename = "net.mlir";
  options.target = running.session->target().str();
  options.arch = running.session->arch();
  Program program = llvm::cantFail(compile(text, options));
  std::string function = program.entries.front().function;
  llvm::cantFail(running.session->load(std::move(program)));
  llvm::cantFail(running.session->initialize(/*seed=*/0));
  running.function = running.session->find(function, options.batch);
  return running;
}

Running load(Device device, const std::string &precision = "") {
  CompileOptions options;
  options.goal = Goal::Run;
  options.batch = 2;
  options.precision = precision;
  return load(network, device, options);
}

const std::vector<float> x = {1, 0, 0, 0, 1, 0};
const std::vector<int64_t> label = {0, 1};

MP_ON_BOTH_TARGETS(InputsTest);

TEST_P(InputsTest, AreAsMany) {
  Running net = load(GetParam());
  EXPECT_EQ(message(net.function->run({x}).takeError()),
            "'loss' got 1 inputs, expected 2: input 'x' of 2x3xf32, input "
            "'label' of 2xi64");
  EXPECT_EQ(message(net.function->run({}).takeError()),
            "'loss' got 0 inputs, expected 2: input 'x' of 2x3xf32, input "
            "'label' of 2xi64");
  EXPECT_EQ(message(net.function->profile({x}).takeError()),
            "'loss' got 1 inputs, expected 2: input 'x' of 2x3xf32, input "
            "'label' of 2xi64");
}

TEST_P(InputsTest, AreAsLarge) {
  Running net = load(GetParam());
  std::vector<float> three = {1, 2, 3};
  EXPECT_EQ(message(net.function->submit({three, label}).takeError()),
            "'loss': input 'x' has 3 elements of f32 (12 bytes), expected 6 of "
            "2x3xf32 (24 bytes) (net.mlir:2:17)");
  // An input with one element more has the wrong size.
  std::vector<int64_t> labels = {0, 1, 0};
  EXPECT_EQ(message(net.function->submit({x, labels}).takeError()),
            "'loss': input 'label' has 3 elements of i64 (24 bytes), expected "
            "2 of 2xi64 (16 bytes) (net.mlir:2:54)");
}

TEST_P(InputsTest, AreOfTheType) {
  Running net = load(GetParam());
  std::vector<double> wide = {1, 0, 0};
  EXPECT_EQ(message(net.function->run({wide, label}).takeError()),
            "'loss': input 'x' has f64 elements, expected 2x3xf32 "
            "(net.mlir:2:17)");
}

TEST_P(InputsTest, LieInTheRange) {
  Running net = load(GetParam());
  auto run = [&](std::vector<int64_t> labels) {
    return message(net.function->run({x, labels}).takeError());
  };
  EXPECT_EQ(run({1, 2}), "'loss': input 'label' has 2 as element 1, expected 0 "
                         "to 1 or -100 (net.mlir:2:54)");
  EXPECT_EQ(run({-1, 2}), "'loss': input 'label' has -1 as element 0, expected "
                          "0 to 1 or -100 (net.mlir:2:54)");
  EXPECT_EQ(run({-100, 1}), "no error");
  EXPECT_EQ(run({INT64_MIN, 1}),
            "'loss': input 'label' has -9223372036854775808 as element 0, "
            "expected 0 to 1 or -100 (net.mlir:2:54)");
}

/// A refused run was not begun: the next run is the first.
TEST_P(InputsTest, LeaveNoTraceWhereTheyAreWrong) {
  Running net = load(GetParam());
  EXPECT_NE(message(net.function->submit({x}).takeError()), "no error");
  EXPECT_EQ(llvm::cantFail(
                net.function->submit({x, label}, Executable::Ranges::Known)),
            0u);
}

TEST_P(InputsTest, ComeBackAsNamedResults) {
  Running net = load(GetParam());
  Results results = llvm::cantFail(net.function->run({x, label}));
  ASSERT_EQ(results.size(), 2u);
  TensorView logits = llvm::cantFail(results.find("logits"));
  EXPECT_EQ(logits.element(), ElementType::F32);
  llvm::ArrayRef<float> numbers = llvm::cantFail(logits.as<float>());
  EXPECT_EQ(numbers.vec(), (std::vector<float>{1, 4, 2, 5}));
  EXPECT_EQ(message(logits.as<double>().takeError()),
            "the elements are f32, not f64; floats() converts them");
  float loss = llvm::cantFail(results.find("loss")).floats()[0];
  EXPECT_NEAR(loss, (std::log1p(std::exp(3)) + std::log1p(std::exp(-3))) / 2,
              1e-6);
  EXPECT_EQ(message(results.find("logit").takeError()),
            "'loss' has no result 'logit', did you mean 'logits'?");
}

/// Autocast computes them in f16; the function declares f32.
TEST_P(InputsTest, ComeBackAsTheFunctionDeclares) {
  Running net = load(GetParam(), "fp16");
  Results results = llvm::cantFail(net.function->run({x, label}));
  EXPECT_EQ(results.type(1).str(), "2x2xf32");
  EXPECT_EQ(llvm::cantFail(results.find("logits")).floats(),
            (std::vector<float>{1, 4, 2, 5}));
}

TEST_P(InputsTest, PredictUnlessTheyAreToTrain) {
  constexpr llvm::StringLiteral text = R"mlir(
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = mp.dropout %x {p = 1.0} : tensor<4xf32>
  return %y : tensor<4xf32>
}
)mlir";
  std::vector<float> four = {1, 2, 3, 4};
  CompileOptions options;
  options.goal = Goal::Run;
  Running net = load(text, GetParam(), options);
  EXPECT_EQ(llvm::cantFail(net.function->run({four}))[0].floats(), four);
  options.mode = Mode::Train;
  net = load(text, GetParam(), options);
  EXPECT_EQ(llvm::cantFail(net.function->run({four}))[0].floats(),
            std::vector<float>(4, 0));
}

/// Recipes share a session; a step is found by its recipe's name.
TEST_P(InputsTest, FindTheirRecipe) {
  constexpr llvm::StringLiteral text = R"mlir(
mp.variable @w : tensor<3xf32> = #mp.init<ones>
func.func @loss(%x: tensor<?x3xf32>) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<3xf32>
  %y = mp.mul %x, %w : tensor<?x3xf32>, tensor<3xf32>
  %l = mp.mean %y dims[0, 1] : tensor<?x3xf32>
  return %l : tensor<f32>
}
mp.train @slow of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 3.0>}
}
mp.train @fast of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 30.0>}
}
)mlir";
  CompileOptions options;
  options.batch = 2;
  options.function = "slow";
  Running net = load(text, GetParam(), options);
  Session &session = *net.session;
  EXPECT_EQ(net.function->entry().recipe, "slow");
  EXPECT_EQ(net.function->entry().location.str(), "net.mlir:3:1");
  options.filename = "net.mlir";
  options.target = session.target().str();
  options.arch = session.arch();
  options.function = "fast";
  llvm::cantFail(session.load(llvm::cantFail(compile(text, options))));
  Executable *slow = session.find("slow", 2), *fast = session.find("fast", 2);
  ASSERT_TRUE(slow && fast && slow != fast);
  EXPECT_EQ(session.find("slow.step", 2), slow);
  EXPECT_EQ(session.find("slo", 2), nullptr);
  (void)llvm::cantFail(slow->run({std::vector<float>(6, 1)}));
  std::vector<float> w(3);
  auto read = [&] {
    llvm::cantFail(session.read("w", {reinterpret_cast<char *>(w.data()), 12}));
    return w[0];
  };
  EXPECT_NEAR(read(), 0, 1e-6);
  (void)llvm::cantFail(fast->run({std::vector<float>(6, 1)}));
  EXPECT_NEAR(read(), -10, 1e-5);
}

TEST(TensorView, ConvertsWhatItHolds) {
  std::vector<uint8_t> bytes = {0, 255};
  EXPECT_EQ(TensorView(bytes).floats(), (std::vector<float>{0, 255}));
  std::string halves("\x00\x3c\x00\xc0", 4);
  TensorView view(ElementType::F16, halves);
  EXPECT_EQ(view.size(), 2);
  EXPECT_EQ(view.floats(), (std::vector<float>{1, -2}));
}

} // namespace
