//===- random-test.cpp - random ops, compiled -----------------------------===//
//
// The words that kernels draw are those of runtime/Initialize.h's Philox, which
// philox-test.cpp compares with the published vectors; each op is checked
// against them, on the CPU and in the emulated CUDA. Seeds are fixed, so the
// numbers are always the same, and no bound on a moment holds only sometimes.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "runtime/Initialize.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace mp;

namespace {
struct Key {
  uint64_t seed = 0;
  uint32_t stream = 0;
  uint64_t attempt = 0;
  std::optional<uint64_t> microBatch = {};
};

/// Returns the word of an element, as docs/random.md defines it.
uint32_t wordOf(uint64_t index, const Key &key) {
  return philox({uint32_t(index / 4), key.stream, uint32_t(key.attempt),
                 uint32_t(key.microBatch.value_or(0))},
                {uint32_t(key.seed), uint32_t(key.seed >> 32)})[index % 4];
}

/// Returns `%r = OP ...` with a key of constants, as a function of `argument`.
std::string moduleOf(StringRef op, StringRef attributes, StringRef type,
                     const Key &key, StringRef argument = "",
                     StringRef result = "") {
  auto constant = [](StringRef name, uint64_t value) {
    return formatv("  %{0} = mp.constant dense<{1}> : tensor<i64>\n", name,
                   static_cast<int64_t>(value))
        .str();
  };
  std::string text = formatv("func.func @f({0}) -> {1} {{\n",
                             argument.empty() ? "" : "%x: " + argument.str(),
                             result.empty() ? type : result);
  text += constant("s", key.seed) + constant("a", key.attempt);
  if (key.microBatch)
    text += constant("m", *key.microBatch);
  return text +
         formatv("  %r = {0} {1} stream({2}) key(%s, %a{3}) {4} : {5}{6}\n"
                 "  return %r : {7}\n}\n",
                 op, argument.empty() ? "" : "%x", key.stream,
                 key.microBatch ? ", %m" : "", attributes, type,
                 result.empty() ? "" : " to " + result.str(),
                 result.empty() ? type : result)
             .str();
}

Numbers run(const std::string &module, ArrayRef<Numbers> inputs = {},
            Device device = {}) {
  auto function = GoldenFunction::compile(module, "f", device);
  if (!function) {
    ADD_FAILURE() << toString(function.takeError()) << "\n" << module;
    return {};
  }
  return cantFail((*function)(inputs)).front();
}

/// Upper 24 bits of each word.
Numbers upperBits(StringRef type, const Key &key) {
  return run(moduleOf("mp.uniform", "{high = 16777216.0}", type, key));
}

const Key kKeys[] = {
    {},
    {0x299f31d0a4093822, 0x85a308d3, 0x13198a2e, 0x03707344},
    {UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
    {7, 3, 100, {}},
};
} // namespace

// philox4x32 10, counter and key zero.
TEST(Random, HasThePublishedWords) {
  EXPECT_EQ(upperBits("tensor<4xf64>", {}),
            (Numbers{0x6627e8, 0xe169c5, 0xbc57ac, 0x9b00db}));
}

// The shapes cover vectors of several widths, with a rest, and rows whose
// length is a multiple of four or is not.
TEST(Random, DrawsTheWordsOfPhilox) {
  for (const Key &key : kKeys)
    for (const char *type :
         {"tensor<f64>", "tensor<1xf64>", "tensor<7xf64>", "tensor<64xf64>",
          "tensor<1003xf64>", "tensor<3x5x7xf64>", "tensor<70000xf64>"}) {
      Numbers drawn = upperBits(type, key);
      for (size_t i = 0; i < drawn.size(); ++i)
        ASSERT_EQ(drawn[i], wordOf(i, key) >> 8) << i << " of " << type;
    }
}

// An added row does not change the others' words, as the index counts all
// elements.
TEST(Random, DrawsTheSameInAnyShape) {
  for (auto [rows, columns] : {std::pair(5, 64), std::pair(6, 35),
                               std::pair(3, 1000), std::pair(40, 17)}) {
    std::string module = formatv(R"(
func.func @f(%x: tensor<{1}xf64>) -> tensor<{0}x{1}xf64> {{
  %k = mp.constant dense<3> : tensor<i64>
  %r = mp.uniform stream(1) key(%k, %k) {{high = 16777216.0} : tensor<{0}x{1}xf64>
  %y = mp.add %r, %x : tensor<{0}x{1}xf64>, tensor<{1}xf64>
  return %y : tensor<{0}x{1}xf64>
})",
                                 rows, columns);
    Numbers drawn = run(module, {Numbers(columns, 0.0)});
    for (size_t i = 0; i < drawn.size(); ++i)
      ASSERT_EQ(drawn[i], wordOf(i, {3, 1, 3}) >> 8) << i;
  }
}

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

namespace {
constexpr int64_t kMany = 1 << 18;

/// Mean, variance, and the third and fourth standardised moments.
std::array<double, 4> moments(const Numbers &values) {
  double mean = 0, m2 = 0, m3 = 0, m4 = 0;
  for (double value : values)
    mean += value / values.size();
  for (double value : values) {
    double d = value - mean;
    m2 += d * d / values.size();
    m3 += d * d * d / values.size();
    m4 += d * d * d * d / values.size();
  }
  return {mean, m2, m3 / std::pow(m2, 1.5), m4 / (m2 * m2)};
}

/// Computes the normal distribution's inverse at one half plus x / 2, by
/// Newton's method; `q` is 1 - |x|.
double inverseNormal(double x, double q) {
  double z = 0;
  for (int i = 0; i < 60; ++i) {
    double tail = std::erfc(z / std::sqrt(2.0)); // wanted: q
    double slope = std::sqrt(2 / M_PI) * std::exp(-z * z / 2);
    double next = z + (tail - q) / slope;
    if (std::abs(next - z) < 1e-15 * std::abs(z))
      break;
    z = next;
  }
  return std::copysign(z, x);
}
} // namespace

TEST(Random, UniformHasItsMoments) {
  auto [mean, variance, skew, kurtosis] = moments(
      run(moduleOf("mp.uniform", "{low = -2.0, high = 3.0}",
                   formatv("tensor<{0}xf32>", kMany).str(), {11, 2, 5})));
  EXPECT_NEAR(mean, 0.5, 0.01); // 3.5 standard errors
  EXPECT_NEAR(variance, 25.0 / 12, 0.012);
  EXPECT_NEAR(skew, 0, 0.01);
  EXPECT_NEAR(kurtosis, 1.8, 0.01);
}

// A bf16 near 1 has a step of 2^-8: numbers at the upper end would round to 1.
TEST(Random, UniformStaysBelowHigh) {
  for (StringRef type : {"f16", "bf16", "f32"}) {
    Numbers values = run(moduleOf(
        "mp.uniform", "", formatv("tensor<{0}x{1}>", kMany, type).str(), {}));
    auto [low, high] = std::minmax_element(values.begin(), values.end());
    EXPECT_GE(*low, 0) << type.str();
    EXPECT_LT(*high, 1) << type.str();
    EXPECT_GT(*high, 0.99) << type.str();
  }
  // Equal bounds leave one number.
  for (double value : run(moduleOf("mp.uniform", "{low = 2.0, high = 2.0}",
                                   "tensor<9xf32>", {})))
    EXPECT_EQ(value, 2);
}

TEST(Random, NormalHasItsMoments) {
  auto [mean, variance, skew, kurtosis] =
      moments(run(moduleOf("mp.normal", "{mean = 1.0, std = 2.0}",
                           formatv("tensor<{0}xf32>", kMany).str(), {1, 2})));
  EXPECT_NEAR(mean, 1, 0.014); // 3.5 standard errors
  EXPECT_NEAR(variance, 4, 0.04);
  EXPECT_NEAR(skew, 0, 0.017);
  EXPECT_NEAR(kurtosis, 3, 0.034);
}

TEST(Random, NormalIsWithinItsError) {
  Key key{5, 9};
  Numbers values = run(moduleOf("mp.normal", "", "tensor<65536xf32>", key));
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double x = (static_cast<int32_t>(wordOf(i, key)) + 0.5) * 0x1p-31;
    double exact = inverseNormal(x, 1 - std::abs(x));
    worst = std::max(worst, std::abs(values[i] - exact) / std::abs(exact));
  }
  EXPECT_LE(worst, 1e-6);
  RecordProperty("relative_error_e9", int(worst * 1e9));
}

TEST(Random, BernoulliHasItsProbabilities) {
  std::string type = formatv("tensor<{0}xf32>", kMany).str();
  for (double p : {0.0, 0.1, 0.5, 1.0}) {
    Numbers ones =
        run(moduleOf("mp.bernoulli", "", type, {3}, type), {Numbers(kMany, p)});
    double sum = 0;
    for (double one : ones) {
      ASSERT_TRUE(one == 0 || one == 1);
      sum += one;
    }
    EXPECT_NEAR(sum / kMany, p, 3.5 * std::sqrt(p * (1 - p) / kMany)) << p;
  }
  for (double one :
       run(moduleOf("mp.bernoulli", "", "tensor<9xf32>", {}, "tensor<9xf32>"),
           {Numbers(9, std::nan(""))}))
    EXPECT_EQ(one, 0);
}

namespace {
/// What mp.gumbel draws; its place is an f32.
double gumbelOf(uint64_t index, const Key &key) {
  float u = (float(wordOf(index, key) >> 1) + 0.5f) * 0x1p-31f;
  return -std::log(-std::log1p(-double(std::min(u, 1 - 0x1p-24f))));
}
} // namespace

TEST(Random, GumbelIsWithinItsError) {
  Key key{5, 9, 1};
  Numbers values = run(moduleOf("mp.gumbel", "", "tensor<262144xf32>", key));
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i)
    worst = std::max(worst, std::abs(values[i] - gumbelOf(i, key)));
  EXPECT_LE(worst, 2e-6);
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_GT(*high, 11);
  EXPECT_LT(*low, -2.3);
}

TEST(Random, GumbelHasItsMoments) {
  auto [mean, variance, skew, kurtosis] = moments(run(moduleOf(
      "mp.gumbel", "", formatv("tensor<{0}xf32>", kMany).str(), {8, 1, 3})));
  EXPECT_NEAR(mean, 0.5772, 0.009); // 3.5 standard errors
  EXPECT_NEAR(variance, M_PI * M_PI / 6, 0.021);
  EXPECT_NEAR(skew, 1.1395, 0.06);
  EXPECT_NEAR(kurtosis, 5.4, 0.6);
}

//===----------------------------------------------------------------------===//
// categorical
//===----------------------------------------------------------------------===//

namespace {
/// Draws along the second of three dimensions.
std::string categorical(StringRef element, ArrayRef<int64_t> shape,
                        const Key &key) {
  return formatv(R"(
func.func @f(%x: tensor<{0}x{1}x{2}x{3}>) -> tensor<{0}x{2}xi32> {{
  %s = mp.constant dense<{4}> : tensor<i64>
  %a = mp.constant dense<{5}> : tensor<i64>
  %r = mp.categorical %x dim(1) stream({6}) key(%s, %a) : tensor<{0}x{1}x{2}x{3}>
  return %r : tensor<{0}x{2}xi32>
})",
                 shape[0], shape[1], shape[2], element, key.seed, key.attempt,
                 key.stream)
      .str();
}
} // namespace

TEST(Random, CategoricalTakesTheLargest) {
  setenv("MP_CUDA_PATH", MP_EMULATOR_DIR, 1);
  setenv("MP_CACHE_DIR", "off", 1);
  constexpr int64_t outer = 5, size = 700, inner = 3;
  Key key{77, 4, 12};
  for (StringRef element : {"f32", "f16"}) {
    Numbers x;
    for (int i = 0; i < outer * size * inner; ++i)
      x.push_back(i % 11 ? std::round(std::sin(i) * 64) / 16 : -INFINITY);
    Numbers expected;
    for (int64_t row = 0; row < outer; ++row)
      for (int64_t column = 0; column < inner; ++column) {
        auto score = [&](int64_t i) {
          int64_t at = (row * size + i) * inner + column;
          return x[at] + gumbelOf(at, key);
        };
        int64_t best = 0;
        for (int64_t i = 1; i < size; ++i)
          if (score(i) > score(best))
            best = i;
        expected.push_back(best);
      }
    std::string module = categorical(element, {outer, size, inner}, key);
    EXPECT_EQ(run(module, {x}), expected);
    EXPECT_EQ(run(module, {x}, {Device::Kind::Cuda, 0}), expected);
  }
}

TEST(Random, CategoricalHasTheProbabilitiesOfASoftmax) {
  constexpr int64_t rows = 1 << 16;
  const double weights[] = {1, 2, 0, 5, 8}; // of 16
  Numbers x;
  for (int64_t row = 0; row < rows; ++row)
    for (double weight : weights)
      x.push_back(std::log(weight));
  double counts[5] = {};
  for (double index : run(categorical("f32", {rows, 5, 1}, {3, 1, 4}), {x}))
    ++counts[int(index)];
  for (auto [count, weight] : zip_equal(counts, weights)) {
    double p = weight / 16;
    EXPECT_NEAR(count / rows, p, 3.5 * std::sqrt(p * (1 - p) / rows)) << p;
  }
}

//===----------------------------------------------------------------------===//
// scans
//===----------------------------------------------------------------------===//

// The streams of a time step are 2^16 after those of the step before, of
// whatever scan around it.
TEST(Random, EachTimeStepHasStreamsOfItsOwn) {
  constexpr StringLiteral text = R"(
func.func @f() -> tensor<3x4x7xf32> {
  %r = mp.scan length(3) UNROLL -> tensor<3x4x7xf32> {
    %s = mp.scan length(4) reverse UNROLL -> tensor<4x7xf32> {
      %u = mp.uniform stream(5) {high = 16777216.0} : tensor<7xf32>
      mp.yield %u : tensor<7xf32>
    }
    mp.yield %s : tensor<4x7xf32>
  }
  return %r : tensor<3x4x7xf32>
})";
  for (StringRef unroll : {"", "unroll(2)", "unroll(9)"}) {
    std::string module = text.str();
    for (size_t at; (at = module.find("UNROLL")) != std::string::npos;)
      module.replace(at, 6, unroll);
    Numbers drawn = run(module);
    for (size_t i = 0; i < drawn.size(); ++i) {
      uint32_t step = i / 7;
      ASSERT_EQ(drawn[i], wordOf(i % 7, {.stream = 5 + (step << 16)}) >> 8)
          << i << " " << unroll.str();
    }
  }
}

//===----------------------------------------------------------------------===//
// dropout
//===----------------------------------------------------------------------===//

// The whole word decides, in every type alike; 1 / 0.75 rounds to the type.
TEST(Random, DropoutTakesItsMaskFromTheWords) {
  Key key{42, 6, 17, 2};
  uint32_t bound = 0.25 * 0x1p32;
  for (StringRef element : {"f64", "f32", "f16", "bf16"}) {
    std::string type = ("tensor<50x37x" + element + ">").str();
    for (const char *op : {"mp.dropout", "mp.dropout_backward"}) {
      Numbers y = run(moduleOf(op, "{p = 0.25}", type, key, type),
                      {Numbers(50 * 37, 3.0)});
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_EQ(y[i], wordOf(i, key) < bound ? 0.0 : 4.0)
            << i << " " << op << " " << type;
    }
  }
}

TEST(Random, DropoutOfNothingAndOfAll) {
  double infinity = std::numeric_limits<double>::infinity();
  Numbers x{1, -2, 0, infinity, std::nan("")};
  StringRef type = "tensor<5xf32>";
  Numbers none = run(moduleOf("mp.dropout", "{p = 0.0}", type, {}, type), {x});
  EXPECT_EQ(ArrayRef(none).take_front(4), ArrayRef(x).take_front(4));
  EXPECT_TRUE(std::isnan(none[4]));
  // As in PyTorch, elements are multiplied by zero.
  Numbers all = run(moduleOf("mp.dropout", "{p = 1.0}", type, {}, type), {x});
  EXPECT_EQ(ArrayRef(all).take_front(3), ArrayRef(Numbers{0, 0, 0}));
  EXPECT_TRUE(std::isnan(all[3]) && std::isnan(all[4]));
}

//===----------------------------------------------------------------------===//
// stochastic_round
//===----------------------------------------------------------------------===//

namespace {
Numbers round(const Numbers &x, StringRef element, const Key &key) {
  std::string shape = "tensor<" + std::to_string(x.size()) + "x";
  return run(moduleOf("mp.stochastic_round", "", shape + "f32>", key,
                      shape + "f32>", shape + element.str() + ">"),
             {x});
}
} // namespace

// Every fraction that 1 + k / 2^23 has between neighbours in bf16, and every
// eighth between those in f16, once each: the errors cancel to within 3.5 of
// the sum's standard deviations, sqrt(2^16 / 6) of a step.
TEST(Random, StochasticRoundIsUnbiased) {
  for (auto [element, step] :
       {std::pair("bf16", 0x1p-7), std::pair("f16", 0x1p-10)}) {
    Numbers x;
    for (int k = 0; k < 1 << 16; ++k)
      x.push_back((1 + k * 0x1p-16 * step) * (k % 2 ? 1 : -1));
    Numbers rounded = round(x, element, {1, 4, 9});
    double error = 0, worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      double difference = std::abs(rounded[i]) - std::abs(float(x[i]));
      error += difference / step;
      worst = std::max(worst, std::abs(difference) / step);
    }
    EXPECT_LT(std::abs(error), 3.5 * std::sqrt(65536 / 6.0)) << element;
    EXPECT_LT(worst, 1) << element;
    EXPECT_GT(worst, 0.99) << element;
  }
}

// One number is rounded many times: up as often as its fraction says, normal or
// not.
TEST(Random, StochasticRoundHasItsProbability) {
  struct Case {
    const char *element;
    double below, step;
  };
  for (Case c : {Case{"bf16", 1, 0x1p-7}, Case{"bf16", 0, 0x1p-133},
                 Case{"bf16", 0x1.fcp127, 0x1p120}, Case{"f16", 1, 0x1p-10},
                 Case{"f16", 0, 0x1p-24}, Case{"f16", 3 * 0x1p-24, 0x1p-24}})
    for (double fraction : {0.125, 0.75}) {
      Numbers rounded = round(Numbers(1 << 16, c.below + fraction * c.step),
                              c.element, {2, 3});
      double ups = 0;
      for (double value : rounded) {
        ASSERT_TRUE(value == c.below || value == c.below + c.step) << value;
        ups += value != c.below;
      }
      EXPECT_NEAR(ups / rounded.size(), fraction,
                  3.5 * std::sqrt(fraction * (1 - fraction) / 65536))
          << c.element << " " << c.below;
    }
}

TEST(Random, StochasticRoundKeepsWhatTheTypeHolds) {
  double infinity = std::numeric_limits<double>::infinity();
  Numbers x{0, -0.0, 1, -1.5, 0x1p-14, 65504 - 32, infinity, -infinity};
  for (const char *element : {"bf16", "f16"})
    for (uint32_t stream = 0; stream < 4; ++stream) {
      Numbers exact = x;
      if (element == std::string("bf16"))
        exact[5] = x[5] = 65280;
      exact.push_back(std::nan(""));
      Numbers rounded = round(exact, element, {1, stream});
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(rounded[i], x[i]) << element;
        EXPECT_EQ(std::signbit(rounded[i]), std::signbit(x[i])) << element;
      }
      EXPECT_TRUE(std::isnan(rounded.back())) << element;
    }
  // Half of the numbers above the largest of f16 become infinite.
  EXPECT_EQ(round({65536, 1e30}, "f16", {}), (Numbers{infinity, infinity}));
}

//===----------------------------------------------------------------------===//
// A bf16 parameter without a master
//===----------------------------------------------------------------------===//

namespace {
/// Steps of gradient descent on (w - 0.3)^2 / 2 from w = 1 with a learning rate
/// of 2^-9, whose updates soon are less than half a step of bf16. Returns the
/// mean of w.
double descend(StringRef rounding, int steps) {
  std::string module = formatv(R"(
mp.variable @w : tensor<1024xbf16> = #mp.init<ones>
mp.variable attempt @attempts : tensor<i64> = #mp.init<zeros>
func.func @f() -> tensor<1024xf32> {{
  %one = mp.constant dense<1> : tensor<i64>
  %attempts = mp.read @attempts : tensor<i64>
  %next = mp.add %attempts, %one : tensor<i64>, tensor<i64>
  mp.write @attempts, %next : tensor<i64>
  %low = mp.read @w : tensor<1024xbf16>
  %w = mp.cast %low : tensor<1024xbf16> to tensor<1024xf32>
  %target = mp.constant dense<0.3> : tensor<f32>
  %rate = mp.constant dense<0.001953125> : tensor<f32>
  %g = mp.sub %w, %target : tensor<1024xf32>, tensor<f32>
  %d = mp.mul %g, %rate : tensor<1024xf32>, tensor<f32>
  %new = mp.sub %w, %d : tensor<1024xf32>, tensor<1024xf32>
  %rounded = {0} : tensor<1024xf32> to tensor<1024xbf16>
  mp.write @w, %rounded : tensor<1024xbf16>
  return %w : tensor<1024xf32>
})",
                               rounding);
  auto function = GoldenFunction::compile(module, "f");
  if (!function) {
    ADD_FAILURE() << toString(function.takeError());
    return 0;
  }
  Numbers w;
  for (int step = 0; step < steps; ++step)
    w = cantFail((*function)({})).front();
  return moments(w)[0];
}
} // namespace

// An update of 0.7 * 2^-9 is less than half of the distance of 1 to the next
// number below, 2^-8, and so is lost. Exact arithmetic arrives at 0.3 + 0.7 (1
// - 2^-9)^2999 = 0.3020.
TEST(Random, StochasticRoundingGoesOnWhereNearestStalls) {
  EXPECT_EQ(descend("mp.cast %new", 3000), 1.0);
  EXPECT_NEAR(
      descend("mp.stochastic_round %new stream(0) key(%one, %attempts)", 3000),
      0.3020, 0.002);
}

//===----------------------------------------------------------------------===//
// Other targets
//===----------------------------------------------------------------------===//

TEST(Random, IsTheSameOnCuda) {
  setenv("MP_CUDA_PATH", MP_EMULATOR_DIR, 1);
  setenv("MP_CACHE_DIR", "off", 1);
  Key key{UINT64_MAX - 5, 6, 1u << 31, 3};
  Numbers x;
  for (int i = 0; i < 33 * 37; ++i)
    x.push_back(float(std::sin(i) * 0.6));
  std::string f32 = "tensor<33x37xf32>", bf16 = "tensor<33x37xbf16>",
              f16 = "tensor<33x37xf16>";
  for (const std::string &module :
       {moduleOf("mp.uniform", "", f32, key),
        moduleOf("mp.normal", "", f32, key),
        moduleOf("mp.normal", "", bf16, key),
        moduleOf("mp.gumbel", "", f32, key),
        moduleOf("mp.bernoulli", "", f32, key, f32),
        moduleOf("mp.dropout", "", bf16, key, bf16),
        moduleOf("mp.stochastic_round", "", f32, key, f32, bf16),
        moduleOf("mp.stochastic_round", "", f32, key, f32, f16)}) {
    std::vector<Numbers> inputs;
    if (StringRef(module).contains("%x"))
      inputs.push_back(x);
    EXPECT_EQ(run(module, inputs), run(module, inputs, {Device::Kind::Cuda, 0}))
        << module;
  }
}
