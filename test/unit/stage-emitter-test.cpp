// Stage kernels against loops in C++: sizes about a vector, all schedules,
// results in place, one task against many.
#include "StageKernel.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <random>

using namespace mp::cpu;

namespace {

std::vector<float> random(size_t n, float low = -2, float high = 2,
                          unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(n);
  for (float &value : values)
    value = distribution(engine);
  return values;
}

const int64_t lengths[] = {1,  2,  15, 16, 17,  31,   32,   33,
                           63, 64, 65, 97, 251, 1009, 40009};

const char *relative = "relative error";
void expectNear(const std::vector<float> &got, const std::vector<double> &want,
                double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst,
                     std::abs(got[i] - want[i]) / (std::abs(want[i]) + 1e-3));
  EXPECT_LE(worst, tolerance) << relative;
}

const char *line = "affine_map<(d0) -> (d0)>";
const char *matrix = "affine_map<(d0, d1) -> (d0, d1)>";
const char *rowOf = "affine_map<(d0, d1) -> (d0)>";
const char *columnOf = "affine_map<(d0, d1) -> (d1)>";

std::string text(int64_t value) { return std::to_string(value); }

std::string softmax(int64_t rows, int64_t columns) {
  return fill(R"(
  func.func @softmax(%x: tensor<$Rx$Cxf32>) -> tensor<$Rx$Cxf32> {
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %er = tensor.empty() : tensor<$Rxf32>
    %e = tensor.empty() : tensor<$Rx$Cxf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<$Rxf32>) -> tensor<$Rxf32>
    %m = linalg.generic {indexing_maps = [$matrix, $row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<$Rx$Cxf32>) outs(%m0 : tensor<$Rxf32>) {
      ^bb0(%a: f32, %acc: f32):
        %r = arith.maximumf %a, %acc : f32
        linalg.yield %r : f32
    } -> tensor<$Rxf32>
    %p = linalg.generic {indexing_maps = [$matrix, $row, $matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x, %m : tensor<$Rx$Cxf32>, tensor<$Rxf32>) outs(%e : tensor<$Rx$Cxf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %d = arith.subf %a, %b : f32
        %r = math.exp %d : f32
        linalg.yield %r : f32
    } -> tensor<$Rx$Cxf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%er : tensor<$Rxf32>) -> tensor<$Rxf32>
    %s = linalg.generic {indexing_maps = [$matrix, $row], iterator_types = ["parallel", "reduction"]}
        ins(%p : tensor<$Rx$Cxf32>) outs(%s0 : tensor<$Rxf32>) {
      ^bb0(%a: f32, %acc: f32):
        %r = arith.addf %acc, %a : f32
        linalg.yield %r : f32
    } -> tensor<$Rxf32>
    %q = linalg.generic {indexing_maps = [$matrix, $row, $matrix], iterator_types = ["parallel", "parallel"]}
        ins(%p, %s : tensor<$Rx$Cxf32>, tensor<$Rxf32>) outs(%e : tensor<$Rx$Cxf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %r = arith.divf %a, %b : f32
        linalg.yield %r : f32
    } -> tensor<$Rx$Cxf32>
    return %q : tensor<$Rx$Cxf32>
  })",
              {{"$R", text(rows)},
               {"$C", text(columns)},
               {"$matrix", matrix},
               {"$row", rowOf}});
}

/// Sums of x down the columns (or of everything: `full`), then halved in f32.
std::string columnSum(int64_t rows, int64_t columns) {
  return fill(R"(
  func.func @f(%x: tensor<$Rx$Cxf32>, %start: tensor<$Cxf32>) -> (tensor<$Cxf32>, tensor<$Rx$Cxf32>) {
    %half = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<$Rx$Cxf32>
    %ec = tensor.empty() : tensor<$Cxf32>
    %y = linalg.generic {indexing_maps = [$matrix, $matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<$Rx$Cxf32>) outs(%e : tensor<$Rx$Cxf32>) {
      ^bb0(%a: f32, %o: f32):
        %r = arith.mulf %a, %a : f32
        linalg.yield %r : f32
    } -> tensor<$Rx$Cxf32>
    %s = linalg.generic {indexing_maps = [$matrix, $column], iterator_types = ["reduction", "parallel"]}
        ins(%y : tensor<$Rx$Cxf32>) outs(%start : tensor<$Cxf32>) {
      ^bb0(%a: f32, %acc: f32):
        %r = arith.addf %acc, %a : f32
        linalg.yield %r : f32
    } -> tensor<$Cxf32>
    %h = linalg.generic {indexing_maps = [$line, $line], iterator_types = ["parallel"]}
        ins(%s : tensor<$Cxf32>) outs(%ec : tensor<$Cxf32>) {
      ^bb0(%a: f32, %o: f32):
        %r = arith.mulf %a, %half : f32
        linalg.yield %r : f32
    } -> tensor<$Cxf32>
    return %h, %y : tensor<$Cxf32>, tensor<$Rx$Cxf32>
  })",
              {{"$R", text(rows)},
               {"$C", text(columns)},
               {"$matrix", matrix},
               {"$column", columnOf},
               {"$line", line}});
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
    // In place, and as one task: the same bits.
    EXPECT_TRUE(allowsInPlace(kernel.body(), 0, 0));
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

/// Mean and rstd of rows of bf16, the normalised rows in bf16, and their
/// gradient's column sums: two row reductions that later stages read, a column
/// reduction of what they make, all in one kernel.
std::string layerNorm(int64_t rows, int64_t columns) {
  return fill(R"(
  func.func @f(%x: tensor<$Rx$Cxbf16>, %g: tensor<$Cxf32>)
      -> (tensor<$Rx$Cxbf16>, tensor<$Rxf32>, tensor<$Cxf32>) {
    %zero = arith.constant 0.0 : f32
    %er = tensor.empty() : tensor<$Rxf32>
    %ec = tensor.empty() : tensor<$Cxf32>
    %e = tensor.empty() : tensor<$Rx$Cxbf16>
    %z = linalg.fill ins(%zero : f32) outs(%er : tensor<$Rxf32>) -> tensor<$Rxf32>
    %zc = linalg.fill ins(%zero : f32) outs(%ec : tensor<$Cxf32>) -> tensor<$Cxf32>
    %n = arith.constant $C.0 : f32
    %eps = arith.constant 1.0e-5 : f32
    %one = arith.constant 1.0 : f32
    %s = linalg.generic {indexing_maps = [$matrix, $row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<$Rx$Cxbf16>) outs(%z : tensor<$Rxf32>) {
      ^bb0(%a: bf16, %acc: f32):
        %w = arith.extf %a : bf16 to f32
        %r = arith.addf %acc, %w : f32
        linalg.yield %r : f32
    } -> tensor<$Rxf32>
    %mean = linalg.generic {indexing_maps = [$line, $line], iterator_types = ["parallel"]}
        ins(%s : tensor<$Rxf32>) outs(%er : tensor<$Rxf32>) {
      ^bb0(%a: f32, %o: f32):
        %r = arith.divf %a, %n : f32
        linalg.yield %r : f32
    } -> tensor<$Rxf32>
    %v = linalg.generic {indexing_maps = [$matrix, $row, $row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %mean : tensor<$Rx$Cxbf16>, tensor<$Rxf32>) outs(%z : tensor<$Rxf32>) {
      ^bb0(%a: bf16, %m: f32, %acc: f32):
        %w = arith.extf %a : bf16 to f32
        %d = arith.subf %w, %m : f32
        %q = arith.mulf %d, %d : f32
        %r = arith.addf %acc, %q : f32
        linalg.yield %r : f32
    } -> tensor<$Rxf32>
    %rstd = linalg.generic {indexing_maps = [$line, $line], iterator_types = ["parallel"]}
        ins(%v : tensor<$Rxf32>) outs(%er : tensor<$Rxf32>) {
      ^bb0(%a: f32, %o: f32):
        %m = arith.divf %a, %n : f32
        %p = arith.addf %m, %eps : f32
        %q = math.sqrt %p : f32
        %r = arith.divf %one, %q : f32
        linalg.yield %r : f32
    } -> tensor<$Rxf32>
    %y = linalg.generic {indexing_maps = [$matrix, $row, $row, $column, $matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x, %mean, %rstd, %g : tensor<$Rx$Cxbf16>, tensor<$Rxf32>, tensor<$Rxf32>, tensor<$Cxf32>)
        outs(%e : tensor<$Rx$Cxbf16>) {
      ^bb0(%a: bf16, %m: f32, %t: f32, %b: f32, %o: bf16):
        %w = arith.extf %a : bf16 to f32
        %d = arith.subf %w, %m : f32
        %q = arith.mulf %d, %t : f32
        %u = arith.mulf %q, %b : f32
        %r = arith.truncf %u : f32 to bf16
        linalg.yield %r : bf16
    } -> tensor<$Rx$Cxbf16>
    %c = linalg.generic {indexing_maps = [$matrix, $column], iterator_types = ["reduction", "parallel"]}
        ins(%y : tensor<$Rx$Cxbf16>) outs(%zc : tensor<$Cxf32>) {
      ^bb0(%a: bf16, %acc: f32):
        %w = arith.extf %a : bf16 to f32
        %r = arith.addf %acc, %w : f32
        linalg.yield %r : f32
    } -> tensor<$Cxf32>
    return %y, %rstd, %c : tensor<$Rx$Cxbf16>, tensor<$Rxf32>, tensor<$Cxf32>
  })",
              {{"$R", text(rows)},
               {"$C", text(columns)},
               {"$matrix", matrix},
               {"$row", rowOf},
               {"$column", columnOf},
               {"$line", line}});
}

float fromBF16(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}
uint16_t toBF16(float x) {
  llvm::APFloat value(x);
  bool losesInfo;
  value.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.bitcastToAPInt().getZExtValue();
}

/// AdamW on f32 state with a master, its f16 copy and a global step count.
std::string adamw(int64_t n) {
  return fill(R"(
  func.func @f(%p: tensor<$Nxf32>, %g: tensor<$Nxf16>, %m: tensor<$Nxf32>, %v: tensor<$Nxf32>,
      %step: tensor<f32>, %apply: tensor<i1>)
      -> (tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf16>, tensor<f32>) {
    %one = arith.constant 1.0 : f32
    %e0 = tensor.empty() : tensor<f32>
    %e = tensor.empty() : tensor<$Nxf32>
    %eh = tensor.empty() : tensor<$Nxf16>
    %next = linalg.generic {indexing_maps = [$none, $none], iterator_types = []}
        ins(%step : tensor<f32>) outs(%e0 : tensor<f32>) {
      ^bb0(%a: f32, %o: f32):
        %r = arith.addf %a, %one : f32
        linalg.yield %r : f32
    } -> tensor<f32>
    %lr = linalg.generic {indexing_maps = [$none, $none], iterator_types = []}
        ins(%next : tensor<f32>) outs(%e0 : tensor<f32>) {
      ^bb0(%a: f32, %o: f32):
        %k = arith.constant 0.01 : f32
        %r = arith.divf %k, %a : f32
        linalg.yield %r : f32
    } -> tensor<f32>
    %u:4 = linalg.generic {indexing_maps = [$line, $line, $line, $line, $scalar, $line, $line, $line, $line],
        iterator_types = ["parallel"]}
        ins(%p, %g, %m, %v, %lr : tensor<$Nxf32>, tensor<$Nxf16>, tensor<$Nxf32>, tensor<$Nxf32>, tensor<f32>)
        outs(%e, %e, %e, %eh : tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf16>) {
      ^bb0(%w: f32, %h: f16, %a: f32, %b: f32, %l: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f16):
        %b1 = arith.constant 0.9 : f32
        %c1 = arith.constant 0.1 : f32
        %b2 = arith.constant 0.999 : f32
        %c2 = arith.constant 0.001 : f32
        %eps = arith.constant 1.0e-8 : f32
        %gr = arith.extf %h : f16 to f32
        %m0 = arith.mulf %a, %b1 : f32
        %m1 = arith.mulf %gr, %c1 : f32
        %mn = arith.addf %m0, %m1 : f32
        %v0 = arith.mulf %b, %b2 : f32
        %g2 = arith.mulf %gr, %gr : f32
        %v1 = arith.mulf %g2, %c2 : f32
        %vn = arith.addf %v0, %v1 : f32
        %sq = math.sqrt %vn : f32
        %de = arith.addf %sq, %eps : f32
        %up = arith.divf %mn, %de : f32
        %st = arith.mulf %up, %l : f32
        %wn = arith.subf %w, %st : f32
        %wh = arith.truncf %wn : f32 to f16
        linalg.yield %wn, %mn, %vn, %wh : f32, f32, f32, f16
    } -> (tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf16>)
    return %u#0, %u#1, %u#2, %u#3, %next : tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf16>, tensor<f32>
  })",
              {{"$N", text(n)},
               {"$line", line},
               {"$none", "affine_map<() -> ()>"},
               {"$scalar", "affine_map<(d0) -> ()>"}});
}

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
    EXPECT_TRUE(allowsInPlace(kernel.body(), 0, 0));
    EXPECT_EQ(x, y);
    EXPECT_EQ(sums, again);
  }
}

TEST(StageEmitter, UpdatesInPlaceUnlessTold) {
  for (int64_t n : {1, 31, 33, 1000, 100003}) {
    StageKernel kernel(adamw(n), /*predicated=*/true);
    EXPECT_EQ(kernel.undefined(), std::vector<std::string>());
    EXPECT_TRUE(allowsInPlace(kernel.body(), 0, 0));
    EXPECT_TRUE(allowsInPlace(kernel.body(), 2, 1));
    EXPECT_TRUE(allowsInPlace(kernel.body(), 3, 2));
    EXPECT_TRUE(allowsInPlace(kernel.body(), 4, 4))
        << "the step count is stored last";
    EXPECT_TRUE(allowsInPlace(kernel.body(), 1, 3));
    EXPECT_FALSE(allowsInPlace(kernel.body(), 1, 0)) << "f16 is not f32";
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
    // All finite? And the norm, and every element divided by it.
    StageKernel kernel(fill(R"(
      func.func @f(%x: tensor<$Nxf32>) -> (tensor<i1>, tensor<f32>, tensor<$Nxf32>) {
        %true = arith.constant true
        %inf = arith.constant 0x7F800000 : f32
        %zero = arith.constant 0.0 : f32
        %eb = tensor.empty() : tensor<i1>
        %ef = tensor.empty() : tensor<f32>
        %e = tensor.empty() : tensor<$Nxf32>
        %b0 = linalg.fill ins(%true : i1) outs(%eb : tensor<i1>) -> tensor<i1>
        %f0 = linalg.fill ins(%zero : f32) outs(%ef : tensor<f32>) -> tensor<f32>
        %r:2 = linalg.generic {indexing_maps = [$line, $scalar, $scalar], iterator_types = ["reduction"]}
            ins(%x : tensor<$Nxf32>) outs(%b0, %f0 : tensor<i1>, tensor<f32>) {
          ^bb0(%a: f32, %b: i1, %s: f32):
            %abs = math.absf %a : f32
            %fin = arith.cmpf olt, %abs, %inf : f32
            %and = arith.andi %fin, %b : i1
            %sq = arith.mulf %a, %a : f32
            %sum = arith.addf %sq, %s : f32
            linalg.yield %and, %sum : i1, f32
        } -> (tensor<i1>, tensor<f32>)
        %norm = linalg.generic {indexing_maps = [$none, $none], iterator_types = []}
            ins(%r#1 : tensor<f32>) outs(%ef : tensor<f32>) {
          ^bb0(%a: f32, %o: f32):
            %q = math.sqrt %a : f32
            linalg.yield %q : f32
        } -> tensor<f32>
        %y = linalg.generic {indexing_maps = [$line, $scalar, $line], iterator_types = ["parallel"]}
            ins(%x, %norm : tensor<$Nxf32>, tensor<f32>) outs(%e : tensor<$Nxf32>) {
          ^bb0(%a: f32, %b: f32, %o: f32):
            %q = arith.divf %a, %b : f32
            linalg.yield %q : f32
        } -> tensor<$Nxf32>
        return %r#0, %norm, %y : tensor<i1>, tensor<f32>, tensor<$Nxf32>
      })",
                            {{"$N", text(n)},
                             {"$line", line},
                             {"$none", "affine_map<() -> ()>"},
                             {"$scalar", "affine_map<(d0) -> ()>"}}));
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

TEST(StageEmitter, TakesAnyMaps) {
  // y[b, c, r] = x[b, r, c] + z[c], and sums over the middle dimension of x.
  for (auto [b, r, c] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                         {2, 3, 5},
                         {3, 17, 33},
                         {2, 64, 48}}) {
    StageKernel kernel(
        fill(R"(
      func.func @f(%x: tensor<$Bx$Rx$Cxf32>, %z: tensor<$Cxf32>, %i: tensor<i32>)
          -> (tensor<$Bx$Cx$Rxf32>, tensor<$Bx$Cxf32>, tensor<$Bx$Rx$Cxf32>, tensor<i32>, tensor<i32>, tensor<$Cxf32>) {
        %zero = arith.constant 0.0 : f32
        %e = tensor.empty() : tensor<$Bx$Cx$Rxf32>
        %es = tensor.empty() : tensor<$Bx$Cxf32>
        %ez = tensor.empty() : tensor<$Cxf32>
        %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<$Bx$Cxf32>) -> tensor<$Bx$Cxf32>
        %c0 = linalg.fill ins(%zero : f32) outs(%ez : tensor<$Cxf32>) -> tensor<$Cxf32>
        %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>,
            affine_map<(d0, d1, d2) -> (d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
            iterator_types = ["parallel", "parallel", "parallel"]}
            ins(%x, %z : tensor<$Bx$Rx$Cxf32>, tensor<$Cxf32>) outs(%e : tensor<$Bx$Cx$Rxf32>) {
          ^bb0(%a: f32, %q: f32, %o: f32):
            %t = arith.addf %a, %q : f32
            linalg.yield %t : f32
        } -> tensor<$Bx$Cx$Rxf32>
        %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>,
            affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
            ins(%x : tensor<$Bx$Rx$Cxf32>) outs(%s0 : tensor<$Bx$Cxf32>) {
          ^bb0(%a: f32, %acc: f32):
            %t = arith.addf %acc, %a : f32
            linalg.yield %t : f32
        } -> tensor<$Bx$Cxf32>
        return %y, %s, %x, %i, %i, %c0 : tensor<$Bx$Cx$Rxf32>, tensor<$Bx$Cxf32>, tensor<$Bx$Rx$Cxf32>, tensor<i32>, tensor<i32>, tensor<$Cxf32>
      })",
             {{"$B", text(b)}, {"$R", text(r)}, {"$C", text(c)}}));
    EXPECT_EQ(kernel.undefined(), std::vector<std::string>());
    EXPECT_FALSE(allowsInPlace(kernel.body(), 0, 2)) << "another stage reads x";
    std::vector<float> x = random(b * r * c), z = random(c), y(x.size()),
                       s(b * c), copy(x.size()), zeros(c, 5);
    int32_t i = 42, j = 0, k = 0;
    kernel.run({x.data(), z.data(), &i},
               {y.data(), s.data(), copy.data(), &j, &k, zeros.data()});
    for (int64_t d = 0; d < b; ++d)
      for (int64_t m = 0; m < c; ++m) {
        float sum = 0;
        for (int64_t q = 0; q < r; ++q) {
          float from = x[(d * r + q) * c + m];
          sum += from;
          ASSERT_EQ(y[(d * c + m) * r + q], from + z[m]);
        }
        ASSERT_EQ(s[d * c + m], sum);
      }
    EXPECT_EQ(copy, x);
    EXPECT_EQ(j, 42);
    EXPECT_EQ(k, 42);
    EXPECT_EQ(zeros, std::vector<float>(c));
  }
}

namespace {

/// max(x * y + y, 0) rounded to `type` after each step.
std::string chain(int64_t n, const char *type) {
  return fill(R"(
  func.func @f(%x: tensor<$Nx$T>, %y: tensor<$Nx$T>) -> tensor<$Nx$T> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<$Nx$T>
    %p = linalg.generic {indexing_maps = [$line, $line, $line], iterator_types = ["parallel"]}
        ins(%x, %y : tensor<$Nx$T>, tensor<$Nx$T>) outs(%e : tensor<$Nx$T>) {
      ^bb0(%a: $T, %b: $T, %o: $T):
        %a0 = arith.extf %a : $T to f32
        %b0 = arith.extf %b : $T to f32
        %m = arith.mulf %a0, %b0 : f32
        %r = arith.truncf %m : f32 to $T
        linalg.yield %r : $T
    } -> tensor<$Nx$T>
    %q = linalg.generic {indexing_maps = [$line, $line, $line], iterator_types = ["parallel"]}
        ins(%p, %y : tensor<$Nx$T>, tensor<$Nx$T>) outs(%e : tensor<$Nx$T>) {
      ^bb0(%a: $T, %b: $T, %o: $T):
        %a0 = arith.extf %a : $T to f32
        %b0 = arith.extf %b : $T to f32
        %m = arith.addf %a0, %b0 : f32
        %r = arith.truncf %m : f32 to $T
        linalg.yield %r : $T
    } -> tensor<$Nx$T>
    %s = linalg.generic {indexing_maps = [$line, $line], iterator_types = ["parallel"]}
        ins(%q : tensor<$Nx$T>) outs(%e : tensor<$Nx$T>) {
      ^bb0(%a: $T, %o: $T):
        %a0 = arith.extf %a : $T to f32
        %m = arith.maximumf %a0, %zero : f32
        %r = arith.truncf %m : f32 to $T
        linalg.yield %r : $T
    } -> tensor<$Nx$T>
    return %s : tensor<$Nx$T>
  })",
              {{"$N", text(n)}, {"$line", line}, {"$T", type}});
}

void expectExactChain(const char *type, const llvm::fltSemantics &format) {
  constexpr size_t n = 1 << 18;
  std::mt19937 engine(5);
  std::vector<uint16_t> x(n), y(n), got(n);
  for (size_t i = 0; i < n; ++i) {
    x[i] = engine();
    y[i] = engine();
    if (i % 4 == 0) // products about the subnormals
      y[i] &= 0x83ff;
  }
  auto value = [&](uint16_t bits) {
    return llvm::APFloat(format, llvm::APInt(16, bits));
  };
  for (const char *cpu : {"", "x86-64-v3"}) {
    StageKernel kernel(chain(n, type), false,
                       llvm::cantFail(Target::get(cpu, "")));
    EXPECT_EQ(kernel.kernel.launches.size(), 1u);
    EXPECT_EQ(kernel.undefined(), std::vector<std::string>());
    kernel.run({x.data(), y.data()}, {got.data()});
    size_t wrong = 0;
    for (size_t i = 0; i < n && wrong < 5; ++i) {
      // f32 holds products exactly and rounds sums harmlessly for these
      // formats.
      llvm::APFloat want = value(x[i]);
      want.multiply(value(y[i]), llvm::APFloat::rmNearestTiesToEven);
      want.add(value(y[i]), llvm::APFloat::rmNearestTiesToEven);
      want = llvm::maximum(want, llvm::APFloat::getZero(format));
      bool equal = want.isNaN()
                       ? value(got[i]).isNaN()
                       : want.bitcastToAPInt().getZExtValue() == got[i];
      if (!equal) {
        ++wrong;
        ADD_FAILURE() << type << " on '" << cpu << "' of bits " << std::hex
                      << x[i] << ", " << y[i] << ": " << got[i] << ", want "
                      << want.bitcastToAPInt().getZExtValue();
      }
    }
  }
}

std::string diagnostics(const std::string &body) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&testContext(),
                                        [&](mlir::Diagnostic &diagnostic) {
                                          message += diagnostic.str();
                                          return mlir::success();
                                        });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(body, &testContext());
  ObjectCompiler compiler(Target::host());
  auto func = *module->getOps<mlir::func::FuncOp>().begin();
  EXPECT_TRUE(
      llvm::failed(emitStages(func.getBody().front(), false, compiler)));
  return message;
}

} // namespace

TEST(StageEmitter, RoundsF16AfterEachStage) {
  expectExactChain("f16", llvm::APFloat::IEEEhalf());
}
TEST(StageEmitter, RoundsBF16AfterEachStage) {
  expectExactChain("bf16", llvm::APFloat::BFloat());
}

TEST(StageEmitter, TransposesAnySizeAndWidth) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{16, 16},
                               {1, 40},
                               {40, 1},
                               {15, 100},
                               {100, 15},
                               {33, 47},
                               {160, 129},
                               {301, 517}}) {
    StageKernel kernel(fill(R"(
      func.func @f(%x: tensor<$Rx$Cxbf16>, %y: tensor<$Cx$Rxi1>, %z: tensor<$Rxf64>) -> tensor<$Cx$Rxf64> {
        %e = tensor.empty() : tensor<$Cx$Rxf64>
        %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, $matrix, $column, $matrix],
            iterator_types = ["parallel", "parallel"]}
            ins(%x, %y, %z : tensor<$Rx$Cxbf16>, tensor<$Cx$Rxi1>, tensor<$Rxf64>) outs(%e : tensor<$Cx$Rxf64>) {
          ^bb0(%a: bf16, %b: i1, %c: f64, %o: f64):
            %w = arith.extf %a : bf16 to f64
            %i = linalg.index 0 : index
            %j = arith.index_cast %i : index to i64
            %k = arith.sitofp %j : i64 to f64
            %d = arith.addf %w, %k : f64
            %r = arith.select %b, %d, %c : f64
            linalg.yield %r : f64
        } -> tensor<$Cx$Rxf64>
        return %s : tensor<$Cx$Rxf64>
      })",
                            {{"$R", text(rows)},
                             {"$C", text(columns)},
                             {"$matrix", matrix},
                             {"$column", columnOf}}));
    std::vector<uint16_t> x(rows * columns);
    std::vector<uint8_t> y(x.size());
    std::vector<double> z(rows), got(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = toBF16(float(i % 251));
      y[i] = i % 3 != 0;
    }
    for (int64_t r = 0; r < rows; ++r)
      z[r] = -r;
    kernel.run({x.data(), y.data(), z.data()}, {got.data()});
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t r = 0; r < rows; ++r)
        ASSERT_EQ(got[c * rows + r], y[c * rows + r]
                                         ? double((r * columns + c) % 251) + c
                                         : -double(r))
            << rows << "x" << columns << " at " << c << ", " << r;
  }
}

TEST(StageEmitter, KnowsWhatMustNotShareMemory) {
  StageKernel kernel(columnSum(40000, 33));
  EXPECT_TRUE(allowsInPlace(kernel.body(), 0, 1));
  EXPECT_FALSE(allowsInPlace(kernel.body(), 0, 0)) << "shapes differ";
  // The start value is added by the launch that stores the result.
  EXPECT_TRUE(allowsInPlace(kernel.body(), 1, 0));
  std::vector<float> in = random(40000 * 33), start = random(33), sum(33),
                     square(in.size());
  kernel.run({in.data(), start.data()}, {sum.data(), square.data()});
  kernel.run({in.data(), start.data()}, {start.data(), in.data()});
  EXPECT_EQ(start, sum);
  EXPECT_EQ(in, square);
  StageKernel again(fill(R"(
    func.func @f(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>) {
      %e = tensor.empty() : tensor<4x8xf32>
      %et = tensor.empty() : tensor<8x4xf32>
      %y = linalg.generic {indexing_maps = [$matrix, $matrix], iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
        ^bb0(%a: f32, %o: f32):
          %r = arith.addf %a, %a : f32
          linalg.yield %r : f32
      } -> tensor<4x8xf32>
      %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, $matrix], iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<4x8xf32>) outs(%et : tensor<8x4xf32>) {
        ^bb0(%a: f32, %o: f32):
          linalg.yield %a : f32
      } -> tensor<8x4xf32>
      return %y, %t : tensor<4x8xf32>, tensor<8x4xf32>
    })",
                         {{"$matrix", matrix}}));
  EXPECT_FALSE(allowsInPlace(again.body(), 0, 0)) << "a later launch reads x";
  StageKernel two(
      fill(R"(
    func.func @f(%x: tensor<8x32xf32>, %v: tensor<32xf32>) -> (tensor<8x32xf32>, tensor<32xf32>) {
      %e = tensor.empty() : tensor<8x32xf32>
      %ev = tensor.empty() : tensor<32xf32>
      %y = linalg.generic {indexing_maps = [$matrix, $column, $matrix], iterator_types = ["parallel", "parallel"]}
          ins(%x, %v : tensor<8x32xf32>, tensor<32xf32>) outs(%e : tensor<8x32xf32>) {
        ^bb0(%a: f32, %b: f32, %o: f32):
          %r = arith.addf %a, %b : f32
          linalg.yield %r : f32
      } -> tensor<8x32xf32>
      %w = linalg.generic {indexing_maps = [$line, $line], iterator_types = ["parallel"]}
          ins(%v : tensor<32xf32>) outs(%ev : tensor<32xf32>) {
        ^bb0(%a: f32, %o: f32):
          %r = arith.mulf %a, %a : f32
          linalg.yield %r : f32
      } -> tensor<32xf32>
      return %y, %w : tensor<8x32xf32>, tensor<32xf32>
    })",
           {{"$matrix", matrix}, {"$column", columnOf}, {"$line", line}}));
  std::vector<float> x = random(256), v = random(32), y(256), w(32), again(256);
  two.run({x.data(), v.data()}, {y.data(), w.data()});
  for (int i = 0; i < 256; ++i)
    ASSERT_EQ(y[i], x[i] + v[i % 32]);
  for (int i = 0; i < 32; ++i)
    ASSERT_EQ(w[i], v[i] * v[i]);
  // Whatever is allowed gives the same bits, tasks backwards or as one.
  for (auto [operand, result] : {std::pair{0u, 0u}, {1u, 1u}})
    if (allowsInPlace(two.body(), operand, result))
      for (bool oneTask : {false, true}) {
        std::vector<float> px = x, pv = v, py(256), pw(32);
        two.run({px.data(), pv.data()},
                {result == 0 ? px.data() : py.data(),
                 result == 1 ? pv.data() : pw.data()},
                oneTask);
        EXPECT_EQ(result == 0 ? px : py, y);
        EXPECT_EQ(result == 1 ? pv : pw, w);
      }
}

TEST(StageEmitter, NamesWhatItCannotLower) {
  EXPECT_EQ(
      diagnostics(R"(
    func.func @f(%x: tensor<4xf32>) -> tensor<2x2xf32> {
      %s = arith.constant dense<2> : tensor<2xi64>
      %r = tensor.reshape %x(%s) : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x2xf32>
      return %r : tensor<2x2xf32>
    })"),
      "expected linalg.generic, linalg.fill, tensor.empty or arith.constant");
  EXPECT_EQ(diagnostics(R"(
    func.func @f() -> tensor<2xf32> {
      %r = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
      return %r : tensor<2xf32>
    })"),
            "expected a splat; other constants are operands of the kernel");
}
