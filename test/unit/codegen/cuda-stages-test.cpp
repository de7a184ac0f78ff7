//===- cuda-stages-test.cpp - kernels of stages for CUDA ------------------===//
//
// Kernels of stages printed as CUDA C++, on the emulated device, against the
// CPU's: equal bits if nothing is reduced; else within the error of another
// order.
//
//===----------------------------------------------------------------------===//
#include "CudaStageKernel.h"
#include "StageTexts.h"

#include <cmath>

using namespace mp;
using namespace mp::cpu;
using mp::test::CudaStageKernel;

namespace {

class CudaStages : public mp::test::EmulatedDevice {};

void expectNear(const std::vector<float> &got, const std::vector<float> &want,
                float relative) {
  ASSERT_EQ(got.size(), want.size());
  float largest = 0;
  for (float value : want)
    largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], relative * largest) << i;
}

const int64_t sizes[] = {1, 31, 32, 33, 1000, 1023, 5001};

TEST_F(CudaStages, ChainsHaveTheBitsOfTheCpu) {
  for (const char *type : {"f16", "bf16"})
    for (int64_t n : sizes) {
      std::vector<uint16_t> x(n), y(n), want(n), got(n);
      for (int64_t i = 0; i < n; ++i) {
        // The patterns cover every exponent, subnormals and infinities, without
        // NaN.
        x[i] = i * 40503;
        y[i] = i * 25717 + 77;
        uint16_t nan = type[0] == 'f' ? 0x7c00 : 0x7f80;
        if ((x[i] & 0x7fff) > nan)
          x[i] = nan;
        if ((y[i] & 0x7fff) > nan)
          y[i] &= 0x3fff;
      }
      StageKernel(chain(n, type)).run({x.data(), y.data()}, {want.data()});
      CudaStageKernel(chain(n, type)).run({x.data(), y.data()}, {got.data()});
      for (int64_t i = 0; i < n; ++i) {
        bool isNan = (want[i] & 0x7fff) > (type[0] == 'f' ? 0x7c00 : 0x7f80);
        ASSERT_TRUE(
            got[i] == want[i] ||
            (isNan && (got[i] & 0x7fff) > (type[0] == 'f' ? 0x7c00 : 0x7f80)))
            << type << " " << n << " " << i;
      }
    }
}

TEST_F(CudaStages, UpdatesHaveTheBitsOfTheCpuAndMayBeSkipped) {
  for (int64_t n : sizes) {
    std::vector<float> p = random(n, -1, 1, 2), m = random(n, -1, 1, 3),
                       v = random(n, 0, 1, 4);
    std::vector<uint16_t> g(n), h(n, 7);
    for (int64_t i = 0; i < n; ++i)
      g[i] = 0x3800 + i % 0x400;
    float step = 3;
    uint8_t apply = 0;
    CudaStageKernel kernel(adamw(n), /*predicated=*/true);
    auto before = std::tuple(p, m, v, h, step);
    kernel.run({p.data(), g.data(), m.data(), v.data(), &step, &apply},
               {p.data(), m.data(), v.data(), h.data(), &step});
    EXPECT_EQ(std::tuple(p, m, v, h, step), before) << "skipped";
    apply = 1;
    auto wantP = p, wantM = m, wantV = v;
    auto wantH = h;
    float wantStep = step;
    StageKernel(adamw(n), true)
        .run({wantP.data(), g.data(), wantM.data(), wantV.data(), &wantStep,
              &apply},
             {wantP.data(), wantM.data(), wantV.data(), wantH.data(),
              &wantStep});
    EXPECT_TRUE(kernel.allowsInPlace(0, 0));
    kernel.run({p.data(), g.data(), m.data(), v.data(), &step, &apply},
               {p.data(), m.data(), v.data(), h.data(), &step});
    EXPECT_EQ(std::tuple(p, m, v, h, step),
              std::tuple(wantP, wantM, wantV, wantH, wantStep));
  }
}

const std::pair<int64_t, int64_t> matrices[] = {
    {1, 1},    {3, 10},   {128, 10}, {5, 31},   {33, 32},  {7, 33},
    {9, 251},  {40, 256}, {3, 1000}, {2, 768},  {5, 1023}, {2, 4096},
    {3, 5000}, {1, 9001}, {300, 1},  {2, 8192}, {700, 129}};

TEST_F(CudaStages, SoftmaxOfRows) {
  for (auto [rows, columns] : matrices) {
    std::vector<float> x = random(rows * columns, -5, 5), want(x.size()),
                       got(x.size());
    StageKernel(softmax(rows, columns)).run({x.data()}, {want.data()});
    CudaStageKernel kernel(softmax(rows, columns));
    kernel.run({x.data()}, {got.data()});
    expectNear(got, want, 1e-6);
    EXPECT_TRUE(kernel.allowsInPlace(0, 0));
    for (const char *seed : {"0", "3"}) {
      setenv("MP_EMULATOR_SEED", seed, 1);
      std::vector<float> y = x;
      kernel.run({y.data()}, {y.data()});
      EXPECT_EQ(y, got) << "in place, in another order of threads";
    }
    unsetenv("MP_EMULATOR_SEED");
  }
}

TEST_F(CudaStages, SumsOfColumns) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1},
                               {5, 3},
                               {128, 10},
                               {64, 256},
                               {97, 33},
                               {513, 31},
                               {1031, 40},
                               {4100, 64},
                               {5001, 33},
                               {700, 771},
                               {300, 1024},
                               {40, 8200},
                               {17, 20000}}) {
    std::vector<float> x = random(rows * columns), start = random(columns),
                       wantSum(columns), wantY(x.size()), sum(columns),
                       y(x.size());
    StageKernel(columnSum(rows, columns))
        .run({x.data(), start.data()}, {wantSum.data(), wantY.data()});
    CudaStageKernel kernel(columnSum(rows, columns));
    kernel.run({x.data(), start.data()}, {sum.data(), y.data()});
    EXPECT_EQ(y, wantY);
    expectNear(sum, wantSum, 1e-5);
  }
}

TEST_F(CudaStages, LayerNormWithSumsOfColumns) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{4, 10},
                               {33, 64},
                               {65, 97},
                               {700, 129},
                               {50, 768},
                               {9, 5000}}) {
    std::vector<float> values = random(rows * columns), g = random(columns),
                       wantRstd(rows), wantSums(columns), rstd(rows),
                       sums(columns);
    std::vector<uint16_t> x(values.size()), want(x.size()), got(x.size());
    llvm::transform(values, x.begin(), toBF16);
    StageKernel(layerNorm(rows, columns))
        .run({x.data(), g.data()},
             {want.data(), wantRstd.data(), wantSums.data()});
    CudaStageKernel(layerNorm(rows, columns))
        .run({x.data(), g.data()}, {got.data(), rstd.data(), sums.data()});
    expectNear(rstd, wantRstd, 1e-5);
    expectNear(sums, wantSums, 2e-2); // sums of bf16 numbers
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(fromBF16(got[i]), fromBF16(want[i]),
                  std::abs(fromBF16(want[i])) / 100 + 1e-5);
  }
}

TEST_F(CudaStages, TransposesInTiles) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1},
                               {15, 100},
                               {100, 15},
                               {33, 47},
                               {160, 129}}) {
    std::vector<uint16_t> x(rows * columns);
    std::vector<uint8_t> y(x.size());
    std::vector<double> z(rows, -1), want(x.size()), got(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = toBF16(float(i % 251));
      y[i] = i % 3 != 0;
    }
    StageKernel(transposed(rows, columns))
        .run({x.data(), y.data(), z.data()}, {want.data()});
    CudaStageKernel(transposed(rows, columns))
        .run({x.data(), y.data(), z.data()}, {got.data()});
    EXPECT_EQ(got, want) << rows << "x" << columns;
  }
}

TEST_F(CudaStages, TakesAnyMaps) {
  for (auto [b, r, c] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                         {2, 3, 5},
                         {3, 17, 33},
                         {2, 64, 48},
                         {1, 3000, 2}}) {
    std::vector<float> x = random(b * r * c), z = random(c);
    int32_t i = 42;
    struct Results {
      std::vector<float> y, s, copy, zeros;
      int32_t j = 0, k = 0;
    } want{std::vector<float>(x.size()), std::vector<float>(b * c),
           std::vector<float>(x.size()), std::vector<float>(c, 5)},
        got = want;
    auto run = [&](auto kernel, Results &to) {
      kernel.run({x.data(), z.data(), &i},
                 {to.y.data(), to.s.data(), to.copy.data(), &to.j, &to.k,
                  to.zeros.data()});
    };
    run(StageKernel(anyMaps(b, r, c)), want);
    run(CudaStageKernel(anyMaps(b, r, c)), got);
    EXPECT_EQ(got.y, want.y);
    EXPECT_EQ(got.copy, x);
    EXPECT_EQ(got.zeros, want.zeros);
    EXPECT_EQ(std::pair(got.j, got.k), std::pair(i, i));
    expectNear(got.s, want.s, 1e-5);
  }
}

TEST_F(CudaStages, ReducesToOneValueAndGoesOn) {
  for (int64_t n : {1, 17, 128, 1009, 16384, 16385, 300001}) {
    std::vector<float> x = random(n), want(n), got(n);
    uint8_t wantFinite = 9, finite = 9;
    float wantNorm, norm;
    StageKernel(finiteNorm(n))
        .run({x.data()}, {&wantFinite, &wantNorm, want.data()});
    CudaStageKernel kernel(finiteNorm(n));
    kernel.run({x.data()}, {&finite, &norm, got.data()});
    EXPECT_EQ(finite, 1);
    EXPECT_NEAR(norm, wantNorm, wantNorm * 1e-5);
    expectNear(got, want, 1e-5);
    x[n / 2] = INFINITY;
    kernel.run({x.data()}, {&finite, &norm, got.data()});
    EXPECT_EQ(finite, 0);
  }
}

} // namespace
