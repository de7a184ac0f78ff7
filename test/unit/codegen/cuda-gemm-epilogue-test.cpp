//===- cuda-gemm-epilogue-test.cpp - epilogues of products ----------------===//
//
// The epilogue of a product's kernel, on the emulated device: stages after the
// anchor, with one kernel and with shares of k that another adds.
//
//===----------------------------------------------------------------------===//
#include "EmulatedProgram.h"
#include "codegen/cuda/contraction/TunePlan.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mp;
using namespace mp::cuda;
using namespace mp::test;

namespace {

struct Case {
  int64_t m, n, k;
  int splits;
};
void PrintTo(const Case &one, std::ostream *os) {
  *os << one.m << "x" << one.n << "x" << one.k << " splits " << one.splits;
}

class Epilogue : public EmulatedProgram,
                 public testing::WithParamInterface<Case> {
protected:
  int64_t m = GetParam().m, n = GetParam().n, k = GetParam().k;
  Numbers x = randomNumbers(m * k, 1), w = randomNumbers(n * k, 2);

  /// x W^T in double.
  Numbers product() const {
    Numbers c(m * n);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t p = 0; p < k; ++p)
          c[i * n + j] += x[i * k + p] * w[j * k + p];
    return c;
  }

  /// Compiles a function of x, w and more; in its text {0}, {1}, {2} are m, n,
  /// k.
  Program compileText(const char *text, const char *type) {
    CompileOptions options;
    options.goal = Goal::Run;
    options.target = "cuda";
    options.plan =
        llvm::formatv("mp.plan 1 sm_80\ngemm {0} nt 1x{1}x{2}x{3} = {4} "
                      "splits {5}\n",
                      type, m, n, k,
                      llvm::StringRef(type) == "f32"
                          ? "64x64x32 stages 3 warps 2x4 resident 2"
                          : "64x64x32 stages 4 warps 2x2 resident 2",
                      GetParam().splits)
            .str();
    auto program = mp::compile(llvm::formatv(text, m, n, k).str(), options);
    if (program)
      return std::move(*program);
    ADD_FAILURE() << toString(program.takeError());
    return {};
  }

  /// Expects a product with all stages after it in its own kernels, plus
  /// `others`: blocks have 64 x 64 tiles, those that add splits 4096 elements.
  void expectOneProduct(const Program &program, bool reduces,
                        int64_t others = 0) const {
    bool isSplit = GetParam().splits > 1;
    int64_t across =
        isSplit ? std::min<int64_t>(128, llvm::PowerOf2Ceil(n)) : 64;
    bool several = m > 4096 / across || n > across;
    int64_t products = isSplit ? 2 : 1, combining = reduces && several ? 1 : 0;
    ASSERT_FALSE(program.entries.empty());
    EXPECT_EQ(program.entries.front().steps.size(),
              size_t(products + combining + others));
    EXPECT_EQ(llvm::count_if(
                  program.kernels,
                  [](const Kernel &kernel) {
                    return llvm::StringRef(kernel.code).contains("stages.cuh");
                  }),
              combining + others);
  }
};

TEST_P(Epilogue, keepsWhatIsBeforeTheActivation) {
  Program program = compileText(R"(
func.func @f(%x: tensor<{0}x{2}xf16>, %w: tensor<{1}x{2}xf16>, %b: tensor<{1}xf16>)
    -> (tensor<{0}x{1}xf16>, tensor<{0}x{1}xf16>) {{
  %0 = mp.linear %x, %w, %b : tensor<{0}x{2}xf16>, tensor<{1}x{2}xf16>, tensor<{1}xf16>
  %1 = mp.relu %0 : tensor<{0}x{1}xf16>
  return %0, %1 : tensor<{0}x{1}xf16>, tensor<{0}x{1}xf16>
})",
                                "f16");
  ASSERT_NO_FATAL_FAILURE(expectOneProduct(program, false));
  Numbers bias = randomNumbers(n, 3), expected = product();
  for (int64_t i = 0; i < m * n; ++i)
    expected[i] += bias[i % n];
  expected = rounded(expected, ElementType::F16);
  auto results = run(program, std::vector<Numbers>{x, w, bias});
  ASSERT_EQ(results.size(), 2u);
  for (int64_t i = 0; i < m * n; ++i) {
    ASSERT_EQ(results[0][i], expected[i]) << i;
    ASSERT_EQ(results[1][i], std::max(expected[i], 0.0)) << i;
  }
}

TEST_P(Epilogue, addsAResidualAndScales) {
  Program program = compileText(R"(
func.func @f(%x: tensor<{0}x{2}xf32>, %w: tensor<{1}x{2}xf32>, %r: tensor<{0}x{1}xf32>,
             %s: tensor<f32>) -> tensor<{0}x{1}xf16> {{
  %0 = mp.linear %x, %w : tensor<{0}x{2}xf32>, tensor<{1}x{2}xf32>
  %1 = mp.add %0, %r : tensor<{0}x{1}xf32>, tensor<{0}x{1}xf32>
  %2 = mp.mul %1, %s : tensor<{0}x{1}xf32>, tensor<f32>
  %3 = mp.cast %2 : tensor<{0}x{1}xf32> to tensor<{0}x{1}xf16>
  return %3 : tensor<{0}x{1}xf16>
})",
                                "f32");
  ASSERT_NO_FATAL_FAILURE(expectOneProduct(program, false));
  Numbers residual = randomNumbers(m * n, 3), expected = product();
  for (int64_t i = 0; i < m * n; ++i)
    expected[i] = (expected[i] + residual[i]) * 0.375;
  expected = rounded(expected, ElementType::F16);
  auto results =
      run(program, std::vector<Numbers>{x, w, residual, Numbers{0.375}});
  ASSERT_EQ(results.size(), 1u);
  for (int64_t i = 0; i < m * n; ++i)
    ASSERT_EQ(results[0][i], expected[i]) << i;
}

TEST_P(Epilogue, sumsColumnsAndSquares) {
  Program program = compileText(R"(
func.func @f(%x: tensor<{0}x{2}xf32>, %w: tensor<{1}x{2}xf32>)
    -> (tensor<{0}x{1}xf32>, tensor<{1}xf32>, tensor<f32>) {{
  %0 = mp.linear %x, %w : tensor<{0}x{2}xf32>, tensor<{1}x{2}xf32>
  %1 = mp.sum %0 dims[0] : tensor<{0}x{1}xf32>
  %2 = mp.mul %0, %0 : tensor<{0}x{1}xf32>, tensor<{0}x{1}xf32>
  %3 = mp.sum %2 dims[0, 1] : tensor<{0}x{1}xf32>
  return %0, %1, %3 : tensor<{0}x{1}xf32>, tensor<{1}xf32>, tensor<f32>
})",
                                "f32");
  ASSERT_NO_FATAL_FAILURE(expectOneProduct(program, true));
  Numbers expected = product(), columns(n);
  double squares = 0;
  for (int64_t i = 0; i < m * n; ++i) {
    columns[i % n] += expected[i];
    squares += expected[i] * expected[i];
  }
  auto results = run(program, std::vector<Numbers>{x, w});
  ASSERT_EQ(results.size(), 3u);
  for (int64_t i = 0; i < m * n; ++i)
    ASSERT_EQ(results[0][i], expected[i]) << i;
  for (int64_t j = 0; j < n; ++j)
    ASSERT_EQ(results[1][j], columns[j]) << j;
  EXPECT_NEAR(results[2][0], squares, 1e-6 * squares);
}

TEST_P(Epilogue, findsAnOverflow) {
  Program program = compileText(R"(
func.func @f(%x: tensor<{0}x{2}xf16>, %w: tensor<{1}x{2}xf16>, %s: tensor<f32>)
    -> (tensor<{0}x{1}xf32>, tensor<i1>) {{
  %0 = mp.linear %x, %w : tensor<{0}x{2}xf16>, tensor<{1}x{2}xf16>
  %1, %bad = mp.unscale_and_check %0, %s : tensor<{0}x{1}xf16>, tensor<f32>
  return %1, %bad : tensor<{0}x{1}xf32>, tensor<i1>
})",
                                "f16");
  // A launch before it computes the inverse of the scale.
  ASSERT_NO_FATAL_FAILURE(expectOneProduct(program, true, 1));
  Numbers expected = rounded(product(), ElementType::F16);
  auto results = run(program, std::vector<Numbers>{x, w, Numbers{0.5}});
  ASSERT_EQ(results.size(), 2u);
  for (int64_t i = 0; i < m * n; ++i)
    ASSERT_EQ(results[0][i], expected[i] / 0.5) << i;
  EXPECT_EQ(results[1][0], 0);
  // Only the last row's and last column's sum is beyond f16.
  Numbers big = x, heavy = w;
  big.back() = 60000;
  std::fill(heavy.end() - k, heavy.end(), 0);
  heavy.back() = 2;
  for (int64_t j = 0; j + 1 < n; ++j)
    heavy[j * k + k - 1] = 0;
  EXPECT_EQ(run(program, std::vector<Numbers>{big, heavy, Numbers{0.5}})[1][0],
            1);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Epilogue,
                         testing::Values(Case{64, 64, 64, 1},
                                         Case{129, 72, 100, 1},
                                         Case{65, 7, 33, 1},
                                         Case{129, 72, 129, 3},
                                         Case{100, 7, 129, 2}));

} // namespace
