//===- stage-emitter-test.cpp - stage kernels against loops in C++ --------===//
//
// Sizes around that of a vector, all schedules, results in place, and one task
// against many.
//
//===----------------------------------------------------------------------===//
#include "StageTexts.h"
#include "codegen/Backend.h"
#include "codegen/stages/InPlace.h"

#include <cmath>

using namespace mp::cpu;

namespace {

const int64_t lengths[] = {1,  2,  15, 16, 17,  31,   32,   33,
                           63, 64, 65, 97, 251, 1009, 40009};

void expectNear(const std::vector<float> &got, const std::vector<double> &want,
                double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst,
                     std::abs(got[i] - want[i]) / (std::abs(want[i]) + 1e-3));
  EXPECT_LE(worst, tolerance);
}

} // namespace

TEST(StageEmitter, ComputesLinesOfAnyLength) {
  for (int64_t n : lengths) {
    StageKernel kernel(fill(R"(
      func.func @f(%x: tensor<$Nxf32>, %s: tensor<f32>) -> (tensor<$Nxf32>, tensor<$Nxi1>, tensor<$Nxf32>) {
        %e = tensor.empty() : tensor<$Nxf32>
        %eb = tensor.empty() : tensor<$Nxi1>
        %zero = arith.constant 0.0 : f32
        %r:3 = linalg.generic {indexing_maps = [$line, affine_map<(d0) -> ()>, $line, $line, $line],
            iterator_types = ["parallel"]} ins(%x, %s : tensor<$Nxf32>, tensor<f32>)
            outs(%e, %eb, %e : tensor<$Nxf32>, tensor<$Nxi1>, tensor<$Nxf32>) {
          ^bb0(%a: f32, %b: f32, %o0: f32, %o1: i1, %o2: f32):
            %i = linalg.index 0 : index
            %j = arith.index_cast %i : index to i32
            %k = arith.sitofp %j : i32 to f32
            %m = arith.mulf %a, %b : f32
            %p = arith.addf %m, %k : f32
            %g = arith.cmpf ogt, %a, %zero : f32
            linalg.yield %p, %g, %m : f32, i1, f32
        } -> (tensor<$Nxf32>, tensor<$Nxi1>, tensor<$Nxf32>)
        return %r#0, %r#1, %r#2 : tensor<$Nxf32>, tensor<$Nxi1>, tensor<$Nxf32>
      })",
                            {{"$N", text(n)}, {"$line", line}}));
    std::vector<float> x = random(n), p(n + 1, 99), m(n + 1, 99);
    std::vector<uint8_t> g(n + 1, 99);
    float s = 1.5;
    kernel.run({x.data(), &s}, {p.data(), g.data(), m.data()});
    EXPECT_EQ(kernel.undefined(), std::vector<std::string>());
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(p[i], x[i] * s + float(i)) << "element " << i << " of " << n;
      ASSERT_EQ(g[i], x[i] > 0);
      ASSERT_EQ(m[i], x[i] * s);
    }
    EXPECT_EQ(p[n], 99);
    EXPECT_EQ(g[n], 99);
  }
}

TEST(StageEmitter, SharesAnObjectAmongLengths) {
  auto symbol = [](int64_t n) {
    StageKernel kernel(fill(R"(
      func.func @f(%x: tensor<$Nxf32>) -> tensor<$Nxf32> {
        %e = tensor.empty() : tensor<$Nxf32>
        %r = linalg.generic {indexing_maps = [$line, $line], iterator_types = ["parallel"]}
            ins(%x : tensor<$Nxf32>) outs(%e : tensor<$Nxf32>) {
          ^bb0(%a: f32, %o: f32):
            %m = arith.addf %a, %a : f32
            linalg.yield %m : f32
        } -> tensor<$Nxf32>
        return %r : tensor<$Nxf32>
      })",
                            {{"$N", text(n)}, {"$line", line}}));
    return kernel.kernel.launches.front().symbol;
  };
  EXPECT_EQ(symbol(1000), symbol(12345));
}

TEST(StageEmitter, ReducesRowsAndReadsThemBack) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1},
                               {3, 10},
                               {5, 16},
                               {7, 17},
                               {4, 32},
                               {3, 33},
                               {2, 64},
                               {128, 10},
                               {9, 251},
                               {70, 1009}}) {
    StageKernel kernel(softmax(rows, columns));
    EXPECT_EQ(kernel.kernel.launches.size(), 1u);
    EXPECT_EQ(kernel.undefined(), std::vector<std::string>());
    std::vector<float> x = random(rows * columns, -5, 5), y(x.size()), z = x;
    kernel.run({x.data()}, {y.data()});
    std::vector<double> want(x.size());
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < columns; ++c)
        sum += want[r * columns + c] = std::exp(double(x[r * columns + c]));
      for (int64_t c = 0; c < columns; ++c)
        want[r * columns + c] /= sum;
    }
    expectNear(y, want, 2e-6);
    // The same bits result in place, and as one task.
    EXPECT_TRUE(mp::allowsInPlace(kernel.body(), 0, 0));
    kernel.run({z.data()}, {z.data()}, true);
    EXPECT_EQ(y, z);
  }
}

TEST(StageEmitter, SumsColumnsAndGoesOn) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1},
                               {5, 3},
                               {128, 10},
                               {64, 256},
                               {97, 33},
                               {513, 31},
                               {1031, 40},
                               {2000, 1024},
                               {3001, 771},
                               {70000, 1}}) {
    StageKernel kernel(columnSum(rows, columns));
    EXPECT_EQ(kernel.undefined(), std::vector<std::string>());
    std::vector<float> x = random(rows * columns), start = random(columns),
                       sum(columns), y(x.size()), again(columns);
    kernel.run({x.data(), start.data()}, {sum.data(), y.data()});
    std::vector<double> want(start.begin(), start.end());
    for (int64_t i = 0; i < rows * columns; ++i) {
      ASSERT_EQ(y[i], x[i] * x[i]);
      want[i % columns] += y[i];
    }
    for (double &value : want)
      value /= 2;
    expectNear(sum, want, 2e-5);
    kernel.run({x.data(), start.data()}, {again.data(), y.data()}, true);
    EXPECT_EQ(sum, again);
  }
}

namespace {

struct AdamState {
  std::vector<float> p, m, v;
  std::vector<uint16_t> g, h;
  float step = 3;
  uint8_t apply = 1;
  explicit AdamState(size_t n)
      : p(random(n, -1, 1, 2)), m(random(n, -1, 1, 3)), v(random(n, 0, 1, 4)),
        g(n), h(n, 7) {
    for (size_t i = 0; i < n; ++i)
      g[i] = 0x3800 + i % 0x400; // 0.5 to 1
  }
  void run(StageKernel &kernel, bool oneTask) {
    kernel.run({p.data(), g.data(), m.data(), v.data(), &step, &apply},
               {p.data(), m.data(), v.data(), h.data(), &step}, oneTask);
  }
};

} // namespace

TEST(StageEmitter, NormalisesRowsAndSumsTheirColumns) {
  for (auto [rows, columns] :
       {std::pair<int64_t, int64_t>{4, 10}, {33, 64}, {65, 97}, {700, 129}}) {
    StageKernel kernel(layerNorm(rows, columns));
    EXPECT_EQ(kernel.undefined(), std::vector<std::string>());
    std::vector<float> values = random(rows * columns), g = random(columns),
                       rstd(rows), sums(columns);
    std::vector<uint16_t> x(values.size()), y(x.size());
    llvm::transform(values, x.begin(), toBF16);
    kernel.run({x.data(), g.data()}, {y.data(), rstd.data(), sums.data()});
    std::vector<double> wantRstd(rows), wantSums(columns);
    for (int64_t r = 0; r < rows; ++r) {
      double mean = 0, variance = 0;
      for (int64_t c = 0; c < columns; ++c)
        mean += fromBF16(x[r * columns + c]) / columns;
      for (int64_t c = 0; c < columns; ++c)
        variance += std::pow(fromBF16(x[r * columns + c]) - mean, 2) / columns;
      wantRstd[r] = 1 / std::sqrt(variance + 1e-5);
      for (int64_t c = 0; c < columns; ++c) {
        double want =
            (fromBF16(x[r * columns + c]) - mean) * wantRstd[r] * g[c];
        float got = fromBF16(y[r * columns + c]);
        ASSERT_NEAR(got, want, std::abs(want) / 250 + 1e-5);
        wantSums[c] += got;
      }
    }
    expectNear(rstd, wantRstd, 1e-5);
    for (int64_t c = 0; c < columns; ++c)
      EXPECT_NEAR(sums[c], wantSums[c], 1e-4);
    std::vector<float> again(columns);
    kernel.run({x.data(), g.data()}, {x.data(), rstd.data(), again.data()},
               true);
    EXPECT_TRUE(mp::allowsInPlace(kernel.body(), 0, 0));
    EXPECT_EQ(x, y);
    EXPECT_EQ(sums, again);
  }
}

TEST(StageEmitter, UpdatesInPlaceUnlessTold) {
  for (int64_t n : {1, 31, 33, 1000, 100003}) {
    StageKernel kernel(adamw(n), /*predicated=*/true);
    EXPECT_EQ(kernel.undefined(), std::vector<std::string>());
    EXPECT_TRUE(mp::allowsInPlace(kernel.body(), 0, 0));
    EXPECT_TRUE(mp::allowsInPlace(kernel.body(), 2, 1));
    EXPECT_TRUE(mp::allowsInPlace(kernel.body(), 3, 2));
    EXPECT_TRUE(mp::allowsInPlace(kernel.body(), 4, 4))
        << "the step count is stored last";
    EXPECT_TRUE(mp::allowsInPlace(kernel.body(), 1, 3));
    EXPECT_FALSE(mp::allowsInPlace(kernel.body(), 1, 0)) << "f16 is not f32";
    AdamState before(n), state(n), other(n);
    state.run(kernel, false);
    other.run(kernel, true);
    EXPECT_EQ(state.step, 4);
    for (int64_t i = 0; i < n; ++i) {
      float g = (0x400 + i % 0x400) / 2048.0f;
      float m = before.m[i] * 0.9f + g * 0.1f;
      float v = before.v[i] * 0.999f + (g * g) * 0.001f;
      float p = before.p[i] - m / (std::sqrt(v) + 1e-8f) * (0.01f / 4);
      ASSERT_EQ(state.m[i], m);
      ASSERT_EQ(state.v[i], v);
      ASSERT_EQ(state.p[i], p);
    }
    EXPECT_EQ(state.h, other.h);
    EXPECT_EQ(state.p, other.p);
    AdamState skipped(n);
    skipped.apply = 0;
    skipped.run(kernel, false);
    EXPECT_EQ(skipped.p, before.p);
    EXPECT_EQ(skipped.m, before.m);
    EXPECT_EQ(skipped.h, before.h);
    EXPECT_EQ(skipped.step, 3);
  }
}

TEST(StageEmitter, ReducesToOneValueAndGoesOn) {
  for (int64_t n : {1, 17, 128, 1009, 65536, 300001}) {
    // The results are: whether all are finite, the norm, and every element
    // divided by it.
    StageKernel kernel(finiteNorm(n));
    EXPECT_EQ(kernel.undefined(), std::vector<std::string>());
    std::vector<float> x = random(n), y(n), z(n);
    uint8_t finite = 9;
    float norm, again;
    kernel.run({x.data()}, {&finite, &norm, y.data()});
    double want = 0;
    for (float value : x)
      want += double(value) * value;
    EXPECT_EQ(finite, 1);
    EXPECT_NEAR(norm, std::sqrt(want), std::sqrt(want) * 1e-6);
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(y[i], x[i] / norm);
    x[n - 1] = std::numeric_limits<float>::infinity();
    kernel.run({x.data()}, {&finite, &again, z.data()}, true);
    EXPECT_EQ(finite, 0);
    x[n - 1] = std::numeric_limits<float>::quiet_NaN();
    kernel.run({x.data()}, {&finite, &again, z.data()}, true);
    EXPECT_EQ(finite, 0);
  }
}
