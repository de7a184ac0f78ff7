// Stage kernels against loops in C++: sizes about a vector, all schedules, results
// in place, one task against many.
#include "StageKernel.h"

#include <cmath>
#include <random>

using namespace mp::cpu;

namespace {

std::vector<float> random(size_t n, float low = -2, float high = 2, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(n);
  for (float &value : values)
    value = distribution(engine);
  return values;
}

const int64_t lengths[] = {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 97, 251, 1009, 40009};

const char *relative = "relative error";
void expectNear(const std::vector<float> &got, const std::vector<double> &want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::abs(got[i] - want[i]) / (std::abs(want[i]) + 1e-3));
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
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {3, 10}, {5, 16}, {7, 17},
                               {4, 32}, {3, 33}, {2, 64}, {128, 10}, {9, 251}, {70, 1009}}) {
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
  for (auto [rows, columns] :
       {std::pair<int64_t, int64_t>{1, 1}, {5, 3}, {128, 10}, {64, 256}, {97, 33}, {513, 31},
        {1031, 40}, {2000, 1024}, {3001, 771}, {70000, 1}}) {
    StageKernel kernel(columnSum(rows, columns));
    EXPECT_EQ(kernel.undefined(), std::vector<std::string>());
    std::vector<float> x = random(rows * columns), start = random(columns), sum(columns),
                       y(x.size()), again(columns);
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
