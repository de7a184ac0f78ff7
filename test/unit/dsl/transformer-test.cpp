//===- transformer-test.cpp - tokens, heads and a batch that is merged ----===//
#include "dsl/Layers.h"
#include "mantissa.h"
#include <gtest/gtest.h>

using namespace mantissa;

namespace {

template <typename T> T check(llvm::Expected<T> value) {
  if (!value)
    llvm::report_fatal_error(value.takeError());
  return std::move(*value);
}

TEST(Transformer, TheBatchIsMergedAndSplit) {
  Graph net("m");
  Tensor x = net.input("x", F32, {Batch, 3, 4});
  Tensor rows = reshape(x, {-1, 4});
  EXPECT_EQ(rows.type(), "?x4xf32");
  EXPECT_EQ(flatten(x, 0, 1).type(), "?x4xf32");
  EXPECT_EQ(flatten(x, 0).type(), "?xf32");
  EXPECT_EQ(reshape(relu(rows), {Batch, 3, 4}).type(), "?x3x4xf32");
  EXPECT_EQ(reshape(relu(rows), {-1, 3, 4}).type(), "?x3x4xf32");
  EXPECT_EQ((reshape(relu(rows), {Batch, 3, 4}) + x).type(), "?x3x4xf32");
  EXPECT_TRUE(net.mistakes().empty()) << net.mistakes().front();
}

TEST(Transformer, HeadsDivideTheChannels) {
  Graph net("m");
  Tensor x = net.input("x", F32, {Batch, 3, 6});
  Tensor y = multiheadAttention(x, {.heads = 2, .name = "self"});
  EXPECT_EQ(y.type(), "?x3x6xf32");
  EXPECT_TRUE(net.mistakes().empty()) << net.mistakes().front();
  multiheadAttention(x, {.heads = 4, .name = "other"});
  multiheadAttention(reshape(x, {-1, 6}), {.heads = 2, .name = "rows"});
  ASSERT_EQ(net.mistakes().size(), 2u);
  EXPECT_NE(net.mistakes()[0].find("multiheadAttention 'other' on ?x3x6xf32: "
                                   "6 channels in 4 heads"),
            std::string::npos)
      << net.mistakes()[0];
  EXPECT_NE(net.mistakes()[1].find("expected at least 3 dimensions"),
            std::string::npos)
      << net.mistakes()[1];
}

TEST(Transformer, RotaryAnglesAreThoseOfLlama) {
  Graph net("m");
  Tensor x = reshape(net.input("x", F32, {24}), {1, 3, 2, 4});
  RotaryAngles angles = rotaryAngles(net, {.tokens = 3, .channels = 4});
  EXPECT_EQ(angles.cos.type(), "3x2xf32");
  Tensor w = net.parameter("w", F32, {4}, ones());
  Tensor y = rotaryEmbedding(x * w, angles.cos, angles.sin, 1);
  EXPECT_EQ(y.type(), "1x3x2x4xf32");
  net.output("loss", mean(y));
  net.output("sin", angles.sin * 1);
  net.train({.optimizer = sgd({.lr = 1})});
  Step step = check(check(Module::fromGraph(net)).compileStep({.threads = 1}));
  std::vector<float> numbers(24, 1);
  auto results = check(step.run({{"x", numbers}}));
  std::vector<float> read = check(results.read<float>("sin"));
  for (int token = 0; token < 3; ++token)
    for (int pair = 0; pair < 2; ++pair)
      EXPECT_NEAR(read[token * 2 + pair],
                  std::sin(token * std::pow(1e4, -pair / 2.)), 1e-6);
}

/// The frequencies are those that transformers computes for "llama3".
TEST(Transformer, RotaryAnglesAreStretchedAsLlama3) {
  Graph net("m");
  RotaryAngles angles = rotaryAngles(
      net,
      {.tokens = 2, .channels = 8, .scaling = RotaryScaling{.tokens = 2048}});
  net.output("loss", mean(net.parameter("w", F32, {4}, ones())));
  net.output("sin", angles.sin * 1);
  net.train({.optimizer = sgd({.lr = 1})});
  Step step = check(check(Module::fromGraph(net)).compileStep({.threads = 1}));
  std::vector<float> read = check(check(step.run({})).read<float>("sin"));
  double frequencies[] = {1, 0.1, 0.00784018822, 0.000125};
  for (int pair = 0; pair < 4; ++pair)
    EXPECT_NEAR(read[4 + pair], std::sin(frequencies[pair]), 1e-7);
}

/// The loss of words is that of rows, whether the batch is merged or not.
TEST(Transformer, RowsHaveTheLossOfTokens) {
  Graph net("m");
  Tensor tokens = net.input("tokens", I32, {Batch, 3});
  Tensor next = net.input("next", I32, {Batch, 3});
  Tensor x = embedding(tokens, {.count = 7, .width = 4, .name = "words"});
  Tensor start = net.parameter("start", F32, {1, 1, 4}, ones());
  x = concat({broadcast(start, {Batch, 1, 4}), x}, 1);
  x = x + net.parameter("positions", F32, {4, 4}, kaimingUniform());
  RotaryAngles angles = rotaryAngles(net, {.tokens = 4, .channels = 2});
  Tensor heads = reshape(x, {Batch, 4, 2, 2});
  x = reshape(rotaryEmbedding(heads, angles.cos, angles.sin, 1), {-1, 4, 4});
  x = slice(x, {0, 0, 0}, {-1, 3, -1});
  Tensor logits = linear(x, {.out = 7, .name = "head"});
  Tensor rows = reshape(logits, {-1, 7}), labels = reshape(next, {-1});
  net.output("loss", crossEntropy(logits, next, {.dim = 2}));
  net.output("merged", crossEntropy(rows, labels));
  net.output("accuracy", accuracy(logits, next, {.dim = 2}));
  net.output("merged accuracy", accuracy(rows, labels));
  net.train({.optimizer = sgd({.lr = 0.1})});
  Step step = check(
      check(Module::fromGraph(net)).compileStep({.batch = 2, .threads = 1}));
  std::vector<int32_t> words = {0, 1, 2, 3, 4, 5}, after = {1, 2, 6, 4, 5, 0};
  double first = 0;
  for (int i = 0; i < 50; ++i) {
    auto results = check(
        step.run({{"tokens", {words, {2, 3}}}, {"next", {after, {2, 3}}}}));
    EXPECT_NEAR(results.loss, check(results.read<float>("merged"))[0], 1e-6);
    EXPECT_EQ(check(results.read<float>("accuracy")),
              check(results.read<float>("merged accuracy")));
    if (i == 0)
      first = results.loss;
    else if (i == 49)
      EXPECT_LT(results.loss, first / 2);
  }
}

} // namespace
