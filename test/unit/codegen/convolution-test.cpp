//===- convolution-test.cpp - convolutions against a loop over the taps ---===//
//
// Convolutions and both gradients, of all kinds of windows, against the sum
// over the taps in double. Operands are small whole numbers, so that sums are
// exact in any order and a result is the exact one, rounded once.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <random>

using namespace llvm;
using namespace mp;

namespace {

/// A dimension of an image and of the window.
struct Axis {
  int64_t size, window, stride = 1, low = 0, high = 0, dilation = 1;

  int64_t places() const {
    return (size + low + high - (window - 1) * dilation - 1) / stride + 1;
  }
  int64_t source(int64_t place, int64_t tap) const {
    return place * stride - low + tap * dilation;
  }
};

struct Convolution {
  int64_t images, in, out, groups = 1; ///< channels of all groups
  Axis rows, columns;
  bool bias = false, relu = false;

  Numbers input = {}, weight = {}, biases = {}, result = {};
  Numbers gradient = {}, ofInput = {},
          ofWeight = {}; ///< of the result, and the others

  void draw(unsigned seed) {
    std::mt19937 random(seed);
    auto fill = [&](Numbers &numbers, int64_t count) {
      numbers.resize(count);
      for (double &number : numbers)
        number = int(random() % 7) - 3;
    };
    fill(input, images * rows.size * columns.size * in);
    fill(weight, out * rows.window * columns.window * in / groups);
    fill(biases, out);
    fill(gradient, images * rows.places() * columns.places() * out);
    sum();
  }

private:
  void sum() {
    result.assign(gradient.size(), 0);
    ofInput.assign(input.size(), 0);
    ofWeight.assign(weight.size(), 0);
    for (int64_t image = 0; image < images; ++image)
      for (int64_t y = 0; y < rows.places(); ++y)
        for (int64_t x = 0; x < columns.places(); ++x)
          for (int64_t o = 0; o < out; ++o)
            sumPlace(image, y, x, o);
  }
  void sumPlace(int64_t image, int64_t y, int64_t x, int64_t o) {
    int64_t own = in / groups, first = o / (out / groups) * own;
    size_t to = ((image * rows.places() + y) * columns.places() + x) * out + o;
    double total = bias ? biases[o] : 0;
    for (int64_t i = 0; i < rows.window; ++i)
      for (int64_t j = 0; j < columns.window; ++j)
        for (int64_t c = 0; c < own; ++c) {
          int64_t row = rows.source(y, i), column = columns.source(x, j);
          if (row < 0 || row >= rows.size || column < 0 ||
              column >= columns.size)
            continue;
          size_t from =
              ((image * rows.size + row) * columns.size + column) * in + first +
              c;
          size_t tap = ((o * rows.window + i) * columns.window + j) * own + c;
          total += input[from] * weight[tap];
          ofInput[from] += gradient[to] * weight[tap];
          ofWeight[tap] += gradient[to] * input[from];
        }
    result[to] = relu ? std::max(total, 0.0) : total;
  }
};

/// A function that returns a convolution and both of its gradients.
std::string moduleOf(const Convolution &c, StringRef element) {
  auto images = [&](int64_t height, int64_t width,
                    int64_t channels) -> std::string {
    return formatv("tensor<{0}x{1}x{2}x{3}x{4}>", c.images, height, width,
                   channels, element);
  };
  std::string x = images(c.rows.size, c.columns.size, c.in);
  std::string y = images(c.rows.places(), c.columns.places(), c.out);
  std::string w = formatv("tensor<{0}x{1}x{2}x{3}x{4}>", c.out, c.rows.window,
                          c.columns.window, c.in / c.groups, element);
  std::string b = formatv("tensor<{0}x{1}>", c.out, element);
  std::string window = formatv(
      "strides[{0}, {1}] low[{2}, {3}] high[{4}, {5}] dilations[{6}, {7}] "
      "groups({8})",
      c.rows.stride, c.columns.stride, c.rows.low, c.columns.low, c.rows.high,
      c.columns.high, c.rows.dilation, c.columns.dilation, c.groups);
  std::string text = formatv("func.func @f(%x: {0}, %w: {1}, %b: {2}, %g: {3}) "
                             "-> ({3}, {0}, {1}) {{\n",
                             x, w, b, y);
  text += formatv("  %0 = mp.conv2d %x, %w{0} {1} : {2}, {3}{4}\n",
                  c.bias ? ", %b" : "", window, x, w, c.bias ? ", " + b : "");
  if (c.relu)
    text += formatv("  %r = mp.relu %0 : {0}\n", y);
  text += formatv("  %1 = mp.conv2d_backward_input %g, %w size[{0}, {1}] {2} : "
                  "{3}, {4}\n",
                  c.rows.size, c.columns.size, window, y, w);
  text += formatv("  %2 = mp.conv2d_backward_weight %g, %x size[{0}, {1}] {2} "
                  ": {3}, {4}\n",
                  c.rows.window, c.columns.window, window, y, x);
  return text + std::string(formatv("  return {0}, %1, %2 : {1}, {2}, {3}\n}",
                                    c.relu ? "%r" : "%0", y, x, w));
}

double rounded(double value, StringRef element) {
  const fltSemantics &semantics = element == "f16"    ? APFloat::IEEEhalf()
                                  : element == "bf16" ? APFloat::BFloat()
                                                      : APFloat::IEEEdouble();
  APFloat number(value);
  bool loses;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &loses);
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return number.convertToDouble();
}

void check(Convolution c, StringRef element, Device device = {},
           unsigned threads = 2) {
  c.draw(/*seed=*/1);
  std::string module = moduleOf(c, element);
  auto function = GoldenFunction::compile(module, "f", device, threads);
  ASSERT_TRUE(bool(function)) << toString(function.takeError()) << module;
  auto results = (*function)({c.input, c.weight, c.biases, c.gradient});
  ASSERT_TRUE(bool(results)) << toString(results.takeError()) << module;
  const std::pair<const char *, Numbers *> wanted[] = {
      {"result", &c.result}, {"input", &c.ofInput}, {"weight", &c.ofWeight}};
  for (auto [got, want] : zip_equal(*results, wanted)) {
    ASSERT_EQ(got.size(), want.second->size()) << module;
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], rounded((*want.second)[i], element))
          << want.first << ", element " << i << " of\n"
          << module;
  }
}

/// Windows of all kinds, of images that have a few tiles of places.
std::vector<Convolution> windows() {
  auto square = [](int64_t size, int64_t window, int64_t stride = 1,
                   int64_t padding = 0, int64_t dilation = 1) {
    return Axis{size, window, stride, padding, padding, dilation};
  };
  return {
      {2, 3, 16, 1, square(5, 1), square(7, 1), true, true},
      {2, 5, 7, 1, square(6, 3, 1, 1), square(9, 3, 1, 1), true},
      {1, 16, 32, 1, square(9, 3, 1, 1), square(33, 3, 1, 1), true, true},
      {3, 1, 4, 1, square(8, 5, 1, 2), square(8, 5, 1, 2)},
      {1, 3, 9, 1, square(15, 7, 2, 3), square(23, 7, 2, 3)},
      {1, 2, 3, 1, square(13, 11, 4, 2), square(14, 11, 3, 5), true},
      {2, 4, 6, 1, square(1, 1), {20, 7, 1, 3, 3, 1}},
      {2, 4, 6, 1, {6, 2, 1, 0, 1, 1}, {7, 4, 1, 1, 2, 1}},
      {1, 3, 5, 1, square(9, 3, 2, 2, 2), square(11, 3, 3, 1, 2)},
      {1, 3, 5, 1, square(9, 3, 3, 1), square(10, 2, 3)},
      {2, 5, 4, 1, square(7, 1, 2), square(6, 1, 3)},
      {1, 4, 6, 2, square(5, 3, 1, 1), square(6, 3, 1, 1), true},
      {1, 6, 12, 3, square(5, 3, 2, 1), square(6, 1)},
      {2, 37, 37, 37, square(6, 3, 1, 1), square(19, 3, 1, 1), true, true},
      {1, 20, 20, 20, square(7, 5, 2, 2), square(8, 5, 2, 2)},
      {1, 6, 12, 6, square(5, 3, 1, 1), square(6, 3, 1, 1)},
      {2, 40, 70, 1, square(4, 3, 1, 1), square(5, 3, 1, 1), true},
      {1, 3, 130, 1, square(3, 3, 1, 1), square(3, 3, 1, 1)},
      {2, 2, 2, 1, square(2, 2, 1, 4), square(2, 3, 1, 5)},
      {17, 8, 8, 1, square(2, 2), square(1, 1)},
      {3, 33, 20, 1, square(5, 3, 1, 1), square(18, 3, 1, 1), true},
      {2, 8, 16, 4, square(3, 1), square(9, 1), true, true},
      {2, 64, 24, 2, square(6, 3, 2, 1), square(37, 1, 2)},
      {2, 48, 16, 1, square(71, 3, 1, 1), square(70, 3, 1, 1)},
      {3, 34, 40, 1, square(4, 3, 1, 2, 2), square(20, 5, 1, 2)},
      // Short rows: tiles of several panels.
      {3, 20, 64, 1, square(8, 3, 1, 1), square(7, 3, 1, 1)},
      {2, 65, 128, 1, square(5, 3, 2, 2), square(4, 3, 1, 1), true, true},
      // Few channels of the source.
      {5, 3, 40, 1, square(9, 3, 1, 1), square(12, 3, 1, 1)},
      {4, 3, 20, 1, square(16, 7, 2, 3), square(21, 7, 2, 3)},
      // Pixels of pages.
      {1, 1024, 32, 1, square(5, 1, 2), square(18, 1, 2)},
      {1, 1024, 16, 1, square(5, 3, 1, 2, 2), square(9, 3, 1, 2, 2)},
  };
}

} // namespace

TEST(Convolution, AgreesWithTheSumOverTaps) {
  for (const Convolution &convolution : windows())
    for (StringRef element : {"f32", "bf16"})
      check(convolution, element);
}

TEST(Convolution, EveryType) {
  for (size_t number : {1, 4, 11, 13})
    for (StringRef element : {"f64", "f16"})
      check(windows()[number], element);
}

// Work is split by the shape alone.
TEST(Convolution, TakesAnyNumberOfThreads) {
  for (size_t number : {2, 8, 16, 19, 20})
    for (unsigned threads : {1, 3, 7})
      for (StringRef element : {"f32", "bf16"})
        check(windows()[number], element, Device(), threads);
}
