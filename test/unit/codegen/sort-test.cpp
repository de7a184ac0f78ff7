//===- sort-test.cpp - sorted rows against std::stable_sort ---------------===//
//
// On the CPU and on the emulated device: rows shorter and longer than a vector
// and a tile, few and all indices kept, equal elements, NaN, both zeros.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "OnBothTargets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <numeric>
#include <random>

using namespace llvm;
using namespace mp;

namespace {

MP_ON_BOTH_TARGETS(Sort);

/// Values that every type holds, of which `distinct` differ at most.
Numbers draw(int64_t count, int distinct, bool isFloat, unsigned seed) {
  std::mt19937 random(seed);
  Numbers numbers(count);
  for (double &number : numbers) {
    number = int(random() % distinct) - distinct / 2;
    if (!isFloat || random() % 8)
      continue;
    const double odd[] = {std::nan(""), -std::nan(""), -0.0, INFINITY,
                          -INFINITY};
    number = odd[random() % 5];
  }
  return numbers;
}

/// NaN is larger than any number.
bool isLess(double x, double y) {
  return std::isnan(y) ? !std::isnan(x) : x < y;
}

struct Case {
  std::string op; ///< between the operand and its type
  int64_t outer, size, inner, kept;
  bool descending;
};

/// Values and indices in the layout of the results.
std::pair<Numbers, Numbers> sorted(const Case &sort, const Numbers &x) {
  Numbers values(sort.outer * sort.kept * sort.inner), indices(values.size());
  for (int64_t outer = 0; outer < sort.outer; ++outer)
    for (int64_t inner = 0; inner < sort.inner; ++inner) {
      auto at = [&](int64_t i) {
        return x[(outer * sort.size + i) * sort.inner + inner];
      };
      std::vector<int64_t> order(sort.size);
      std::iota(order.begin(), order.end(), 0);
      llvm::stable_sort(order, [&](int64_t i, int64_t j) {
        return sort.descending ? isLess(at(j), at(i)) : isLess(at(i), at(j));
      });
      for (int64_t i = 0; i < sort.kept; ++i) {
        int64_t to = (outer * sort.kept + i) * sort.inner + inner;
        values[to] = at(order[i]);
        indices[to] = order[i];
      }
    }
  return {values, indices};
}

void check(const Case &sort, StringRef element, int distinct, Device device) {
  auto shape = [&](int64_t size) {
    return formatv("tensor<{0}x{1}x{2}x", sort.outer, size, sort.inner).str();
  };
  std::string module =
      formatv("func.func @f(%x: {0}{2}>) -> ({1}{2}>, {1}i32>) {{\n"
              "  %v, %i = {3} : {0}{2}>\n"
              "  return %v, %i : {1}{2}>, {1}i32>\n}",
              shape(sort.size), shape(sort.kept), element, sort.op);
  bool isFloat = !element.starts_with("i");
  Numbers x =
      draw(sort.outer * sort.size * sort.inner, distinct, isFloat, sort.size);
  auto function = GoldenFunction::compile(module, "f", device);
  ASSERT_TRUE(bool(function)) << toString(function.takeError()) << module;
  auto results = (*function)({x});
  ASSERT_TRUE(bool(results)) << toString(results.takeError());
  auto [values, indices] = sorted(sort, x);
  EXPECT_EQ((*results)[1], indices) << module;
  for (auto [at, value] : enumerate(values)) {
    double got = (*results)[0][at];
    ASSERT_TRUE(std::isnan(value) ? std::isnan(got) : got == value)
        << at << ": " << got << " for " << value << "\n"
        << module;
    ASSERT_EQ(std::signbit(got), std::signbit(value)) << at << "\n" << module;
  }
}

Case sortOf(int64_t outer, int64_t size, int64_t inner, bool descending) {
  return {std::string("mp.sort %x dim(1)") + (descending ? " descending" : ""),
          outer,
          size,
          inner,
          size,
          descending};
}
Case topOf(int64_t outer, int64_t size, int64_t inner, int64_t k,
           bool smallest) {
  return {
      formatv("mp.top_k %x k({0}) dim(1){1}", k, smallest ? " smallest" : ""),
      outer,
      size,
      inner,
      k,
      !smallest};
}

} // namespace

TEST_P(Sort, OfEveryType) {
  for (StringRef element : {"f64", "f32", "f16", "bf16", "i32", "i64"})
    for (bool descending : {false, true}) {
      check(sortOf(3, 37, 2, descending), element, 200, GetParam());
      check(sortOf(2, 150, 1, descending), element, 200, GetParam());
    }
}

// 65 is the first size of the CPU's second algorithm, 2049 of the device's
// second tile; 5000 has an odd number of tiles.
TEST_P(Sort, OfEverySize) {
  for (int64_t size : {1, 2, 15, 64, 65, 2048, 2049, 5000})
    check(sortOf(2, size, 1, size % 2), "f32", 100000, GetParam());
  check(sortOf(700, 9, 1, false), "f32", 100, GetParam());
}

TEST_P(Sort, OfEqualElements) {
  for (int64_t size : {3, 60, 200, 4097})
    check(sortOf(1, size, 1, false), "bf16", 2, GetParam());
}

TEST_P(Sort, TheFirstOfMany) {
  for (bool smallest : {false, true}) {
    check(topOf(3, 1, 1, 1, smallest), "f32", 9, GetParam());
    check(topOf(2, 37, 3, 5, smallest), "f16", 20, GetParam());
    check(topOf(2, 5000, 1, 1, smallest), "i64", 900, GetParam());
    check(topOf(2, 5000, 1, 50, smallest), "bf16", 200, GetParam());
    check(topOf(1, 7000, 1, 3000, smallest), "f32", 100000, GetParam());
    check(topOf(1, 131072, 1, 40, smallest), "f32", 1 << 24, GetParam());
  }
}

TEST(SortOfAVocabulary, IsStable) {
  check(sortOf(2, 131072, 1, true), "f32", 1000, {});
  check(sortOf(1, 131073, 1, false), "f64", 1 << 24, {});
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

// The gradient of the i-th value is i + 1, and arrives where the value was.
TEST_P(Sort, SendsGradientsToItsElements) {
  for (StringRef element : {"f32", "bf16"}) {
    constexpr int64_t rows = 3, size = 300;
    std::string type = formatv("tensor<{0}x{1}x{2}>", rows, size, element);
    Case sort = topOf(rows, size, 1, 90, false);
    std::string kept = formatv("tensor<{0}x90x{1}>", rows, element);
    std::string module =
        formatv("func.func @f(%x: {0}, %w: {1}) -> {0} {{\n"
                "  %v, %i = {2} : {0}\n"
                "  %p = mp.mul %v, %w : {1}, {1}\n"
                "  %s = mp.sum %p dims[0, 1] : {1}\n"
                "  %g = mp.gradient %s of %x : tensor<{3}>, {0}\n"
                "  return %g : {0}\n}",
                type, kept, sort.op, element);
    Numbers x = draw(rows * size, 1 << 24, false, 5), weights(rows * 90);
    std::iota(weights.begin(), weights.end(), 1);
    for (double &weight : weights)
      weight = std::fmod(weight, 200);
    Numbers expected(x.size());
    if (element == "bf16")
      for (double &number : x)
        number = std::fmod(number, 100);
    for (auto [at, index] : enumerate(sorted(sort, x).second))
      expected[at / 90 * size + int64_t(index)] = weights[at];
    auto function = GoldenFunction::compile(module, "f", GetParam());
    ASSERT_TRUE(bool(function)) << toString(function.takeError()) << module;
    auto results = (*function)({x, weights});
    ASSERT_TRUE(bool(results)) << toString(results.takeError());
    EXPECT_EQ(results->front(), expected) << module;
  }
}

// Kernels of one launch share a block, so that short rows must not need a
// smaller one.
TEST_P(Sort, SharesALaunch) {
  auto function = GoldenFunction::compile(R"(
func.func @f(%x: tensor<2x4xf32>, %y: tensor<40x50xf32>) -> (tensor<2x4xi32>, tensor<40x50xf32>) {
  %v, %i = mp.sort %x dim(1) : tensor<2x4xf32>
  %s = mp.cumsum %y dim(1) : tensor<40x50xf32>
  return %i, %s : tensor<2x4xi32>, tensor<40x50xf32>
})",
                                          "f", GetParam());
  ASSERT_TRUE(bool(function)) << toString(function.takeError());
  auto results = (*function)({{3, 1, 2, 0, 5, 5, 4, 9}, Numbers(2000, 1.0)});
  ASSERT_TRUE(bool(results)) << toString(results.takeError());
  EXPECT_EQ((*results)[0], (Numbers{3, 1, 2, 0, 2, 0, 1, 3}));
}
