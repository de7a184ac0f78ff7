//===- cuda-gemm-test.cpp - matrix products for CUDA ----------------------===//
//
// Matrix products for CUDA, on the emulated device, against sums in double.
// Every sum of the operands is exact in f32, so for any order of additions the
// bits must be those of the exact sum rounded once.
//
//===----------------------------------------------------------------------===//
#include "EmulatedProgram.h"
#include "codegen/cuda/KernelStore.h"
#include "codegen/cuda/contraction/TuneModules.h"
#include <cmath>

using namespace mp;
using namespace mp::cuda;
using namespace mp::test;

namespace {

struct Case {
  const char *shape, *config;
};
void PrintTo(const Case &one, std::ostream *os) {
  *os << one.shape << " by " << one.config;
}

class Product : public EmulatedProgram,
                public testing::WithParamInterface<Case> {
protected:
  // Warpgroups multiply on sm_90 alone.
  static const char *archOf(llvm::StringRef config) {
    return config.ends_with(" wgmma") ? "sm_90" : "sm_80";
  }
  void SetUp() override {
    setenv("MP_EMULATOR_ARCH", archOf(GetParam().config) + strlen("sm_"), 1);
    EmulatedProgram::SetUp();
  }

  static Program compileFor(const std::string &text, const std::string &shape,
                            const std::string &config) {
    CompileOptions options;
    options.goal = Goal::Run;
    options.target = "cuda";
    options.arch = archOf(config);
    if (!config.empty())
      options.plan = "mp.plan 1 " + options.arch + "\ngemm " + shape + " = " +
                     config + "\n";
    auto program = mp::compile(text, options);
    if (!program) {
      ADD_FAILURE() << toString(program.takeError()) << "\n" << text;
      return {};
    }
    return std::move(*program);
  }

  /// The product in double, of operands as the shape has them.
  static Numbers product(const GemmShape &s, const Numbers &a,
                         const Numbers &b) {
    Numbers c(s.batch * s.m * s.n);
    for (int64_t index = 0; index < s.batch; ++index)
      for (int64_t i = 0; i < s.m; ++i)
        for (int64_t j = 0; j < s.n; ++j) {
          const double *x = a.data() + (s.broadcastA ? 0 : index * s.m * s.k);
          const double *y = b.data() + (s.broadcastB ? 0 : index * s.k * s.n);
          double sum = 0;
          for (int64_t k = 0; k < s.k; ++k)
            sum += x[s.transposeA ? k * s.m + i : i * s.k + k] *
                   y[s.transposeB ? j * s.k + k : k * s.n + j];
          c[(index * s.m + i) * s.n + j] = sum;
        }
    return c;
  }
};

TEST_P(Product, isTheSumRoundedOnce) {
  GemmShape shape = llvm::cantFail(GemmShape::parse(GetParam().shape));
  Program program =
      compileFor(moduleOf(shape), GetParam().shape, GetParam().config);
  ASSERT_FALSE(program.kernels.empty());
  int64_t matricesA = shape.broadcastA ? 1 : shape.batch,
          matricesB = shape.broadcastB ? 1 : shape.batch;
  Numbers a = randomNumbers(matricesA * shape.m * shape.k, 1),
          b = randomNumbers(matricesB * shape.k * shape.n, 2);
  auto results = run(program, std::vector<Numbers>{a, b});
  ASSERT_EQ(results.size(), 1u);
  Numbers expected = rounded(product(shape, a, b), shape.type);
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(results[0][i], expected[i])
        << "row " << i / shape.n << ", column " << i % shape.n;
}

#define SMALL_HALF "64x64x32 stages 4 warps 2x2 resident 2 splits "
#define SMALL_F32 "64x64x32 stages 3 warps 2x4 resident 2 splits "
#define SMALL_TF32 "64x64x32 stages 3 warps 2x2 resident 2 splits "

INSTANTIATE_TEST_SUITE_P(
    Half, Product,
    testing::Values(
        // all ways in which operands lie in memory, by copies of 16, 8, 4 and 2
        // bytes
        Case{"f16 nn 1x128x64x64", SMALL_HALF "1"},
        Case{"f16 nt 1x64x128x96", SMALL_HALF "1"},
        Case{"f16 tn 1x72x200x100", SMALL_HALF "1"},
        Case{"f16 tt 1x100x66x130", SMALL_HALF "1"},
        Case{"bf16 nn 1x65x7x129", SMALL_HALF "1"},
        Case{"bf16 nt 1x17x65x33", SMALL_HALF "1"},
        Case{"f16 tn 1x129x1x17", SMALL_HALF "1"},
        Case{"f16 tt 1x1x129x1", SMALL_HALF "1"},
        // the other tiles
        Case{"f16 nt 1x200x300x64",
             "128x128x32 stages 4 warps 2x2 resident 2 splits 1"},
        Case{"f16 nn 1x300x200x40",
             "256x128x32 stages 4 warps 4x2 resident 1 splits 1"},
        Case{"bf16 tn 1x136x264x48",
             "128x256x32 stages 4 warps 2x4 resident 1 splits 1"},
        Case{"f16 tt 1x136x136x200",
             "128x128x64 stages 3 warps 2x4 resident 1 splits 1"},
        Case{"f16 nn 1x130x34x70",
             "128x32x32 stages 4 warps 4x1 resident 2 splits 1"},
        Case{"f16 tt 1x34x130x70",
             "32x128x32 stages 4 warps 1x4 resident 2 splits 1"},
        Case{"f16 tn 1x40x72x136",
             "32x64x64 stages 4 warps 2x2 resident 2 splits 1"},
        Case{"f16 nt 1x140x16x136",
             "128x16x64 stages 3 warps 4x1 resident 2 splits 1"},
        Case{"bf16 tn 1x140x13x70",
             "128x16x64 stages 3 warps 4x1 resident 2 splits 1"},
        // shares of k; the last with fewer tiles
        Case{"f16 nt 1x64x72x160", SMALL_HALF "2"},
        Case{"f16 nn 1x65x7x200", SMALL_HALF "4"},
        Case{"bf16 tn 2x16x24x129", SMALL_HALF "3"},
        // batches
        Case{"f16 nn 3x17x16x8", SMALL_HALF "1"},
        Case{"f16 Nt 3x70x16x40", SMALL_HALF "1"},
        Case{"f16 tN 2x16x33x40", SMALL_HALF "1"}));

INSTANTIATE_TEST_SUITE_P(
    Wgmma, Product,
    testing::Values(
        // all ways in which operands lie in memory, and several panels of each
        Case{"f16 nn 1x128x256x64",
             "128x256x64 stages 4 warps 8x1 resident 1 splits 1 wgmma"},
        Case{"bf16 nt 1x200x300x200",
             "128x256x64 stages 4 warps 8x1 resident 1 splits 1 wgmma"},
        Case{"f16 tn 1x264x136x320",
             "256x128x64 stages 4 warps 8x1 resident 1 splits 1 wgmma"},
        Case{"bf16 tt 1x260x130x70",
             "256x128x64 stages 4 warps 8x1 resident 1 splits 1 wgmma"},
        Case{"f16 tt 1x136x136x520",
             "128x128x64 stages 6 warps 8x1 resident 1 splits 1 wgmma"},
        Case{"bf16 nn 1x130x136x200",
             "128x128x64 stages 3 warps 8x1 resident 2 splits 1 wgmma"},
        Case{"f16 nt 1x72x257x129",
             "64x256x64 stages 4 warps 4x2 resident 1 splits 1 wgmma"},
        Case{"bf16 tn 1x66x264x40",
             "64x256x64 stages 4 warps 4x2 resident 1 splits 1 wgmma"},
        Case{"f16 nn 1x130x70x264",
             "128x64x64 stages 4 warps 8x1 resident 2 splits 1 wgmma"},
        Case{"f16 tn 1x65x129x200",
             "64x128x64 stages 4 warps 4x1 resident 2 splits 1 wgmma"},
        Case{"bf16 tt 1x63x65x1",
             "64x64x64 stages 6 warps 4x1 resident 2 splits 1 wgmma"},
        Case{"f16 nt 1x64x64x64",
             "64x64x64 stages 6 warps 4x1 resident 2 splits 1 wgmma"},
        // shares of k, and batches
        Case{"f16 tn 1x64x72x600",
             "64x64x64 stages 6 warps 4x1 resident 2 splits 3 wgmma"},
        Case{"bf16 nN 3x70x16x136",
             "64x64x64 stages 6 warps 4x1 resident 2 splits 1 wgmma"}));

INSTANTIATE_TEST_SUITE_P(
    F32, Product,
    testing::Values(Case{"f32 nn 1x64x128x64", SMALL_F32 "1"},
                    Case{"f32 nt 1x65x7x129", SMALL_F32 "1"},
                    Case{"f32 tn 1x100x66x33", SMALL_F32 "1"},
                    Case{"f32 tt 1x17x65x100", SMALL_F32 "1"},
                    Case{"f32 nt 2x130x100x70",
                         "128x64x32 stages 3 warps 2x4 resident 1 splits 1"},
                    Case{"f32 tn 1x130x200x40",
                         "128x128x32 stages 2 warps 2x4 resident 1 splits 1"},
                    Case{"f32 nn 1x64x65x129", SMALL_F32 "3"},
                    Case{"tf32 nn 1x64x128x64", SMALL_TF32 "1"},
                    Case{"tf32 nt 1x65x7x129", SMALL_TF32 "1"},
                    Case{"tf32 tn 1x100x66x33", SMALL_TF32 "1"},
                    Case{"tf32 tt 1x17x65x100", SMALL_TF32 "1"},
                    Case{"tf32 tn 1x130x200x70",
                         "128x128x32 stages 3 warps 2x4 resident 1 splits 2"}));

INSTANTIATE_TEST_SUITE_P(F64, Product,
                         testing::Values(Case{"f64 nt 2x33x40x17", ""},
                                         Case{"f64 tn 1x7x65x9", ""},
                                         Case{"f64 nn 1x1x1x1", ""}));

class Sums : public EmulatedProgram {};

// Without tensor cores each step of a sum is an fma, and k runs in order: the
// bits are those of the CPU's generated code.
TEST_F(Sums, areFusedInTheOrderOfK) {
  GemmShape shape;
  shape.m = 65, shape.n = 34, shape.k = 77;
  CompileOptions options;
  options.goal = Goal::Run;
  options.target = "cuda";
  options.plan = "mp.plan 1 sm_80\ngemm " + shape.str() + " = " SMALL_F32 "1\n";
  Program program = llvm::cantFail(mp::compile(moduleOf(shape), options));
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  Numbers a(shape.m * shape.k), b(shape.k * shape.n);
  for (Numbers *numbers : {&a, &b})
    for (double &number : *numbers)
      number = normal(random);
  auto results = run(program, std::vector<Numbers>{a, b});
  for (int64_t i = 0; i < shape.m; ++i)
    for (int64_t j = 0; j < shape.n; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < shape.k; ++k)
        sum = std::fma(static_cast<float>(a[i * shape.k + k]),
                       static_cast<float>(b[k * shape.n + j]), sum);
      ASSERT_EQ(results[0][i * shape.n + j], sum) << i << ", " << j;
    }
}

// No op multiplies integers yet; the kernels do.
TEST_F(Sums, ofIntegersWrap) {
  Program program;
  program.arch = "sm_80";
  program.headers = kernelHeaders();
  Kernel kernel;
  kernel.symbol = "integers";
  kernel.code = R"(
#include "gemm.cuh"
using namespace mp;
struct Product {
  using Element = int;
  static constexpr Path path = Path::Any;
  static constexpr long long batch = 1, m = 33, n = 34, k = 5;
  static constexpr bool transposeA = false, transposeB = true;
  static constexpr bool broadcastA = false, broadcastB = false;
  static constexpr int tileM = 32, tileN = 32, tileK = 32;
  static constexpr int stages = 2, warpsM = 2, warpsN = 4, splits = 1;
};
struct Epilogue {
  static constexpr int width = 2;
  Global<int> c;
  void enter(long long column) {}
  void apply(long long row, long long column, const unsigned (&sums)[width]) {
    for (int i = 0; i < width; ++i)
      c.store(row * 34 + column + i, static_cast<int>(sums[i]));
  }
  void leave(long long, long long, long long, unsigned char *) {}
};
extern "C" __global__ void __launch_bounds__(256, 1)
integers(int *a, int *b, int *c) {
  MP_SHARED_MEMORY(shared);
  Epilogue epilogue{global(c, 33 * 34)};
  multiplyTile<Product>(global(a, 33 * 5), global(b, 34 * 5), epilogue, shared);
})";
  program.kernels.push_back(kernel);
  Entry entry;
  entry.inputs.resize(2);
  entry.inputs[0].type = {ElementType::I32, {33, 5}};
  entry.inputs[1].type = {ElementType::I32, {34, 5}};
  BufferRef c{BufferRef::Space::Arena, 0, 0};
  entry.results = {{"", {ElementType::I32, {33, 34}}, c}};
  entry.arenaBytes = 33 * 34 * 4;
  entry.steps.push_back(Launch{0,
                               4,
                               256,
                               32 * 40 * 4,
                               false,
                               {{BufferRef::Space::Staging, 0, 0},
                                {BufferRef::Space::Staging, 1, 0},
                                c}});
  program.entries.push_back(entry);
  std::mt19937 random(6);
  Numbers a(33 * 5), b(34 * 5);
  for (Numbers *numbers : {&a, &b})
    for (double &number : *numbers)
      number = static_cast<int32_t>(random());
  auto results = run(program, std::vector<Numbers>{a, b});
  for (int i = 0; i < 33; ++i)
    for (int j = 0; j < 34; ++j) {
      uint32_t sum = 0;
      for (int k = 0; k < 5; ++k)
        sum += static_cast<uint32_t>(static_cast<int32_t>(a[i * 5 + k])) *
               static_cast<uint32_t>(static_cast<int32_t>(b[j * 5 + k]));
      ASSERT_EQ(results[0][i * 34 + j], static_cast<int32_t>(sum));
    }
}

} // namespace
