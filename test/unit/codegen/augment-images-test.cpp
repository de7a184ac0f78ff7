//===- augment-images-test.cpp - moved images against a loop --------------===//
//
// On the CPU and on the emulated device, in element types of all widths.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <random>

using namespace llvm;
using namespace mp;

namespace {

struct Images {
  int64_t count, height, width, channels;

  int64_t elements() const { return count * height * width * channels; }
};

/// Numbers in [low, high].
Numbers draw(int64_t count, int low, int high, unsigned seed) {
  std::mt19937 random(seed);
  Numbers numbers(count);
  for (double &number : numbers)
    number = low + int(random() % (high - low + 1));
  return numbers;
}

Numbers moved(const Images &size, const Numbers &images, const Numbers &rows,
              const Numbers &columns, const Numbers &mirrored) {
  Numbers result;
  for (int64_t n = 0; n < size.count; ++n)
    for (int64_t y = 0; y < size.height; ++y)
      for (int64_t x = 0; x < size.width; ++x)
        for (int64_t c = 0; c < size.channels; ++c) {
          int64_t row = y + int64_t(rows[n]);
          int64_t column = mirrored[n] ? size.width - 1 - x : x;
          column += int64_t(columns[n]);
          bool isInside = row >= 0 && row < size.height && column >= 0 &&
                          column < size.width;
          int64_t at =
              ((n * size.height + row) * size.width + column) * size.channels +
              c;
          result.push_back(isInside ? images[at] : 0);
        }
  return result;
}

void check(const Images &size, StringRef element, bool mirrors, Device device) {
  std::string images = formatv("tensor<{0}x{1}x{2}x{3}x{4}>", size.count,
                               size.height, size.width, size.channels, element);
  std::string number = formatv("tensor<{0}xi32>", size.count);
  std::string flag = formatv("tensor<{0}xi1>", size.count);
  std::string module =
      formatv("func.func @f(%x: {0}, %r: {1}, %c: {1}, %m: {2}) -> {0} {{\n"
              "  %y = mp.augment_images %x, %r, %c {3}: {0}, {1}, {1}\n"
              "  return %y : {0}\n}",
              images, number, flag,
              mirrors ? "mirrored(%m : " + flag + ") " : std::string());
  bool isFlag = element == "i1";
  Numbers x = draw(size.elements(), 0, isFlag ? 1 : 100, 1);
  Numbers rows = draw(size.count, -3, 3, 2),
          columns = draw(size.count, -3, 3, 3);
  Numbers mirrored = draw(size.count, 0, 1, 4);
  rows[0] = -2147483648.0; // far outside
  columns.back() = 2147483647.0;
  auto function = GoldenFunction::compile(module, "f", device);
  ASSERT_TRUE(bool(function)) << toString(function.takeError()) << module;
  auto results = (*function)({x, rows, columns, mirrored});
  ASSERT_TRUE(bool(results)) << toString(results.takeError());
  Numbers flags = mirrors ? mirrored : Numbers(size.count);
  EXPECT_EQ(results->front(), moved(size, x, rows, columns, flags)) << module;
}

void checkAll(Device device) {
  for (StringRef element : {"ui8", "i1", "f16", "f32", "f64"})
    for (bool mirrors : {false, true})
      for (const Images &size :
           {Images{9, 5, 7, 1}, Images{5, 4, 3, 16}, Images{3, 1, 9, 19}})
        check(size, element, mirrors, device);
}

} // namespace

TEST(AugmentImages, AgreesWithALoopOnTheCpu) { checkAll({}); }

TEST(AugmentImages, AgreesWithALoopOnTheDevice) {
  setenv("MP_CUDA_PATH", MP_EMULATOR_DIR, 1);
  setenv("MP_CACHE_DIR", "off", 1);
  checkAll({Device::Kind::Cuda, 0});
}
