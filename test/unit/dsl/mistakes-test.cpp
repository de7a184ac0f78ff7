//===- mistakes-test.cpp - each mistake is told at its line ---------------===//
#include "dsl/Layers.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mantissa;

namespace {

class Mistakes : public testing::Test {
protected:
  /// Expects one mistake, on this line, whose text has all of these parts.
  void expect(unsigned line, std::vector<std::string> parts) {
    ASSERT_EQ(net.mistakes().size(), 1u + told) << "line " << line;
    const std::string &text = net.mistakes().back();
    std::string place = "mistakes-test.cpp:" + std::to_string(line) + ":";
    EXPECT_NE(text.find(place), std::string::npos) << text;
    for (const std::string &part : parts)
      EXPECT_NE(text.find(part), std::string::npos)
          << "expected " << part << " in:\n"
          << text;
    ++told;
    // Nothing more is said of what the mistake left.
    net.output("y" + std::to_string(told), relu(wrong));
    EXPECT_EQ(net.mistakes().size(), told);
  }
  Graph net{"m"};
  Tensor x = net.input("x", F32, {Batch, 8}), y = net.input("y", F32, {4, 6}),
         half = net.input("half", F16, {Batch, 8}),
         label = net.input("label", U8, {Batch}), wrong;
  size_t told = 0;
};

// clang-format off: each mistake and what is expected stand on one line.

TEST_F(Mistakes, OfOps) {
  wrong = matmul(x, y), expect(__LINE__, {"?x8xf32", "4x6xf32"});
  wrong = x + half, expect(__LINE__, {"?x8xf32", "?x8xf16"});
  wrong = y + x, expect(__LINE__, {"4x6xf32", "?x8xf32"});
  wrong = linear(x, y), expect(__LINE__, {"?x8xf32", "4x6xf32"});
  wrong = crossEntropy(x, x + 1, {.weight = y}), expect(__LINE__, {"?x8xf32", "4x6xf32"});
  wrong = crossEntropy(label, label), expect(__LINE__, {"?xui8"});
  wrong = sum(x, {2}), expect(__LINE__, {"?x8xf32"});
  wrong = transpose(x, {0, 0}), expect(__LINE__, {"?x8xf32"});
  wrong = concat(Operands{x, y}, 1), expect(__LINE__, {"?x8xf32", "4x6xf32"});
  wrong = dropout(x, {.p = 2}), expect(__LINE__, {"p"});
  wrong = relu(label), expect(__LINE__, {"?xui8"});
  wrong = softmax(x, 5), expect(__LINE__, {"?x8xf32"});
}

TEST_F(Mistakes, OfNumbers) {
  wrong = label * 0.5, expect(__LINE__, {"the number 0.5 is not a value of ui8"});
  wrong = maximum(label, 256), expect(__LINE__, {"256", "ui8"});
  wrong = label + -1, expect(__LINE__, {"-1", "ui8", "out of range"});
  wrong = label - NAN, expect(__LINE__, {"nan is not a value of ui8"});
  wrong = half * 1e6, expect(__LINE__, {"1e+06 is not a value of f16", "too large"});
  wrong = constant(net, 7, I1), expect(__LINE__, {"7 is not a value of i1"});
  wrong = constant(net, 1e17, I64), expect(__LINE__, {"1e+17 is not a value of i64"});
  wrong = constant(net, {1, 1.5}, {2}, I32), expect(__LINE__, {"1.5", "i32"});
  wrong = 1 - (x + y), expect(__LINE__, {"?x8xf32", "4x6xf32"});
  net.buffer("b", F32, {}, zeros());
  net.write("b", 3), expect(__LINE__, {"'b' is written with a number"});
  net.output("o", 3), expect(__LINE__, {"'o' is a number"});
  net.output("o", relu(3)), expect(__LINE__, {"numbers alone"});
}

TEST_F(Mistakes, AreToldWithoutMlirsText) {
  wrong = embedding(x, {.count = 3, .width = 2, .name = "e"}), expect(__LINE__, {"3x2xf32, ?x8xf32"});
  EXPECT_EQ(net.mistakes().back().find("see current operation"), std::string::npos);
}

TEST_F(Mistakes, OfShapes) {
  wrong = reshape(x, {Batch, 9}), expect(__LINE__, {"?x8xf32", "?x9xf32"});
  wrong = reshape(x, {-1, 3}), expect(__LINE__, {"?x8xf32", "-1x3xf32"});
  wrong = sum(reshape(x, {-1, 4}), {1}) + sum(x, {1}), expect(__LINE__, {"2 times the batch", "vs the batch"});
  wrong = rotaryAngles(net, {.tokens = 2, .channels = 3}).cos, expect(__LINE__, {"2 tokens and 3 channels", "pairs of channels"});
  wrong = rotaryAngles(net, {.tokens = 2, .channels = 2, .scaling = RotaryScaling{.low = 4}}).cos, expect(__LINE__, {"a scaling with a factor above zero"});
  wrong = flatten(x, 1, 4), expect(__LINE__, {"1 to 4", "?x8xf32"});
  wrong = broadcast(y, {3, 6}), expect(__LINE__, {"4x6xf32"});
  wrong = constant(net, {1, 2, 3}, {2}), expect(__LINE__, {"2xf32", "3 values"});
}

TEST_F(Mistakes, OfVariables) {
  wrong = linear(x, {.name = "fc"}), expect(__LINE__, {"linear 'fc' on ?x8xf32", "out is 0"});
  wrong = conv2d(x, Conv2d{.out = 4, .kernel = 3, .name = "c"}), expect(__LINE__, {"conv2d 'c' on ?x8xf32", "at least 4 dimensions"});
  Tensor images = reshape(x, {Batch, 2, 2, 2});
  wrong = conv2d(images, Conv2d{.out = 4, .name = "c"}), expect(__LINE__, {"conv2d 'c' on ?x2x2x2xf32", "a window of 0"});
  wrong = conv2d(images, Conv2d{.out = 4, .kernel = 1, .name = "c", .groups = 3}), expect(__LINE__, {"2 channels in 3 groups"});
  wrong = conv2d(images, Conv2d{.out = 4, .kernel = 3, .name = "d"}), expect(__LINE__, {"the window spans 3 elements of the height"});
  wrong = convTranspose2d(images, ConvTranspose2d{.out = 3, .kernel = 2, .name = "t", .groups = 2}), expect(__LINE__, {"convTranspose2d 't'", "3 channels in 2 groups"});
  wrong = convTranspose2d(images, ConvTranspose2d{.out = 3, .kernel = 2, .name = "t", .groups = 3}), expect(__LINE__, {"2 channels in 3 groups"});
  wrong = convTranspose2d(images, ConvTranspose2d{.out = 4, .kernel = 2, .name = "t", .outputPadding = 1}), expect(__LINE__, {"an output padding of 1", "the stride or the dilation, 1"});
  wrong = convTranspose2d(reshape(x, {Batch, 2, 2, 2}), ConvTranspose2d{.out = 4, .kernel = 2, .name = "u", .stride = 0, .outputPadding = 0}), expect(__LINE__, {"stride"});
  wrong = net.parameter("", F32, {3, 4}, zeros()), expect(__LINE__, {"needs a name"});
  net.parameter("w", F32, {3, 4}, zeros());
  wrong = net.parameter("w", F32, {4, 3}, zeros()), expect(__LINE__, {"'w' is 4x3xf32 here and 3x4xf32 before"});
  wrong = net.parameter("w", F32, {3, 4}, zeros(), {.dimsInFiles = {1, 0}}), expect(__LINE__, {"'w' has dimsInFiles [1, 0] here and [] before"});
  wrong = net.parameter("v", F32, {3, 4}, zeros(), {.dimsInFiles = {1, 1}}), expect(__LINE__, {"[1, 1] names dimension 1 twice"});
  wrong = net.parameter("v", F32, {Batch, 3}, zeros()), expect(__LINE__, {"'v' of ?x3xf32"});
  wrong = net.parameter("u", F32, {3}, Initializer{"#mp.init<zeroes>"}), expect(__LINE__, {"zeroes"});
  wrong = net.input("x", F32, {3}), expect(__LINE__, {"an input 'x' already, of ?x8xf32"});
  wrong = net.input("late", F32, {3, Batch}), expect(__LINE__, {"'late' of 3x?xf32"});
}

TEST_F(Mistakes, OfGraphs) {
  Graph other("n");
  Tensor foreign = other.input("z", F32, {8});
  wrong = x + foreign, expect(__LINE__, {"8xf32 belongs to another graph"});
  wrong = net.call("f", {x}, [&](auto &in) { return std::vector<Tensor>{in[0] + y}; }).empty() ? Tensor(wrong) : Tensor(), expect(__LINE__, {"4x6xf32 is a value of another function"});
}

TEST_F(Mistakes, OfRecipes) {
  wrong = matmul(x, y), expect(__LINE__, {"?x8xf32"});
  net.train({.optimizer = sgd()}), expect(__LINE__, {"no output 'loss' to minimise"});
  net.train({.precision = "fp61"}), expect(__LINE__, {"'fp61'"});
  net.data("train", {{"z", "*.idx", "idx"}}), expect(__LINE__, {"no input 'z'"});
  net.data("train", {{"x", "*.npy", "npy", "", {1, 0}}}), expect(__LINE__, {"dims_in_files is [1, 0]", "stay first"});
  net.output("loss", sum(x, {0, 1}));
  net.train({}), expect(__LINE__, {"without an optimizer"});
  net.train({.optimizer = {"adamw"}}), expect(__LINE__, {"'adamw' is text", "adamw"});
  net.train({.optimizer = sgd(), .name = "slow"});
  net.train({.optimizer = sgd(), .name = "slow"}), expect(__LINE__, {"'slow' of a recipe is taken: a recipe"});
  net.train({.optimizer = sgd({.lr = -1})}), expect(__LINE__, {"lr is -1"});
  net.train({.optimizer = sgd({.lr = NAN})}), expect(__LINE__, {"in: mp.minimize", "lr = nan"});
  net.train({.optimizer = sgd(), .clipNorm = INFINITY}), expect(__LINE__, {"clip_norm = inf"});
}

TEST_F(Mistakes, OfTypes) {
  auto none = static_cast<ElementType>(77);
  wrong = net.input("none", none, {3}), expect(__LINE__, {"'none' has no element type", "77"});
  wrong = net.parameter("none", none, {3}, zeros()), expect(__LINE__, {"'none' has no element type"});
  wrong = cast(x, none), expect(__LINE__, {"no element type"});
  wrong = constant(net, 1, none), expect(__LINE__, {"no element type"});
  wrong = argmax(x, 1, {.dtype = none}), expect(__LINE__, {"'dtype'"});
  wrong = compare(x, x, static_cast<Comparison>(77)), expect(__LINE__, {"'relation'"});
  wrong = broadcast(y, {-4, 6}), expect(__LINE__, {"-4x6xf32"});
  wrong = reshape(y, {-4, -6}), expect(__LINE__, {"-4x-6xf32"});
  wrong = uniform(net, {F32, {2, Batch}}), expect(__LINE__, {"2x?xf32"});
  wrong = constant(net, {}, {int64_t(1) << 32, int64_t(1) << 32}), expect(__LINE__, {"4294967296x4294967296xf32"});
  // The product of these sizes is -1 in 64 bits.
  Tensor most = net.input("most", F32, {4294967295, 4294967297});
  wrong = reshape(most, {-1}), expect(__LINE__, {"4294967295x4294967297xf32"});
  wrong = flatten(most, 0), expect(__LINE__, {"4294967295x4294967297xf32"});
}

TEST_F(Mistakes, OfNames) {
  net.parameter("w", F32, {}, zeros());
  wrong = net.parameter("loss", F32, {}, zeros()), expect(__LINE__, {"'loss' of a variable is taken", "the graph's own function"});
  auto same = [](auto &in) { return in; };
  net.call("loss", {x}, same), expect(__LINE__, {"'loss' of a function is taken"});
  net.call("w", {x}, same), expect(__LINE__, {"'w' of a function is taken: a variable"});
  net.call("", {x}, same), expect(__LINE__, {"a function needs a name"});
  net.output("loss", mean(x, {0, 1}));
  net.train({.optimizer = sgd(), .precision = "fp16"});
  net.train({.optimizer = sgd()}), expect(__LINE__, {"'step' of a recipe is taken: a recipe"});
  net.train({.optimizer = sgd(), .name = ""}), expect(__LINE__, {"a recipe needs a name"});
  net.data("scaler", {{"x", "*.idx", "idx"}}), expect(__LINE__, {"'scaler' of a data source is taken: a loss scaler"});
  wrong = net.parameter("step", F32, {}, zeros()), expect(__LINE__, {"'step' of a variable is taken: a recipe"});
}

TEST_F(Mistakes, OfFunctions) {
  wrong = matmul(x, y), expect(__LINE__, {"?x8xf32"});
  Tensor inner;
  net.call("f", {x}, [&](auto &in) { return std::vector<Tensor>{inner = relu(in[0]), y}; }), expect(__LINE__, {"another function"});
  // Its function has a mistake, and the value can still be asked.
  EXPECT_EQ(inner.type(), "?x8xf32");
  wrong = inner + 1, expect(__LINE__, {"?x8xf32 is a value of another function"});
  net.call("g", {x}, Graph::Body()), expect(__LINE__, {"'g' is called without a body"});
  Graph::Body itself = [&](auto &in) { net.call("h", {in[0]}, itself); return in; };
  net.call("h", {x}, itself), expect(__LINE__ - 1, {"'h' calls itself"});
  net.call("i", {x}, [&](auto &in) { net.output("o", in[0]); return in; }), expect(__LINE__, {"output 'o' in the body of function 'i'"});
  net.call("j", {x}, [&](auto &in) { net.input("p", F32, {}); return in; }), expect(__LINE__, {"input 'p' in the body of function 'j'"});
}

// clang-format on

TEST(Text, OfAnOpenFunctionIsAnError) {
  Graph net("m");
  std::string message;
  net.call("f", {net.input("x", F32, {2})}, [&](auto &in) {
    message = llvm::toString(net.text().takeError());
    return in;
  });
  EXPECT_EQ(message, "the body of function 'f' is not complete: the module has "
                     "no text yet");
}

TEST(Text, HasAllMistakes) {
  Graph net("m");
  Tensor x = net.input("x", F32, {2, 3});
  net.output("a", matmul(x, x));
  net.output("b", x + net.input("y", F16, {2, 3}));
  auto text = net.text();
  ASSERT_FALSE(bool(text));
  std::string message = llvm::toString(text.takeError());
  EXPECT_EQ(llvm::StringRef(message).count(": error: "), 2u) << message;
}

} // namespace
