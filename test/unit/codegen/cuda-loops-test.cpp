//===- cuda-loops-test.cpp - loops that are one kernel on CUDA ------------===//
//
// The emulated device has few multiprocessors, so that the larger cases have
// more tiles of columns than blocks.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "LoopCase.h"
#include "OnBothTargets.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mp;
using namespace mp::test;
using namespace llvm;

namespace {

struct Outcome {
  std::vector<Numbers> results;
  size_t cooperative = 0, repeats = 0;
};

Outcome run(const std::string &text, Device device) {
  Outcome outcome;
  auto function = GoldenFunction::compile(text, "f", device);
  if (!function) {
    ADD_FAILURE() << toString(function.takeError()) << "\n" << text;
    return outcome;
  }
  std::vector<Numbers> inputs;
  for (const Input &input : function->entry().inputs) {
    Numbers &numbers = inputs.emplace_back(input.type.elements());
    // The third input has the weights, by which sums should not grow.
    double scale = inputs.size() == 3 ? std::sqrt(8.0 / numbers.size()) : 1;
    for (auto [i, number] : enumerate(numbers))
      number =
          float(scale * (int64_t((i + inputs.size()) * 37 % 53) / 40.0 - 0.6));
  }
  auto results = (*function)(inputs);
  if (!results)
    ADD_FAILURE() << toString(results.takeError());
  else
    outcome.results = std::move(*results);
  for (const Step &step : function->entry().steps)
    if (const auto *launch = std::get_if<Launch>(&step))
      outcome.cooperative += launch->cooperative;
    else
      outcome.repeats += std::holds_alternative<Repeat>(step);
  return outcome;
}

using Parameters = std::tuple<LoopSizes, const char *>;
class CudaLoops : public testing::TestWithParam<Parameters> {};

TEST_P(CudaLoops, AreOneKernel) {
  auto [sizes, type] = GetParam();
  std::string text = loopText(sizes, type);
  Outcome cuda = run(text, Device{Device::Kind::Cuda, 0}),
          cpu = run(text, Device());
  EXPECT_EQ(cuda.cooperative, 1u);
  EXPECT_EQ(cuda.repeats, 0u);
  EXPECT_EQ(cpu.repeats, 1u);
  ASSERT_EQ(cuda.results.size(), cpu.results.size());
  // Sums are added in another order, and may then round otherwise.
  double tolerance = StringRef(type) == "f32"   ? 1e-5
                     : StringRef(type) == "f16" ? 4e-3
                                                : 3e-2;
  for (auto [got, wanted] : zip_equal(cuda.results, cpu.results))
    for (auto [i, numbers] : enumerate(zip_equal(got, wanted)))
      ASSERT_NEAR(std::get<0>(numbers), std::get<1>(numbers), tolerance)
          << "element " << i;
}

const LoopSizes sizes[] = {
    {1, 7, 5},     {3, 64, 33},    {17, 40, 72},
    {33, 24, 200}, {130, 16, 264}, {256, 8, 16},
};

std::string nameOf(const testing::TestParamInfo<Parameters> &info) {
  auto [sizes, type] = info.param;
  return formatv("{0}x{1}x{2}{3}", sizes.m, sizes.k, sizes.n, type);
}
INSTANTIATE_TEST_SUITE_P(, CudaLoops,
                         testing::Combine(testing::ValuesIn(sizes),
                                          testing::Values("f32", "f16",
                                                          "bf16")),
                         nameOf);

/// Returns the steps of `text` for an architecture that are cooperative.
size_t countCooperative(const std::string &text) {
  CompileOptions options;
  options.goal = Goal::Run;
  options.target = "cuda";
  options.arch = "sm_90";
  Program program = cantFail(compile(text, options));
  return count_if(program.entries.front().steps, [](const Step &step) {
    const auto *launch = std::get_if<Launch>(&step);
    return launch && launch->cooperative;
  });
}

/// Rounds with reductions along rows, down columns and over everything.
std::string reducingText(int64_t rows, int64_t columns) {
  std::string state = formatv("{0}x{1}xf32", rows, columns);
  return formatv(R"(
func.func @f(%xs: tensor<5x{0}>, %h0: tensor<{0}>, %w: tensor<{1}x{1}xf32>)
    -> (tensor<{0}>, tensor<5xf32>, tensor<5x{1}xf32>) {{
  %r:3 = mp.scan carried(%h = %h0 : tensor<{0}>) over(%x = %xs : tensor<5x{0}>)
      -> (tensor<{0}>, tensor<5xf32>, tensor<5x{1}xf32>) {{
    %p = mp.linear %h, %w : tensor<{0}>, tensor<{1}x{1}xf32>
    %q = mp.softmax %p dim(1) : tensor<{0}>
    %s = mp.add %q, %x : tensor<{0}>, tensor<{0}>
    %n = mp.sum %s dims[0, 1] : tensor<{0}>
    %c = mp.sum %s dims[0] : tensor<{0}>
    mp.yield %s, %n, %c : tensor<{0}>, tensor<f32>, tensor<{1}xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<{0}>, tensor<5xf32>, tensor<5x{1}xf32>
})",
                 state, columns);
}

TEST(CudaLoopKernels, Reduce) {
  // Kernels of a round have 64 threads or 128 where rows are few and long; then
  // barriers of theirs would not be those of the loop's kernel.
  constexpr std::tuple<int64_t, int64_t, size_t> cases[] = {
      {8, 64, 1}, {30, 33, 1}, {64, 128, 1}, {2, 300, 0}, {4, 100, 0}};
  for (auto [rows, columns, kernels] : cases) {
    std::string text = reducingText(rows, columns);
    Outcome cuda = run(text, Device{Device::Kind::Cuda, 0}),
            cpu = run(text, Device());
    EXPECT_EQ(cuda.cooperative, kernels) << rows << "x" << columns;
    for (auto [got, wanted] : zip_equal(cuda.results, cpu.results))
      for (auto [a, b] : zip_equal(got, wanted))
        ASSERT_NEAR(a, b, 1e-5 * std::max(1.0, std::abs(double(b))))
            << rows << "x" << columns;
  }
}

// A copy of nothing is no part of a kernel.
TEST(CudaLoopKernels, LeaveOutEmptyCopies) {
  std::string text = R"(
func.func @f(%h0: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<4x3x0xf32>) {
  %a0 = mp.slice %h0 offsets[0, 0] sizes[3, 0] : tensor<3x5xf32>
  %r:3 = mp.scan carried(%h = %h0 : tensor<3x5xf32>, %a = %a0 : tensor<3x0xf32>) length(4)
      -> (tensor<3x5xf32>, tensor<3x0xf32>, tensor<4x3x0xf32>) {
    %s = mp.sin %h : tensor<3x5xf32>
    mp.yield %s, %a, %a : tensor<3x5xf32>, tensor<3x0xf32>, tensor<3x0xf32>
  }
  return %r#0, %r#2 : tensor<3x5xf32>, tensor<4x3x0xf32>
})";
  Outcome cuda = run(text, Device{Device::Kind::Cuda, 0}),
          cpu = run(text, Device());
  EXPECT_EQ(cuda.cooperative, 1u);
  EXPECT_EQ(cuda.results, cpu.results);
}

// Weights that rounds change are none that a block may keep.
TEST(CudaLoopKernels, ReadWeightsThatChange) {
  std::string text = R"(
func.func @f(%xs: tensor<5x4x8xf32>, %h0: tensor<4x8xf32>, %w0: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<8x8xf32>) {
  %r:2 = mp.scan carried(%h = %h0 : tensor<4x8xf32>, %w = %w0 : tensor<8x8xf32>) over(%x = %xs : tensor<5x4x8xf32>)
      -> (tensor<4x8xf32>, tensor<8x8xf32>) {
    %p = mp.linear %h, %w : tensor<4x8xf32>, tensor<8x8xf32>
    %s = mp.add %p, %x : tensor<4x8xf32>, tensor<4x8xf32>
    %t = mp.tanh %s : tensor<4x8xf32>
    %v = mp.sin %w : tensor<8x8xf32>
    mp.yield %t, %v : tensor<4x8xf32>, tensor<8x8xf32>
  }
  return %r#0, %r#1 : tensor<4x8xf32>, tensor<8x8xf32>
})";
  EXPECT_EQ(countCooperative(text), 0u);
  Outcome cuda = run(text, Device{Device::Kind::Cuda, 0}),
          cpu = run(text, Device());
  for (auto [got, wanted] : zip_equal(cuda.results, cpu.results))
    for (auto [a, b] : zip_equal(got, wanted))
      EXPECT_NEAR(a, b, 1e-5);
}

TEST(CudaLoopKernels, KeepWhatFits) {
  EXPECT_EQ(countCooperative(loopText({32, 650, 2600}, "bf16")), 1u);
  // The weights of 8,192 cells do not fit into all shared memory together, and
  // the rows of 512 sequences not into the registers of a block.
  EXPECT_EQ(countCooperative(loopText({32, 2048, 8192}, "bf16")), 0u);
  EXPECT_EQ(countCooperative(loopText({512, 64, 64}, "f32")), 0u);
}

} // namespace
