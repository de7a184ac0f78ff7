//===- narrow-functions-test.cpp - functions of all 16-bit numbers --------===//
//
// Functions in bf16 and f16, through the whole path, against long double: of
// every number that there is, and softmax and its losses of rows that were made
// to go wrong.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mp;
using namespace llvm;

namespace {

using Real = long double;
constexpr Real kInfinity = INFINITY;

struct Format {
  const char *name;
  int digits;          ///< after the point
  int least, greatest; ///< exponents of normal numbers
  const fltSemantics &(*semantics)();
};
void PrintTo(const Format &format, std::ostream *os) { *os << format.name; }
const Format formats[] = {{"bf16", 7, -126, 127, &APFloat::BFloat},
                          {"f16", 10, -14, 15, &APFloat::IEEEhalf}};

double numberOf(const Format &format, uint16_t bits) {
  APFloat number(format.semantics(), APInt(16, bits));
  bool loses;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return number.convertToDouble();
}
/// The number that is nearest to `x`.
double rounded(const Format &format, double x) {
  APFloat number(x);
  bool loses;
  number.convert(format.semantics(), APFloat::rmNearestTiesToEven, &loses);
  return numberOf(format, number.bitcastToAPInt().getZExtValue());
}

/// Returns the distance in units of the format's last place at `exact`. An
/// infinity is as far away as the power of two that follows the largest number.
Real ulps(const Format &format, double got, Real exact) {
  if (std::isnan(got) || std::isnan(exact))
    return std::isnan(got) && std::isnan(exact) ? 0 : kInfinity;
  Real next = std::ldexp(Real(1), format.greatest + 1);
  auto bounded = [&](Real x) { return std::clamp(x, -next, next); };
  Real difference = std::abs(bounded(got) - bounded(exact));
  int exponent = exact == 0 ? format.least : std::ilogb(bounded(exact));
  exponent = std::clamp(exponent, format.least, format.greatest);
  return std::ldexp(difference, format.digits - exponent);
}

std::vector<Numbers> run(const std::string &module, ArrayRef<Numbers> inputs) {
  Expected<GoldenFunction> function = GoldenFunction::compile(module);
  if (!function) {
    ADD_FAILURE() << toString(function.takeError()) << "\n" << module;
    return {};
  }
  Expected<std::vector<Numbers>> results = (*function)(inputs);
  if (!results) {
    ADD_FAILURE() << toString(results.takeError()) << "\n" << module;
    return {};
  }
  return *results;
}

//===----------------------------------------------------------------------===//
// Functions of one number
//===----------------------------------------------------------------------===//

struct Function {
  const char *name, *op; ///< the op on %x, and on a gradient of ones %g
  Real (*exact)(Real);
  Real below, above; ///< the limits at infinity
};

Real normalCdf(Real x) { return std::erfc(-x / std::sqrt(Real(2))) / 2; }
Real normalDensity(Real x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::acos(Real(-1)));
}
Real logistic(Real x) { return 1 / (1 + std::exp(-x)); }
Real restOfLogistic(Real x) { return logistic(-x); }
constexpr Real kCubic = 0.044715L;
Real twiceCubic(Real x) {
  return 2 * std::sqrt(2 / std::acos(Real(-1))) * (x + kCubic * x * x * x);
}
Real twiceCubicSlope(Real x) {
  return 2 * std::sqrt(2 / std::acos(Real(-1))) * (1 + 3 * kCubic * x * x);
}

const Function functions[] = {
    {"exp", "mp.exp %x : $T", [](Real x) { return std::exp(x); }, 0, kInfinity},
    {"tanh", "mp.tanh %x : $T", [](Real x) { return std::tanh(x); }, -1, 1},
    {"sigmoid", "mp.sigmoid %x : $T", logistic, 0, 1},
    {"silu", "mp.silu %x : $T", [](Real x) { return x * logistic(x); }, 0,
     kInfinity},
    {"silu_backward", "mp.silu_backward %g, %x : $T, $T",
     [](Real x) { return logistic(x) * (1 + x * restOfLogistic(x)); }, 0, 1},
    {"gelu", "mp.gelu %x : $T", [](Real x) { return x * normalCdf(x); }, 0,
     kInfinity},
    {"gelu_backward", "mp.gelu_backward %g, %x : $T, $T",
     [](Real x) { return normalCdf(x) + x * normalDensity(x); }, 0, 1},
    {"tanh_gelu", "mp.gelu %x approximate(tanh) : $T",
     [](Real x) { return x * logistic(twiceCubic(x)); }, 0, kInfinity},
    {"tanh_gelu_backward", "mp.gelu_backward %g, %x approximate(tanh) : $T, $T",
     [](Real x) {
       Real z = twiceCubic(x);
       return logistic(z) * (1 + x * restOfLogistic(z) * twiceCubicSlope(x));
     },
     0, 1},
};
void PrintTo(const Function &function, std::ostream *os) {
  *os << function.name;
}

std::string moduleText(const Function &function, const std::string &shape) {
  std::string type = "tensor<" + shape + ">", op = function.op;
  for (size_t at; (at = op.find("$T")) != std::string::npos;)
    op.replace(at, 2, type);
  return formatv("func.func @f(%x: {0}, %g: {0}) -> {0} {{\n  %r = {1}\n  "
                 "return %r : {0}\n}\n",
                 type, op);
}

class NarrowFunction
    : public ::testing::TestWithParam<std::tuple<Function, Format>> {};

TEST_P(NarrowFunction, IsWithinOneUnitOfAllNumbers) {
  auto [function, format] = GetParam();
  constexpr int count = 1 << 16;
  std::string module =
      moduleText(function, "65536x" + std::string(format.name));
  Numbers x(count), ones(count, 1);
  for (int bits = 0; bits < count; ++bits)
    x[bits] = numberOf(format, bits);
  std::vector<Numbers> results = run(module, {x, ones});
  ASSERT_EQ(results.size(), 1u);
  Real worst = 0;
  double at = 0;
  int wrong = 0;
  for (int bits = 0; bits < count; ++bits) {
    Real exact = std::isinf(x[bits])
                     ? (x[bits] < 0 ? function.below : function.above)
                     : function.exact(x[bits]);
    Real error = ulps(format, results[0][bits], exact);
    wrong += error > 0.5001;
    if (error > worst) {
      worst = error;
      at = x[bits];
    }
  }
  std::printf("%s in %s: %.3Lf ulp at %a, %.2f%% not the nearest\n",
              function.name, format.name, worst, at, wrong * 100.0 / count);
  EXPECT_LE(worst, 1) << "at " << at;
}

INSTANTIATE_TEST_SUITE_P(All, NarrowFunction,
                         ::testing::Combine(::testing::ValuesIn(functions),
                                            ::testing::ValuesIn(formats)),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) +
                                  "_" + std::get<1>(info.param).name;
                         });

TEST(NarrowFunctions, KeepTheSignOfZero) {
  for (const Function &function : functions) {
    if (function.exact(0) != 0)
      continue;
    std::vector<Numbers> results = run(moduleText(function, "2xbf16"),
                                       {Numbers{0.0, -0.0}, Numbers{1, 1}});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_FALSE(std::signbit(results[0][0])) << function.name;
    EXPECT_TRUE(std::signbit(results[0][1])) << function.name;
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Rows of `columns` scores: of all sizes, equal, with one that is huge, spread
/// far apart, with infinities, and one of NaN.
std::vector<Numbers> rowsOf(const Format &format, int64_t columns) {
  std::mt19937_64 random(columns);
  auto uniform = [&](double low, double high) {
    return rounded(format,
                   low + (high - low) * std::ldexp(double(random()), -64));
  };
  auto row = [&](auto element) {
    Numbers numbers(columns);
    for (auto [i, number] : enumerate(numbers))
      number = rounded(format, element(int64_t(i)));
    return numbers;
  };
  std::vector<Numbers> rows;
  for (double size : {0.01, 1.0, 4.0, 20.0, 90.0, 1000.0, 60000.0})
    rows.push_back(row([&](int64_t) { return uniform(-size, size); }));
  for (double value : {0.0, 1.5, -60000.0})
    rows.push_back(row([&](int64_t) { return value; }));
  int64_t middle = columns / 2;
  rows.push_back(
      row([&](int64_t i) { return i == middle ? 60000.0 : uniform(-1, 1); }));
  rows.push_back(
      row([&](int64_t i) { return i == middle ? 9.0 : uniform(-1, 1); }));
  rows.push_back(
      row([&](int64_t i) { return i % 3 == 0 ? uniform(-4, 4) : -INFINITY; }));
  rows.push_back(row([&](int64_t i) { return i == middle ? 1.0 : -INFINITY; }));
  rows.push_back(row([&](int64_t) { return -INFINITY; }));
  rows.push_back(
      row([&](int64_t i) { return i == middle ? INFINITY : uniform(-1, 1); }));
  rows.push_back(
      row([&](int64_t i) { return i == middle ? NAN : uniform(-1, 1); }));
  rows.push_back(row([&](int64_t) { return NAN; }));
  return rows;
}

/// log(sum e^(x - largest)), and the largest.
struct LogSum {
  explicit LogSum(const Numbers &row) {
    for (double x : row)
      largest = std::isnan(x) ? x : std::max<Real>(largest, x);
    for (double x : row)
      rest += std::exp(x - largest);
    // The largest element itself counts in full: its term is 1.
    sum = std::log1p(rest - 1);
  }
  Real largest = -kInfinity, rest = 0, sum;
};

class NarrowRows
    : public ::testing::TestWithParam<std::tuple<Format, int64_t>> {
protected:
  void SetUp() override {
    std::tie(format, columns) = GetParam();
    rows = rowsOf(format, columns);
    for (const Numbers &row : rows)
      scores.insert(scores.end(), row.begin(), row.end());
  }
  std::string tensor(const std::string &shape) {
    return "tensor<" + shape + format.name + ">";
  }
  std::string matrix() {
    return tensor(formatv("{0}x{1}x", rows.size(), columns).str());
  }
  /// Rows are summed in f32: the sum, at least 1, is off by 2^-24 of itself,
  /// and so is its logarithm by as much, however small it is.
  void compare(double got, Real exact, size_t row, Real slack = 0x1p-23L) {
    Real error = std::abs(got - exact) <= slack ? 0 : ulps(format, got, exact);
    worst = std::max(worst, error);
    EXPECT_LE(error, 1) << "row " << row << " of " << columns << " "
                        << format.name << ": " << got << ", not " << exact;
  }

  Format format = formats[0];
  int64_t columns = 0;
  std::vector<Numbers> rows;
  Numbers scores;
  Real worst = 0;
};

TEST_P(NarrowRows, SoftmaxIsWithinOneUnit) {
  std::vector<Numbers> results =
      run(formatv("func.func @f(%x: {0}) -> {0} {{\n  %r = mp.softmax %x "
                  "dim(1) : {0}\n  return %r : {0}\n}\n",
                  matrix()),
          {scores});
  ASSERT_EQ(results.size(), 1u);
  for (auto [i, row] : enumerate(rows)) {
    LogSum total(row);
    for (int64_t c = 0; c < columns && !HasFailure(); ++c)
      compare(results[0][i * columns + c],
              std::exp(row[c] - total.largest) / total.rest, i, /*slack=*/0);
  }
  std::printf("%.3Lf ulp\n", worst);
}

TEST_P(NarrowRows, LogSoftmaxIsWithinOneUnit) {
  std::vector<Numbers> results =
      run(formatv("func.func @f(%x: {0}) -> {0} {{\n  %r = mp.log_softmax %x "
                  "dim(1) : {0}\n  return %r : {0}\n}\n",
                  matrix()),
          {scores});
  ASSERT_EQ(results.size(), 1u);
  for (auto [i, row] : enumerate(rows)) {
    LogSum total(row);
    for (int64_t c = 0; c < columns && !HasFailure(); ++c)
      compare(results[0][i * columns + c], row[c] - total.largest - total.sum,
              i);
  }
  std::printf("%.3Lf ulp\n", worst);
}

// The losses of all rows, and their gradients.
TEST_P(NarrowRows, CrossEntropyIsWithinOneUnit) {
  std::string labels = formatv("tensor<{0}xi64>", rows.size());
  std::string losses = tensor(formatv("{0}x", rows.size()).str());
  std::string module = formatv(
      "func.func @f(%x: {0}, %y: {1}, %g: {2}) -> ({2}, {0}) {{\n"
      "  %l = mp.cross_entropy %x, %y reduction(none) : {0}, {1}\n"
      "  %d = mp.cross_entropy_backward %g, %x, %y reduction(none) : {2}, {0}, "
      "{1}\n  return %l, %d : {2}, {0}\n}\n",
      matrix(), labels, losses);
  for (int64_t label : {int64_t(0), columns / 2, columns - 1}) {
    std::vector<Numbers> results = run(
        module, {scores, Numbers(rows.size(), label), Numbers(rows.size(), 1)});
    ASSERT_EQ(results.size(), 2u);
    for (auto [i, row] : enumerate(rows)) {
      LogSum total(row);
      compare(results[0][i], total.sum - (row[label] - total.largest), i);
      for (int64_t c = 0; c < columns && !HasFailure(); ++c) {
        Real share = std::exp(row[c] - total.largest) / total.rest;
        if (c == label)
          share = std::expm1(row[c] - total.largest - total.sum);
        compare(results[1][i * columns + c], share, i);
      }
    }
  }
  std::printf("%.3Lf ulp\n", worst);
}

INSTANTIATE_TEST_SUITE_P(All, NarrowRows,
                         ::testing::Combine(::testing::ValuesIn(formats),
                                            ::testing::Values(1, 15, 16, 17, 65,
                                                              768, 50257)),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) +
                                  "_" + std::to_string(std::get<1>(info.param));
                         });

} // namespace
