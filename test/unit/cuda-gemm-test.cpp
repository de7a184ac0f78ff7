// Matrix products for CUDA, on the emulated device, against sums in double.
// Operands are such that every sum is exact in f32, so whatever the order of
// additions, the bits must be those of the exact sum rounded once.
#include "EmulatedProgram.h"
#include "codegen/cuda/TunePlan.h"

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
  static Program compileFor(const std::string &text, const std::string &shape,
                            const std::string &config) {
    CompileOptions options;
    options.goal = Goal::Run;
    options.target = "cuda";
    if (!config.empty())
      options.plan = "mp.plan 1 sm_80\ngemm " + shape + " = " + config + "\n";
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
        // shares of k; the last with fewer tiles
        Case{"f16 nt 1x64x72x160", SMALL_HALF "2"},
        Case{"f16 nn 1x65x7x200", SMALL_HALF "4"},
        Case{"bf16 tn 2x16x24x129", SMALL_HALF "3"},
        // batches
        Case{"f16 nn 3x17x16x8", SMALL_HALF "1"},
        Case{"f16 Nt 3x70x16x40", SMALL_HALF "1"},
        Case{"f16 tN 2x16x33x40", SMALL_HALF "1"}));

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

} // namespace
