//===- stage-forms-test.cpp - stage kernels -------------------------------===//
//
// Roundings against APFloat, maps of any kind, allowed sharing of memory,
// refused ops.
//
//===----------------------------------------------------------------------===//
#include "StageTexts.h"
#include "codegen/Backend.h"
#include "codegen/stages/InPlace.h"

#include "mlir/IR/Diagnostics.h"

using namespace mp::cpu;

namespace {

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
      // f32 holds products exactly, and its rounding of sums is harmless for
      // these formats.
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

TEST(StageForms, RoundsF16AfterEachStage) {
  expectExactChain("f16", llvm::APFloat::IEEEhalf());
}
TEST(StageForms, RoundsBF16AfterEachStage) {
  expectExactChain("bf16", llvm::APFloat::BFloat());
}

TEST(StageForms, TransposesAnySizeAndWidth) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{16, 16},
                               {1, 40},
                               {40, 1},
                               {15, 100},
                               {100, 15},
                               {33, 47},
                               {160, 129},
                               {301, 517}}) {
    StageKernel kernel(transposed(rows, columns));
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

TEST(StageForms, KnowsWhatMustNotShareMemory) {
  StageKernel kernel(columnSum(40000, 33));
  EXPECT_TRUE(mp::allowsInPlace(kernel.body(), 0, 1));
  EXPECT_FALSE(mp::allowsInPlace(kernel.body(), 0, 0)) << "shapes differ";
  // The start value is added by the launch that stores the result.
  EXPECT_TRUE(mp::allowsInPlace(kernel.body(), 1, 0));
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
  EXPECT_FALSE(mp::allowsInPlace(again.body(), 0, 0))
      << "a later launch reads x";
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
  std::vector<float> x = random(256), v = random(32), y(256), w(32);
  two.run({x.data(), v.data()}, {y.data(), w.data()});
  for (int i = 0; i < 256; ++i)
    ASSERT_EQ(y[i], x[i] + v[i % 32]);
  for (int i = 0; i < 32; ++i)
    ASSERT_EQ(w[i], v[i] * v[i]);
  // Every allowed sharing gives the same bits, tasks backwards or as one.
  for (auto [operand, result] : {std::pair{0u, 0u}, {1u, 1u}})
    if (mp::allowsInPlace(two.body(), operand, result))
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

TEST(StageForms, NamesWhatItCannotLower) {
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

TEST(StageForms, TransposesByTheResultsMap) {
  StageKernel kernel(fill(R"(
    func.func @f(%x: tensor<40x70xf32>) -> tensor<70x40xf32> {
      %e = tensor.empty() : tensor<70x40xf32>
      %y = linalg.generic {indexing_maps = [$matrix, affine_map<(d0, d1) -> (d1, d0)>],
          iterator_types = ["parallel", "parallel"]} ins(%x : tensor<40x70xf32>) outs(%e : tensor<70x40xf32>) {
        ^bb0(%a: f32, %o: f32):
          linalg.yield %a : f32
      } -> tensor<70x40xf32>
      return %y : tensor<70x40xf32>
    })",
                          {{"$matrix", matrix}}));
  std::vector<float> x = random(40 * 70), y(x.size());
  kernel.run({x.data()}, {y.data()});
  for (int r = 0; r < 40; ++r)
    for (int c = 0; c < 70; ++c)
      ASSERT_EQ(y[c * 40 + r], x[r * 70 + c]);
}

TEST(StageForms, TakesAnyMaps) {
  // y[b, c, r] = x[b, r, c] + z[c], and sums over the middle dimension of x.
  for (auto [b, r, c] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                         {2, 3, 5},
                         {3, 17, 33},
                         {2, 64, 48}}) {
    StageKernel kernel(anyMaps(b, r, c));
    EXPECT_EQ(kernel.undefined(), std::vector<std::string>());
    EXPECT_FALSE(mp::allowsInPlace(kernel.body(), 0, 2))
        << "another stage reads x";
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
