//===- graph-test.cpp - graphs written in C++ -----------------------------===//
#include "codegen/Compile.h"
#include "dsl/Layers.h"
#include "examples/fashion-mnist/mlp.h"
#include "mantissa.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include <gtest/gtest.h>

using namespace mantissa;

namespace {

template <typename T> T check(llvm::Expected<T> value) {
  if (!value)
    llvm::report_fatal_error(value.takeError());
  return std::move(*value);
}

std::string textOf(const Graph &net) { return check(net.text(false)); }

/// A Program as text, without what tells where its parts come from.
std::string programOf(llvm::StringRef module, llvm::StringRef precision) {
  mp::CompileOptions options;
  options.batch = 32;
  options.totalSteps = 100;
  options.precision = precision.str();
  mp::Program program = check(mp::compile(module, options));
  for (mp::SourceOp &op : program.graph)
    op.location = {};
  for (mp::Variable &variable : program.variables)
    variable.location = {};
  for (mp::Kernel &kernel : program.kernels)
    kernel.sources.clear();
  for (mp::DataSource &source : program.data) {
    source.location = {};
    for (mp::DataColumn &column : source.columns)
      column.location = {};
  }
  for (mp::Entry &entry : program.entries) {
    entry.location = {};
    for (mp::Input &input : entry.inputs)
      input.location = {};
    for (mp::Result &result : entry.results)
      result.location = {};
    for (mp::Buffer &buffer : entry.buffers)
      buffer.location = {};
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  mp::print(program, os);
  return text;
}

class FashionMnist : public testing::TestWithParam<const char *> {};

TEST_P(FashionMnist, IsTheProgramOfTheExample) {
  auto written = llvm::MemoryBuffer::getFile(
      MP_SOURCE_DIR "/examples/fashion-mnist/mlp.mlir");
  ASSERT_TRUE(bool(written));
  Graph net("fashion_mnist_mlp");
  buildFashionMnist(net);
  EXPECT_EQ(programOf(check(net.text()), GetParam()),
            programOf((*written)->getBuffer(), GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Precisions, FashionMnist,
                         testing::Values("", "fp32", "bf16", "O2"));

TEST(Graph, PointsIntoTheUsersFile) {
  Graph net("m");
  Tensor x = net.input("x", F32, {2, 3});
  unsigned line = __LINE__ + 1;
  Tensor y = relu(x);
  net.output("y", y);
  std::string text = check(net.text());
  std::string place = "graph-test.cpp\":" + std::to_string(line) + ":";
  EXPECT_NE(text.find(place), std::string::npos) << text;
}

TEST(Graph, ScopesNameVariables) {
  Graph net("m");
  Tensor x = net.input("x", F32, {Batch, 8});
  {
    auto encoder = net.scope("encoder");
    for (int i = 0; i < 2; ++i) {
      auto layer = net.scope("layer." + std::to_string(i));
      x = layerNorm(linear(x, {.out = 8, .name = "dense"}), {.name = "norm"});
    }
  }
  net.output("y", x);
  std::string text = textOf(net);
  for (const char *name :
       {"@encoder.layer.0.dense.weight", "@encoder.layer.1.dense.bias",
        "@encoder.layer.1.norm.weight"})
    EXPECT_NE(text.find(name), std::string::npos) << text;
}

TEST(Graph, ScopesThatEndInAnyOrderLeaveNoName) {
  Graph net("m");
  auto outer = std::make_unique<Graph::Scope>(net, "outer");
  auto inner = std::make_unique<Graph::Scope>(net, "inner");
  outer.reset();
  inner.reset();
  auto none = net.scope("");
  EXPECT_EQ(net.scoped("w"), "w");
}

TEST(Graph, NeedsNoName) {
  Graph net("");
  net.output("y", relu(net.input("x", F32, {2})));
  EXPECT_EQ(textOf(net).substr(0, 18), "module attributes ");
  check(Module::fromGraph(net));
}

TEST(Graph, NamesAreThoseOfTheText) {
  Graph net("m");
  Tensor x = net.input("x", F32, {Batch, 8});
  auto encoder = net.scope("encoder");
  Tensor gate = sigmoid(linear(x, {.out = 8, .name = "fc"})).named("gate");
  net.output("loss", mean(x * gate, {0, 1}));
  net.train({.optimizer = sgd({.lr = 0.1})});
  std::string text = textOf(net);
  for (const char *line :
       {"%encoder.fc.weight = mp.read @encoder.fc.weight",
        "%encoder.fc = mp.linear %x, %encoder.fc.weight, %encoder.fc.bias",
        "%encoder.gate = mp.sigmoid %encoder.fc", "return %loss"})
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
  // Steps return values by these names.
  Step step = check(
      check(Module::fromGraph(net))
          .compileStep(
              {.batch = 1, .outputs = {"value:%encoder.gate"}, .threads = 1}));
  std::vector<float> row(8);
  auto results = check(step.run({{"x", {row, {1, 8}}}}));
  auto found = check(results.read<float>("value:%encoder.gate"));
  // The step has moved the bias by 0.1 times its gradient, which is 0 here.
  auto bias = check(step.read<float>("encoder.fc.bias"));
  ASSERT_EQ(found.size(), bias.size());
  for (size_t i = 0; i < bias.size(); ++i)
    EXPECT_NEAR(found[i], 1 / (1 + std::exp(-bias[i])), 1e-6);
}

TEST(Graph, NormsFindTheirChannels) {
  Graph net("m");
  Tensor x = net.input("x", F32, {Batch, 5, 4, 3});
  Tensor second = batchNorm(x, {.name = "second"});
  net.output("y", batchNorm(second, {.name = "last", .channelDim = 3}));
  std::string text = textOf(net);
  for (const char *line :
       {"@second.running_var : tensor<5xf32>",
        "@last.running_var : tensor<3xf32>", "channel_dim(3) weight("})
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
}

TEST(Graph, ConvolutionsDeclareTheirVariables) {
  Graph net("m");
  Tensor x = net.input("x", F32, {Batch, 9, 8, 6});
  Tensor y = conv2d(x, Conv2d{.out = 4,
                              .kernel = 3,
                              .name = "conv",
                              .stride = 2,
                              .padding = 1,
                              .groups = 2});
  EXPECT_EQ(y.type(), "?x5x4x4xf32");
  y = conv2d(y, Conv2d{.out = 2, .kernel = 1, .bias = false});
  y = conv2d(
      y, Conv2d{.out = 3, .kernel = {1, 4}, .name = "wide", .padding = {0, 2}});
  EXPECT_EQ(y.type(), "?x5x5x3xf32");
  net.output("y", y);
  std::string text = textOf(net);
  for (const char *line :
       {"@conv.weight : tensor<4x3x3x3xf32> dims_in_files[0, 3, 1, 2] = ",
        "@conv.bias : tensor<4xf32> = ",
        "mp.conv2d %x, %conv.weight, %conv.bias strides[2, 2] low[1, 1] "
        "high[1, 1] groups(2)",
        "@weight : tensor<2x1x1x4xf32>", "mp.conv2d %conv, %weight : ",
        "@wide.weight : tensor<3x1x4x2xf32>", "low[0, 2] high[0, 2]"})
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
}

TEST(Graph, TransposedConvolutionsHaveTheSizesOfPyTorch) {
  Graph net("m");
  Tensor x = net.input("x", F32, {Batch, 5, 4, 6});
  Tensor y = convTranspose2d(x, ConvTranspose2d{.out = 4,
                                                .kernel = 3,
                                                .name = "up",
                                                .stride = 2,
                                                .padding = 1,
                                                .outputPadding = 1,
                                                .groups = 2});
  // torch.nn.ConvTranspose2d(6, 4, 3, 2, 1, 1, 2) of [1, 6, 5, 4].
  EXPECT_EQ(y.type(), "?x10x8x4xf32");
  Tensor z = convTranspose2d(
      y,
      ConvTranspose2d{
          .out = 3, .kernel = 2, .name = "wide", .dilation = 3, .bias = false});
  EXPECT_EQ(z.type(), "?x13x11x3xf32");
  net.output("y", z);
  std::string text = textOf(net);
  for (const char *line :
       {"@up.weight : tensor<6x3x3x2xf32> dims_in_files[0, 3, 1, 2] = ",
        "@up.bias : tensor<4xf32> = ",
        "mp.conv_transpose2d %x, %up.weight, %up.bias size[10, 8] strides[2, "
        "2] "
        "low[1, 1] high[1, 1] groups(2)",
        "@wide.weight : tensor<4x2x2x3xf32>", "dilations[3, 3]"})
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
}

TEST(Graph, SaysHowFilesLie) {
  Graph net("m");
  Tensor x = net.input("x", F32, {Batch, 4, 5, 3});
  VariableOptions transposed{.dimsInFiles = {1, 0}};
  net.parameter("w", F32, {2, 3}, zeros(), transposed);
  net.parameter("w", F32, {2, 3}, zeros(), transposed);
  net.buffer("b", F32, {2, 3}, zeros(), transposed);
  net.data("train", {{"x", "x.npy", "npy", "", {0, 3, 1, 2}}});
  net.data("test", {{"x", "x.st", "safetensors", "k", {0, 2, 1, 3}}});
  net.input("t", U16, {Batch, 8});
  net.data("text", {{.input = "t",
                     .pattern = "t.bin",
                     .format = "tokens",
                     .shape = {8},
                     .window = {.tokens = 9, .stride = 4, .offset = 1}}});
  net.output("y", x);
  std::string text = textOf(net);
  for (const char *line :
       {"mp.variable @w : tensor<2x3xf32> dims_in_files[1, 0] = ",
        "mp.variable buffer @b : tensor<2x3xf32> dims_in_files[1, 0] = ",
        "\"x.npy\" as npy, f32 dims_in_files[0, 3, 1, 2]>",
        "safetensors, f32 dims_in_files[0, 2, 1, 3], key = \"k\">",
        "tokens, ui16 shape[8] window <tokens = 9, stride = 4, offset = 1>>"})
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
}

TEST(Graph, ReducesAllDimensions) {
  Graph net("m");
  Tensor x = net.input("x", F32, {2, 3}), none = net.input("none", F32, {});
  for (const Tensor &number : {sum(x), mean(x), max(x), min(x)})
    EXPECT_EQ(number.type(), "f32");
  net.output("least", min(x));
  net.output("sum", sum(none));
  std::string text = textOf(net);
  EXPECT_NE(text.find("mp.min %x dims[0, 1]"), std::string::npos) << text;
}

TEST(Graph, SortsGiveValuesAndIndices) {
  Graph net("m");
  Tensor x = net.input("x", BF16, {Batch, 10});
  auto best = topK(x, 3, 1);
  EXPECT_EQ(best.type(), "?x3xbf16");
  EXPECT_EQ(best.indices.type(), "?x3xi32");
  EXPECT_EQ(sort(x, 1, {.descending = true}).indices.type(), "?x10xi32");
  EXPECT_EQ(gather(x, best.indices, 1, {.batched = true}).type(), "?x3xbf16");
  EXPECT_EQ(categorical(x, 1).type(), "?xi32");
  EXPECT_EQ(gumbel(net, {F32, {2, 3}}).type(), "2x3xf32");
  EXPECT_TRUE(net.mistakes().empty()) << net.mistakes().front();
}

TEST(Graph, NumbersTakeTheTypeOfWhatIsNoCondition) {
  Graph net("m");
  Tensor x = net.input("x", F16, {Batch, 3});
  EXPECT_EQ(select(x > 0, x, 0).type(), "?x3xf16");
  EXPECT_EQ(select(x > 0, 0, x).type(), "?x3xf16");
  EXPECT_TRUE(net.mistakes().empty()) << net.mistakes().front();
}

TEST(Graph, AShapeMayLeaveTheBatchOpen) {
  Graph net("m");
  Tensor x = net.input("x", F32, {Batch, 3, 4});
  EXPECT_EQ(reshape(x, {-1, 12}).type(), "?x12xf32");
  EXPECT_EQ(reshape(x, {Batch, -1}).type(), "?x12xf32");
  EXPECT_EQ(reshape(x, {-1, 4, 3}).type(), "?x4x3xf32");
  EXPECT_TRUE(net.mistakes().empty()) << net.mistakes().front();
  EXPECT_FALSE(reshape(x, {12, -1}));
}

TEST(Graph, NamesMayHaveAnyCharacters) {
  Graph net("m \"1\"");
  std::string odd = "a \"b\" \\ {c}\n";
  Tensor x = net.input(odd, F32, {2});
  Tensor w = net.parameter(odd, F32, {2}, ones());
  net.output("loss", sum((x * w).named("% " + odd), {0}));
  net.output(odd, x * 2);
  net.train({.optimizer = sgd({.lr = 1}), .name = "r " + odd});
  net.data("d " + odd, {{odd, odd, "npy"}});
  Step step = check(check(Module::fromGraph(net)).compileStep({.threads = 1}));
  std::vector<float> numbers = {1, 2};
  auto results = check(step.run({{odd, numbers}}));
  EXPECT_EQ(results.loss, 3);
  EXPECT_EQ(check(results.read<float>(odd))[1], 4);
  EXPECT_EQ(check(step.read<float>(odd)), std::vector<float>({0, -1}));
}

TEST(Graph, OneNameIsOneVariable) {
  Graph net("m");
  Tensor x = net.input("x", F32, {Batch, 8});
  x = linear(linear(x, {.out = 8, .name = "tied"}), {.out = 8, .name = "tied"});
  net.output("y", x);
  llvm::Regex variable("mp.variable @tied.weight");
  std::string text = textOf(net);
  EXPECT_EQ(llvm::StringRef(text).count("mp.variable @tied.weight"), 1u);
}

TEST(Graph, NumbersTakeTheTypeOfTheirPartner) {
  Graph net("m");
  Tensor x = net.input("x", BF16, {4});
  net.output("y", 1 - x * 2 + maximum(x, 0));
  EXPECT_EQ(llvm::StringRef(textOf(net)).count("tensor<bf16>\n"), 5u)
      << textOf(net);
}

TEST(Graph, AFunctionIsWrittenOnceAndCalled) {
  Graph net("m");
  Tensor x = net.input("x", F32, {Batch, 8});
  for (int i = 0; i < 3; ++i) {
    auto layer = net.scope("block." + std::to_string(i));
    Tensor w = net.parameter("weight", F32, {8, 8}, kaimingUniform());
    x = net.call("block", {x, w}, [](const std::vector<Tensor> &in) {
      return std::vector<Tensor>{in[0] + relu(linear(in[0], in[1]))};
    })[0];
  }
  net.output("loss", mean(x * x, {0, 1}));
  net.train({.optimizer = sgd({.lr = 0.1})});
  std::string text = textOf(net);
  EXPECT_EQ(llvm::StringRef(text).count("func.func private @block"), 1u);
  EXPECT_EQ(llvm::StringRef(text).count("call @block"), 3u);
  EXPECT_EQ(llvm::StringRef(text).count("mp.linear"), 1u);
  // It trains: calls are inlined first.
  Module module = check(Module::fromGraph(net));
  Step step = check(module.compileStep({.batch = 4, .threads = 1}));
  std::vector<float> points(32, 0.5f);
  double first = check(step.run({{"x", {points, {4, 8}}}})).loss, last = first;
  for (int i = 0; i < 20; ++i)
    last = check(step.run({{"x", {points, {4, 8}}}})).loss;
  EXPECT_LT(last, first);
}

/// The result of y = a op b in a graph, on two rows of three numbers.
std::vector<float>
evaluate(const std::function<Tensor(const Tensor &, const Tensor &)> &build) {
  Graph net("m");
  Tensor a = net.input("a", F32, {2, 3}), b = net.input("b", F32, {2, 3});
  Tensor w = net.parameter("w", F32, {1}, ones());
  Tensor y = build(a, b);
  net.output("loss", sum(w, {0}));
  net.output("y", y);
  net.train({.optimizer = sgd()});
  Step step = check(
      check(Module::fromGraph(net)).compileStep({.batch = 2, .threads = 1}));
  std::vector<float> x{1, 2, 3, 4, 5, 6}, z{6, 5, 4, 3, 2, 1};
  auto results = check(step.run({{"a", {x, {2, 3}}}, {"b", {z, {2, 3}}}}));
  return check(results.find("y")).floats();
}

TEST(Operators, ComputeWhatTheySay) {
  using Numbers = std::vector<float>;
  EXPECT_EQ(evaluate([](auto &a, auto &b) { return a + b; }),
            Numbers({7, 7, 7, 7, 7, 7}));
  EXPECT_EQ(evaluate([](auto &a, auto &b) { return a - b; }),
            Numbers({-5, -3, -1, 1, 3, 5}));
  EXPECT_EQ(evaluate([](auto &a, auto &b) { return 2 * a * b; }),
            Numbers({12, 20, 24, 24, 20, 12}));
  EXPECT_EQ(evaluate([](auto &a, auto &) { return -a / 2; }),
            Numbers({-.5, -1, -1.5, -2, -2.5, -3}));
  EXPECT_EQ(evaluate([](auto &a, auto &b) { return cast(a < b, F32); }),
            Numbers({1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(evaluate([](auto &a, auto &b) { return cast(a >= b, F32); }),
            Numbers({0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(evaluate([](auto &a, auto &b) {
              return matmul(a, b, {.transposeB = true});
            }),
            Numbers({28, 10, 73, 28}));
}

TEST(Operators, DifferentiateByEachSource) {
  auto product = [](auto &a, auto &b) { return sum(a * b * b, {0, 1}); };
  using Numbers = std::vector<float>;
  EXPECT_EQ(evaluate([&](auto &a, auto &b) {
              return gradient(product(a, b), {a, b})[0];
            }),
            Numbers({36, 25, 16, 9, 4, 1}));
  EXPECT_EQ(evaluate([&](auto &a, auto &b) {
              return gradient(product(a, b), {a, b})[1];
            }),
            Numbers({12, 20, 24, 24, 20, 12}));
}

TEST(Recipes, TwoLossesHaveTheirOwnOptimizers) {
  Graph net("gan");
  Tensor noise = net.input("noise", F32, {Batch, 4});
  Tensor real = net.input("real", F32, {Batch, 2});
  Tensor fake = linear(noise, {.out = 2, .name = "generator.fc"});
  auto critic = [](const Tensor &x) {
    return linear(x, {.out = 1, .name = "critic.fc"});
  };
  Tensor ofFake = critic(fake), ofStopped = critic(stopGradient(fake));
  net.output("generator", mean(softplus(-ofFake), {0, 1}));
  net.output("critic",
             mean(softplus(-critic(real)) + softplus(ofStopped), {0, 1}));
  net.train({.groups = {{.result = "critic",
                         .params = {"critic.*"},
                         .optimizer = adamw({.lr = 4e-4})},
                        {.result = "generator",
                         .params = {"generator.*"},
                         .optimizer = adamw({.lr = 1e-4})}}});
  Step step = check(check(Module::fromGraph(net))
                        .compileStep({.batch = 3,
                                      .outputs = {"grad:critic.fc.weight",
                                                  "grad:generator.fc.weight"},
                                      .threads = 1}));
  std::vector<float> z(12, 0.5f), x(6, 1.0f);
  auto results =
      check(step.run({{"noise", {z, {3, 4}}}, {"real", {x, {3, 2}}}}));
  EXPECT_EQ(results.size() > 0, true);
  for (const char *name : {"grad:critic.fc.weight", "grad:generator.fc.weight"})
    EXPECT_NE(check(results.read<float>(name))[0], 0) << name;
}

} // namespace
