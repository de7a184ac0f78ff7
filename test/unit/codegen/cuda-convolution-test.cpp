//===- cuda-convolution-test.cpp - convolutions for CUDA ------------------===//
//
// mp.conv2d and its gradients on the emulated device, against sums in double.
// Every sum of the operands is exact in f32, so for any order of additions the
// bits must be those of the exact sum rounded once.
//
//===----------------------------------------------------------------------===//
#include "ConvolutionCase.h"
#include "EmulatedProgram.h"

using namespace mp;
using namespace mp::test;

namespace {

class CudaConvolution : public EmulatedProgram,
                        public testing::WithParamInterface<ConvolutionCase> {
protected:
  const ConvolutionCase &shape = GetParam();
  Numbers input = randomNumbers(shape.inputCount(), 1),
          weight = randomNumbers(shape.weightCount(), 2),
          gradient = randomNumbers(shape.outputCount(), 3);

  /// Expects that a function of one op gives the sums of `a` and `b`.
  void expectSums(Convolution op, const Numbers &a, const Numbers &b) {
    Program program = compileForCuda(shape.module(op), shape.plan(op));
    ASSERT_FALSE(program.kernels.empty());
    ASSERT_NE(program.kernels.front().code.find(shape.config),
              std::string::npos)
        << program.kernels.front().code;
    auto results = run(program, std::vector<Numbers>{a, b});
    ASSERT_EQ(results.size(), 1u);
    Numbers expected = rounded(shape.sums(op, a, b), shape.element());
    ASSERT_EQ(results[0].size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(results[0][i], expected[i]) << "element " << i;
  }
};

TEST_P(CudaConvolution, isTheSumRoundedOnce) {
  expectSums(Convolution::Forward, input, weight);
}

TEST_P(CudaConvolution, hasTheGradientOfItsInput) {
  expectSums(Convolution::BackwardInput, gradient, weight);
}

TEST_P(CudaConvolution, hasTheGradientOfItsWeight) {
  expectSums(Convolution::BackwardWeight, gradient, input);
}

#define SMALL_HALF "64x64x32 stages 4 warps 2x2 resident 2"
#define SMALL_F32 "64x64x32 stages 3 warps 2x4 resident 2"
#define SMALL_TF32 "64x64x32 stages 3 warps 2x2 resident 2"

using Case = ConvolutionCase;

// Copies of 16, 8, 4 and 2 bytes, by the channels; all parameters of a window.
INSTANTIATE_TEST_SUITE_P(
    Half, CudaConvolution,
    testing::Values(
        Case("f16", {2, 6, 7, 16}, {24, 3, 3}).padded(1),
        Case("bf16", {1, 9, 8, 12}, {20, 3, 3}).strided(2, 2).padded(1),
        Case("f16", {2, 7, 9, 6}, {10, 5, 3}).strided(2, 1).padded(2, 0, 1, 2),
        Case("bf16", {3, 8, 5, 3}, {7, 3, 2}).strided(3, 2).padded(1, 0, 0, 1),
        Case("f16", {1, 11, 9, 8}, {8, 3, 3}).padded(2, 3, 2, 1).dilated(2, 3),
        // strides and dilations that have a divisor in common
        Case("f16", {1, 12, 13, 4}, {8, 3, 4})
            .strided(2, 6)
            .padded(2, 5, 3, 4)
            .dilated(2, 4),
        // windows smaller than the stride: some pixels have no gradient
        Case("bf16", {2, 7, 8, 8}, {16, 1, 1}).strided(2, 3),
        // strides larger than the image; a window as large as it
        Case("f16", {2, 3, 2, 5}, {4, 2, 2}).strided(7, 5).padded(1, 0, 0, 0),
        Case("f16", {3, 4, 5, 8}, {9, 4, 5}),
        // padding beyond the window: places that see no pixel
        Case("f16", {1, 3, 3, 8}, {8, 2, 2}).padded(3, 4, 5, 3),
        // long windows
        Case("bf16", {1, 5, 9, 2}, {3, 1, 7}).padded(0, 3, 0, 3),
        Case("f16", {1, 12, 12, 3}, {8, 11, 11}).strided(4, 4).padded(2),
        // products
        Case("f16", {2, 3, 5, 16}, {24, 1, 1}),
        Case("bf16", {1, 1, 1, 1}, {1, 1, 1})));

INSTANTIATE_TEST_SUITE_P(
    Groups, CudaConvolution,
    testing::Values(Case("f16", {2, 5, 6, 32}, {48, 3, 3}).padded(1).grouped(2),
                    Case("f16", {1, 6, 5, 10}, {6, 3, 3})
                        .strided(2, 1)
                        .padded(1, 1, 1, 0)
                        .grouped(2),
                    Case("bf16", {1, 5, 4, 9}, {12, 2, 3})
                        .strided(1, 2)
                        .padded(0, 1, 0, 1)
                        .dilated(2, 1)
                        .grouped(3),
                    Case("f16", {2, 5, 5, 8}, {8, 3, 3}).padded(1).grouped(8),
                    Case("f32", {1, 7, 6, 5}, {10, 3, 3})
                        .strided(2, 2)
                        .padded(1, 0, 0, 1)
                        .grouped(5),
                    Case("f32", {1, 4, 4, 8}, {4, 1, 1}).grouped(2)));

// Channels by 16 bytes and fewer, more than a tile of them, windows that are
// larger than a thread's taps, and places that several blocks share.
INSTANTIATE_TEST_SUITE_P(
    Depthwise, CudaConvolution,
    testing::Values(
        Case("f16", {2, 9, 7, 72}, {72, 3, 3}).padded(1).grouped(72),
        Case("f16", {3, 9, 10, 24}, {24, 3, 3}).padded(1).grouped(24),
        Case("bf16", {1, 9, 12, 20}, {20, 3, 3})
            .strided(2, 2)
            .padded(1)
            .grouped(20),
        Case("f32", {2, 12, 11, 36}, {36, 5, 5})
            .strided(1, 3)
            .padded(2, 1, 2, 3)
            .dilated(2, 1)
            .grouped(36),
        Case("f32", {1, 15, 14, 7}, {7, 7, 7})
            .strided(2, 3)
            .padded(3)
            .grouped(7),
        Case("f16", {1, 12, 13, 9}, {9, 9, 8}).padded(4, 3, 4, 4).grouped(9),
        Case("f16", {2, 5, 4, 130}, {130, 1, 1}).strided(2, 3).grouped(130),
        Case("f64", {1, 6, 5, 6}, {6, 3, 3})
            .strided(2, 1)
            .padded(1)
            .grouped(6)));

// All tiles of tensor cores, and more than one of each; shares of k.
INSTANTIATE_TEST_SUITE_P(
    Tiles, CudaConvolution,
    testing::Values(
        Case("f16", {2, 9, 9, 72}, {80, 3, 3}).padded(1).by(SMALL_HALF, 3),
        Case("bf16", {1, 13, 12, 66}, {70, 3, 3})
            .strided(2, 2)
            .padded(1)
            .by(SMALL_HALF, 4),
        Case("f16", {1, 10, 11, 35}, {33, 3, 2})
            .strided(1, 2)
            .padded(1)
            .by(SMALL_HALF, 2),
        Case("f16", {2, 12, 12, 64}, {136, 2, 2})
            .padded(1, 0, 0, 0)
            .by("128x128x32 stages 4 warps 2x2 resident 2", 2),
        Case("f16", {2, 12, 12, 40}, {136, 2, 2})
            .by("256x128x32 stages 4 warps 4x2 resident 1"),
        Case("bf16", {2, 12, 12, 40}, {264, 2, 2})
            .strided(2, 1)
            .by("128x256x32 stages 4 warps 2x4 resident 1"),
        Case("f16", {1, 12, 12, 65}, {40, 2, 2})
            .padded(0, 1, 0, 1)
            .by("128x128x64 stages 3 warps 2x4 resident 1"),
        Case("f16", {1, 12, 12, 34}, {40, 3, 3})
            .padded(0, 1, 0, 1)
            .grouped(2)
            .by("128x32x32 stages 4 warps 4x1 resident 2"),
        Case("bf16", {1, 12, 13, 16}, {16, 3, 3})
            .padded(1)
            .by("128x16x64 stages 3 warps 4x1 resident 2"),
        Case("f16", {1, 8, 8, 34}, {40, 3, 3})
            .padded(0, 1, 0, 1)
            .grouped(2)
            .by("32x128x32 stages 4 warps 1x4 resident 2", 2),
        Case("bf16", {1, 8, 8, 34}, {40, 3, 3})
            .strided(2, 1)
            .padded(0, 1, 0, 1)
            .grouped(2)
            .by("32x64x64 stages 4 warps 2x2 resident 2", 2),
        Case("tf32", {1, 9, 9, 20}, {36, 3, 3}).padded(1).by(SMALL_TF32, 2),
        Case("tf32", {1, 9, 9, 34}, {67, 3, 3})
            .strided(2, 2)
            .padded(1)
            .by("128x64x32 stages 3 warps 4x2 resident 1"),
        Case("f32", {1, 9, 9, 20}, {36, 3, 3}).padded(1).by(SMALL_F32, 2),
        Case("f32", {2, 9, 9, 33}, {67, 3, 3})
            .strided(2, 2)
            .padded(1)
            .by("128x64x32 stages 3 warps 2x4 resident 1")));

INSTANTIATE_TEST_SUITE_P(F64, CudaConvolution,
                         testing::Values(Case("f64", {2, 5, 6, 4}, {6, 3, 2})
                                             .strided(2, 1)
                                             .padded(1, 0, 1, 1)
                                             .grouped(2),
                                         Case("f64", {1, 6, 5, 3}, {4, 2, 2})
                                             .strided(3, 2)
                                             .padded(1, 1, 0, 1)
                                             .dilated(2, 1)));

} // namespace
