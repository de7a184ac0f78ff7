//===- cuda-convolution-epilogue-test.cpp - stages after convolutions -----===//
//
// The stages after mp.conv2d and its gradients, on the emulated device: they
// are computed in the convolution's own kernels, with one kernel and with
// shares of k that another adds.
//
//===----------------------------------------------------------------------===//
#include "ConvolutionCase.h"
#include "EmulatedProgram.h"

using namespace mp;
using namespace mp::test;

namespace {

class ConvolutionEpilogue
    : public EmulatedProgram,
      public testing::WithParamInterface<ConvolutionCase> {
protected:
  // In another order than their numbers, blocks would show where they write
  // what is another's.
  void SetUp() override {
    EmulatedProgram::SetUp();
    setenv("MP_EMULATOR_SEED", "3", 1);
  }
  void TearDown() override {
    unsetenv("MP_EMULATOR_SEED");
    EmulatedProgram::TearDown();
  }

  const ConvolutionCase &shape = GetParam();
  Numbers input = randomNumbers(shape.inputCount(), 1),
          weight = randomNumbers(shape.weightCount(), 2),
          gradient = randomNumbers(shape.outputCount(), 3);
  std::string x = shape.inputType(), w = shape.weightType(),
              y = shape.outputType();
  std::string types(const std::string &a, const std::string &b) const {
    return shape.attributes() + " : " + a + ", " + b;
  }
  std::string vector(int64_t count, const char *type) const {
    return llvm::formatv("tensor<{0}x{1}>", count, type);
  }
  /// The same tensor with other elements.
  static std::string as(llvm::StringRef tensor, const char *type) {
    return (tensor.rsplit('x').first + "x" + type + ">").str();
  }
  static std::string size(const std::array<int64_t, 2> &size) {
    return llvm::formatv("size[{0}, {1}]", size[0], size[1]);
  }

  /// Compiles a function of `parameters` with results of `results`, and expects
  /// that all its stages are in the kernels of one convolution; others may only
  /// combine parts of reductions.
  Program compileBody(Convolution op, const std::string &parameters,
                      const std::string &results, const std::string &body) {
    Program program =
        compileForCuda("func.func @f(" + parameters + ") -> (" + results +
                           ") {\n" + body + " : " + results + "\n}\n",
                       shape.plan(op));
    size_t convolutions = 0;
    for (const Kernel &kernel : program.kernels) {
      llvm::StringRef code = kernel.code;
      convolutions += code.contains("#include \"conv");
      EXPECT_TRUE(code.contains("#include \"conv") ||
                  code.contains("combinePartials"))
          << kernel.code;
    }
    EXPECT_EQ(convolutions, shape.splits > 1 ? 2u : 1u);
    return program;
  }
};

TEST_P(ConvolutionEpilogue, addsABiasAndAResidual) {
  Program program = compileBody(
      Convolution::Forward,
      "%x: " + x + ", %w: " + w + ", %b: " + vector(shape.outputs, "f16") +
          ", %r: " + y,
      y + ", " + y,
      "  %0 = mp.conv2d %x, %w, %b" + types(x, w) + ", " +
          vector(shape.outputs, "f16") + "\n  %1 = mp.add %0, %r : " + y +
          ", " + y + "\n  %2 = mp.relu %1 : " + y + "\n  return %0, %2");
  Numbers bias = randomNumbers(shape.outputs, 4);
  Numbers expected = shape.sums(Convolution::Forward, input, weight);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] += bias[i % shape.outputs];
  expected = rounded(expected, ElementType::F16);
  auto results =
      run(program, std::vector<Numbers>{input, weight, bias, gradient});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0], expected);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] += gradient[i];
  expected = rounded(expected, ElementType::F16);
  for (double &number : expected)
    number = std::max(number, 0.0);
  EXPECT_EQ(results[1], expected);
}

// What batch norm needs in training.
TEST_P(ConvolutionEpilogue, sumsChannelsAndTheirSquares) {
  std::string wide = as(y, "f32"), sums = vector(shape.outputs, "f32");
  Program program = compileBody(
      Convolution::Forward, "%x: " + x + ", %w: " + w,
      y + ", " + sums + ", " + sums,
      "  %0 = mp.conv2d %x, %w" + types(x, w) + "\n  %1 = mp.cast %0 : " + y +
          " to " + wide + "\n  %2 = mp.sum %1 dims[0, 1, 2] : " + wide +
          "\n  %3 = mp.mul %1, %1 : " + wide + ", " + wide +
          "\n  %4 = mp.sum %3 dims[0, 1, 2] : " + wide +
          "\n  return %0, %2, %4");
  Numbers expected = rounded(shape.sums(Convolution::Forward, input, weight),
                             ElementType::F16);
  Numbers sum(shape.outputs), squares(shape.outputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    sum[i % shape.outputs] += expected[i];
    squares[i % shape.outputs] += expected[i] * expected[i];
  }
  auto results = run(program, std::vector<Numbers>{input, weight});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0], expected);
  for (int64_t c = 0; c < shape.outputs; ++c) {
    EXPECT_NEAR(results[1][c], sum[c], 1e-5 * expected.size()) << c;
    EXPECT_NEAR(results[2][c], squares[c], 1e-6 * squares[c]) << c;
  }
}

// The gradient of what is before a relu, and of the bias that it added.
TEST_P(ConvolutionEpilogue, masksTheGradientOfTheInput) {
  std::string wide = as(x, "f32"), sums = vector(shape.inputs, "f32");
  Program program = compileBody(
      Convolution::BackwardInput, "%g: " + y + ", %w: " + w + ", %a: " + x,
      x + ", " + sums,
      "  %0 = mp.conv2d_backward_input %g, %w " + size(shape.size) +
          types(y, w) + "\n  %1 = mp.relu_backward %0, %a : " + x + ", " + x +
          "\n  %2 = mp.cast %1 : " + x + " to " + wide +
          "\n  %3 = mp.sum %2 dims[0, 1, 2] : " + wide + "\n  return %1, %3");
  Numbers expected =
      rounded(shape.sums(Convolution::BackwardInput, gradient, weight),
              ElementType::F16);
  Numbers sum(shape.inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] = input[i] > 0 ? expected[i] : 0;
    sum[i % shape.inputs] += expected[i];
  }
  auto results = run(program, std::vector<Numbers>{gradient, weight, input});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0], expected);
  for (int64_t c = 0; c < shape.inputs; ++c)
    EXPECT_NEAR(results[1][c], sum[c], 1e-5 * expected.size()) << c;
}

// What clipping needs, and a term of the weight's own.
TEST_P(ConvolutionEpilogue, sumsSquaresOfTheGradientOfTheWeight) {
  std::string wide = as(w, "f32");
  Program program = compileBody(
      Convolution::BackwardWeight, "%g: " + y + ", %x: " + x + ", %w: " + wide,
      wide + ", tensor<f32>",
      "  %0 = mp.conv2d_backward_weight %g, %x " + size(shape.window) +
          types(y, x) + "\n  %1 = mp.cast %0 : " + w + " to " + wide +
          "\n  %2 = mp.add %1, %w : " + wide + ", " + wide +
          "\n  %3 = mp.mul %2, %2 : " + wide + ", " + wide +
          "\n  %4 = mp.sum %3 dims[0, 1, 2, 3] : " + wide +
          "\n  return %2, %4");
  Numbers expected =
      rounded(shape.sums(Convolution::BackwardWeight, gradient, input),
              ElementType::F16);
  double squares = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] += weight[i];
    squares += expected[i] * expected[i];
  }
  auto results = run(program, std::vector<Numbers>{gradient, input, weight});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0], expected);
  EXPECT_NEAR(results[1][0], squares, 1e-6 * squares);
}

class ConvolutionColumns : public EmulatedProgram {};

// A row of the product is several rows of the weight: sums over its outputs are
// not the kernel's.
TEST_F(ConvolutionColumns, ofAWeightAreSummedByAnotherKernel) {
  ConvolutionCase shape =
      ConvolutionCase("f32", {2, 5, 6, 8}, {12, 3, 3}).padded(1);
  std::string x = shape.inputType(), y = shape.outputType(),
              w = shape.weightType();
  Program program = compileForCuda(
      "func.func @f(%g: " + y + ", %x: " + x + ") -> (" + w +
          ", tensor<8xf32>) {\n  %0 = mp.conv2d_backward_weight %g, %x "
          "size[3, 3]" +
          shape.attributes() + " : " + y + ", " + x +
          "\n  %1 = mp.sum %0 dims[0, 1, 2] : " + w +
          "\n  return %0, %1 : " + w + ", tensor<8xf32>\n}\n",
      "");
  Numbers gradient = randomNumbers(shape.outputCount(), 1),
          input = randomNumbers(shape.inputCount(), 2), columns(8);
  Numbers expected = shape.sums(Convolution::BackwardWeight, gradient, input);
  for (size_t i = 0; i < expected.size(); ++i)
    columns[i % 8] += expected[i];
  auto results = run(program, std::vector<Numbers>{gradient, input});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0], expected);
  EXPECT_EQ(results[1], columns);
}

#define SMALL "64x64x32 stages 4 warps 2x2 resident 2"
using Case = ConvolutionCase;

INSTANTIATE_TEST_SUITE_P(
    Sizes, ConvolutionEpilogue,
    testing::Values(
        Case("f16", {2, 9, 9, 16}, {72, 3, 3}).padded(1).by(SMALL),
        Case("f16", {2, 9, 9, 72}, {16, 3, 3}).padded(1).by(SMALL, 3),
        Case("f16", {1, 11, 12, 7}, {5, 3, 3})
            .strided(2, 2)
            .padded(1)
            .by(SMALL),
        Case("f16", {2, 8, 7, 24}, {48, 3, 3}).padded(1).grouped(3).by(SMALL),
        Case("f16", {2, 9, 7, 40}, {40, 3, 3})
            .strided(2, 1)
            .padded(1)
            .grouped(2)
            .by(SMALL, 2),
        Case("f16", {2, 7, 7, 140}, {70, 3, 2}).grouped(2).by(SMALL),
        Case("f16", {1, 12, 13, 16}, {16, 3, 3})
            .padded(1)
            .by("128x16x64 stages 3 warps 4x1 resident 2"),
        Case("f16", {1, 7, 7, 72}, {72, 3, 3})
            .strided(2, 1)
            .padded(1)
            .grouped(72)));

} // namespace
