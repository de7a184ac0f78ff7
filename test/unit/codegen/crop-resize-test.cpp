//===- crop-resize-test.cpp - boxes of images against a loop --------------===//
//
// On the CPU and on the emulated device: boxes that are not whole, that end
// outside of the image, that have no pixel, and numbers that no box has.
// PyTorch's pixels are in test/goldens/ops/augmentation.json.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace llvm;
using namespace mp;

namespace {

struct Images {
  int64_t count, height, width, channels, rows, columns;
};

Numbers draw(int64_t count, double low, double high, unsigned seed) {
  std::mt19937 random(seed);
  Numbers numbers(count);
  for (double &number : numbers)
    number = float(low + (high - low) * (random() % 4096) / 4096);
  return numbers;
}

/// The position among the pixels of a side.
double positionOf(int64_t place, int64_t places, double begin, double extent) {
  float scale = float(extent) / float(places);
  float at = (float(place) + 0.5f) * scale - 0.5f;
  at = std::fmin(std::fmax(at, 0.0f), std::fmax(float(extent) - 1, 0.0f));
  return begin + at;
}

/// Between two pixels of a line, whose edges are repeated outside.
template <typename Pixel> double mix(double at, int64_t pixels, Pixel pixel) {
  auto inside = [&](double number) {
    return int64_t(std::fmin(std::fmax(number, 0), double(pixels - 1)));
  };
  double before = std::floor(at), part = at - before;
  return (1 - part) * pixel(inside(before)) + part * pixel(inside(before + 1));
}

Numbers cropped(const Images &size, const Numbers &images,
                ArrayRef<Numbers> box) {
  Numbers result;
  for (int64_t n = 0; n < size.count; ++n)
    for (int64_t y = 0; y < size.rows; ++y)
      for (int64_t x = 0; x < size.columns; ++x)
        for (int64_t c = 0; c < size.channels; ++c) {
          double down = positionOf(y, size.rows, box[0][n], box[2][n]);
          double across = positionOf(x, size.columns, box[1][n], box[3][n]);
          result.push_back(mix(down, size.height, [&](int64_t row) {
            return mix(across, size.width, [&](int64_t column) {
              int64_t pixel = (n * size.height + row) * size.width + column;
              return images[pixel * size.channels + c];
            });
          }));
        }
  return result;
}

Expected<Numbers> run(const Images &size, StringRef element,
                      const std::vector<Numbers> &inputs, Device device) {
  std::string images = formatv("tensor<{0}x{1}x{2}x{3}x{4}>", size.count,
                               size.height, size.width, size.channels, element);
  std::string result = formatv("tensor<{0}x{1}x{2}x{3}x{4}>", size.count,
                               size.rows, size.columns, size.channels, element);
  std::string module = formatv(
      "func.func @f(%x: {0}, %t: {1}, %l: {1}, %h: {1}, %w: {1}) -> {2} {{\n"
      "  %y = mp.crop_resize %x, %t, %l, %h, %w size[{3}, {4}] : {0}, {1}\n"
      "  return %y : {2}\n}",
      images, formatv("tensor<{0}xf32>", size.count), result, size.rows,
      size.columns);
  auto function = GoldenFunction::compile(module, "f", device);
  if (!function)
    return function.takeError();
  auto results = (*function)(inputs);
  if (!results)
    return results.takeError();
  return results->front();
}

/// How far a pixel may be off: the position is rounded to f32 and so is the
/// mix; bytes are rounded to whole numbers.
double toleranceOf(StringRef element) {
  return element == "ui8" ? 0.501 : element == "bf16" ? 0.3 : 0.05;
}

void check(const Images &size, StringRef element, Device device) {
  int64_t count = size.count;
  Numbers x = draw(count * size.height * size.width * size.channels, 0, 100, 1);
  if (element != "f32" && element != "f64")
    for (double &pixel : x)
      pixel = std::floor(pixel);
  std::vector<Numbers> box{draw(count, -3, size.height, 2),
                           draw(count, -3, size.width, 3),
                           draw(count, 0, 1.5 * size.height, 4),
                           draw(count, 0, 1.5 * size.width, 5)};
  Numbers expected = cropped(size, x, box);
  auto found = run(size, element, {x, box[0], box[1], box[2], box[3]}, device);
  ASSERT_TRUE(bool(found)) << toString(found.takeError());
  ASSERT_EQ(found->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR((*found)[i], expected[i], toleranceOf(element))
        << element.str() << ", element " << i;
}

void checkAll(Device device) {
  for (StringRef element : {"ui8", "bf16", "f16", "f32", "f64"})
    for (const Images &size :
         {Images{9, 5, 7, 1, 6, 4}, Images{5, 8, 6, 3, 8, 8},
          Images{3, 1, 9, 16, 2, 5}, Images{2, 4, 4, 19, 3, 3}})
      check(size, element, device);
}

/// Nothing outside of the images is read, whatever the numbers are.
void checkWild(Device device) {
  const double inf = HUGE_VAL, nan = std::nan(""), large = 3e38;
  for (StringRef element : {"ui8", "f32"})
    for (const Numbers &wild : {Numbers{nan, inf, -inf, large, -large},
                                Numbers{-inf, large, nan, -1, 1e30}}) {
      Images size{5, 2, 3, 3, 4, 4};
      auto found =
          run(size, element, {Numbers(90, 7), wild, wild, wild, wild}, device);
      ASSERT_TRUE(bool(found)) << toString(found.takeError());
      EXPECT_EQ(*found, Numbers(240, 7));
    }
}

/// The image of a place depends on nothing but itself and its box, so neither
/// the order of a batch nor its size matters.
void checkAlone(Device device) {
  Images all{4, 6, 6, 3, 5, 5}, one{1, 6, 6, 3, 5, 5};
  Numbers x = draw(4 * 108, 0, 255, 1), top = draw(4, 0, 3, 2);
  auto together =
      run(all, "f32", {x, top, top, Numbers(4, 3), Numbers(4, 2)}, device);
  ASSERT_TRUE(bool(together)) << toString(together.takeError());
  for (int64_t n = 0; n < 4; ++n) {
    Numbers own(x.begin() + n * 108, x.begin() + (n + 1) * 108);
    auto alone =
        run(one, "f32", {own, {top[n]}, {top[n]}, {3.0}, {2.0}}, device);
    ASSERT_TRUE(bool(alone)) << toString(alone.takeError());
    EXPECT_EQ(*alone, Numbers(together->begin() + n * 75,
                              together->begin() + (n + 1) * 75));
  }
}

void useEmulator() {
  setenv("MP_CUDA_PATH", MP_EMULATOR_DIR, 1);
  setenv("MP_CACHE_DIR", "off", 1);
}

} // namespace

TEST(CropResize, AgreesWithALoopOnTheCpu) { checkAll({}); }
TEST(CropResize, StaysWithinTheImageOnTheCpu) { checkWild({}); }
TEST(CropResize, TakesEachImageAloneOnTheCpu) { checkAlone({}); }

TEST(CropResize, AgreesWithALoopOnTheDevice) {
  useEmulator();
  checkAll({Device::Kind::Cuda, 0});
}
TEST(CropResize, StaysWithinTheImageOnTheDevice) {
  useEmulator();
  checkWild({Device::Kind::Cuda, 0});
}
TEST(CropResize, TakesEachImageAloneOnTheDevice) {
  useEmulator();
  checkAlone({Device::Kind::Cuda, 0});
}
