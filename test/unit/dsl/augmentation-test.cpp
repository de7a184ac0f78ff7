//===- augmentation-test.cpp - images that training moves -----------------===//
//
// Random boxes and moves are recovered from images that show where their pixels
// come from, and held against what torchvision draws.
//
//===----------------------------------------------------------------------===//
#include "GraphRun.h"
#include "dsl/Augmentation.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace mantissa;
using mp::Numbers, mp::test::run;

namespace {

/// Images of f32 with two channels: the row and the column of each pixel.
constexpr int64_t kHeight = 24, kWidth = 32;
Numbers placesOf(int64_t count) {
  Numbers numbers;
  for (int64_t n = 0; n < count; ++n)
    for (int64_t y = 0; y < kHeight; ++y)
      for (int64_t x = 0; x < kWidth; ++x)
        numbers.insert(numbers.end(), {double(y), double(x)});
  return numbers;
}

//===----------------------------------------------------------------------===//
// Places of pixels
//===----------------------------------------------------------------------===//

TEST(RandomCrop, MovesAndMirrorsWithinThePadding) {
  constexpr int64_t count = 400, padding = 3;
  Graph net("m");
  Tensor x = net.input("x", F32, {count, kHeight, kWidth, 2});
  net.output("y", randomCrop(x, {.padding = padding, .flip = 0.25}));
  Numbers images = run(net, {placesOf(count)})[0];
  std::set<int64_t> rows, columns;
  int64_t mirrored = 0;
  for (int64_t n = 0; n < count; ++n) {
    // A pixel in the middle, and its right neighbour.
    const double *pixel =
        &images[((n * kHeight + kHeight / 2) * kWidth + kWidth / 2) * 2];
    bool isMirrored = pixel[3] < pixel[1];
    mirrored += isMirrored;
    int64_t from = isMirrored ? kWidth - 1 - kWidth / 2 : kWidth / 2;
    rows.insert(int64_t(pixel[0]) - kHeight / 2);
    columns.insert(int64_t(pixel[1]) - from);
    EXPECT_EQ(std::abs(pixel[3] - pixel[1]), 1);
  }
  EXPECT_EQ(rows, (std::set<int64_t>{-3, -2, -1, 0, 1, 2, 3}));
  EXPECT_EQ(columns, rows);
  EXPECT_NEAR(double(mirrored) / count, 0.25, 0.08);
}

struct Box {
  double top, left, height, width;
  double area() const { return height * width / double(kHeight * kWidth); }
};

/// A random box as torchvision's get_params draws it: again until one fits.
Box drawBox(std::mt19937 &random, const RandomResizedCrop &crop) {
  auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<>(low, high)(random);
  };
  for (;;) {
    double area = uniform(crop.minArea, crop.maxArea) * kHeight * kWidth;
    double ratio =
        std::exp(uniform(std::log(crop.minRatio), std::log(crop.maxRatio)));
    double width = std::round(std::sqrt(area * ratio)),
           height = std::round(std::sqrt(area / ratio));
    if (width > 0 && width <= kWidth && height > 0 && height <= kHeight)
      return {std::floor(uniform(0, kHeight - height + 1)),
              std::floor(uniform(0, kWidth - width + 1)), height, width};
  }
}

/// Where a side of a box is, by two of its places, from the inside.
std::pair<double, double> sideOf(double first, double second, int64_t gap,
                                 int64_t place, int64_t places) {
  double scale = (second - first) / double(gap);
  return {first - (double(place) + 0.5) * scale + 0.5, scale * double(places)};
}

/// The boxes that a graph drew.
std::vector<Box> drawnBoxes(const RandomResizedCrop &crop, int64_t count) {
  Graph net("m");
  Tensor x = net.input("x", F32, {count, kHeight, kWidth, 2});
  net.output("y", randomResizedCrop(x, crop));
  Numbers images = run(net, {placesOf(count)})[0];
  auto [rows, columns] = crop.size;
  std::vector<Box> boxes;
  for (int64_t n = 0; n < count; ++n) {
    auto at = [&](int64_t y, int64_t x) {
      return &images[((n * rows + y) * columns + x) * 2];
    };
    // A quarter from each end, where nothing lies beyond a box's last pixel.
    int64_t y = rows / 4, x = columns / 4;
    int64_t down = rows - 1 - 2 * y, across = columns - 1 - 2 * x;
    auto [top, height] = sideOf(at(y, x)[0], at(y + down, x)[0], down, y, rows);
    auto [left, width] =
        sideOf(at(y, x)[1], at(y, x + across)[1], across, x, columns);
    boxes.push_back({top, left, height, width});
  }
  return boxes;
}

double mean(llvm::ArrayRef<Box> boxes, double (*of)(const Box &)) {
  double sum = 0;
  for (const Box &box : boxes)
    sum += of(box);
  return sum / double(boxes.size());
}

TEST(RandomResizedCrop, DrawsTorchvisionsBoxes) {
  constexpr int64_t count = 3000;
  RandomResizedCrop crop{.size = {16, 16}, .minArea = 0.2, .maxArea = 0.9};
  std::vector<Box> boxes = drawnBoxes(crop, count), theirs;
  std::mt19937 random(1);
  for (int64_t n = 0; n < count; ++n)
    theirs.push_back(drawBox(random, crop));
  std::set<double> tops;
  for (const Box &box : boxes) {
    for (double side : {box.top, box.left, box.height, box.width})
      EXPECT_NEAR(side, std::round(side), 1e-3);
    EXPECT_GE(box.top, -1e-3);
    EXPECT_GE(box.left, -1e-3);
    EXPECT_LE(box.top + box.height, kHeight + 1e-3);
    EXPECT_LE(box.left + box.width, kWidth + 1e-3);
    EXPECT_GE(box.area(), 0.2 - 0.06); // of whole pixels
    EXPECT_LE(box.area(), 0.9 + 0.06);
    tops.insert(std::round(box.top));
  }
  EXPECT_GE(tops.size(), 12u);
  // Three deviations of the means, and what the drawing again is worth.
  for (auto of :
       {+[](const Box &box) { return box.area(); },
        +[](const Box &box) { return std::log(box.width / box.height); },
        +[](const Box &box) {
          return (box.top + box.height / 2) / double(kHeight);
        },
        +[](const Box &box) {
          return (box.left + box.width / 2) / double(kWidth);
        }})
    EXPECT_NEAR(mean(boxes, of), mean(theirs, of), 0.016);
}

TEST(RandomResizedCrop, TakesWhatFitsOfAShapeThatNoImageHas) {
  // Ten times as wide as high: no box of this area lies in the images.
  RandomResizedCrop crop{.size = {8, 8},
                         .minArea = 0.8,
                         .maxArea = 0.9,
                         .minRatio = 10,
                         .maxRatio = 10};
  for (const Box &box : drawnBoxes(crop, 50)) {
    EXPECT_NEAR(box.width, kWidth, 1e-3);
    EXPECT_LE(box.height, kHeight + 1e-3);
    EXPECT_GE(box.height, 1 - 1e-3);
  }
}

//===----------------------------------------------------------------------===//
// Replay
//===----------------------------------------------------------------------===//

/// Varies images of bytes in every way that mixes no others in.
Tensor vary(const Tensor &x) {
  Tensor moved = randomCrop(x, {.padding = 2, .flip = 0.5});
  Tensor crop = randomResizedCrop(moved, {.size = 8});
  return colorJitter(
      crop,
      {.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1});
}
Numbers varied(int64_t count, const Numbers &images, unsigned threads,
               mp::Device device = {}) {
  Graph net("m");
  Tensor x = net.input("x", U8, {count, 12, 10, 3});
  net.output("y", vary(x));
  return run(net, {images}, threads, device)[0];
}
Numbers randomBytes(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  Numbers bytes(count);
  for (double &byte : bytes)
    byte = random() % 256;
  return bytes;
}

TEST(Replay, APlaceVariesWhateverElseIsInTheBatch) {
  constexpr int64_t pixels = 12 * 10 * 3, out = 8 * 8 * 3;
  Numbers images = randomBytes(9 * pixels, 1);
  Numbers all = varied(9, images, 1);
  EXPECT_NE(Numbers(all.begin(), all.begin() + out),
            Numbers(all.begin() + out, all.begin() + 2 * out));
  // On more threads; in a smaller batch; beside other images.
  EXPECT_EQ(varied(9, images, 3), all);
  Numbers few(images.begin(), images.begin() + 4 * pixels);
  EXPECT_EQ(varied(4, few, 1), Numbers(all.begin(), all.begin() + 4 * out));
  Numbers others = randomBytes(9 * pixels, 2);
  std::copy_n(images.begin() + 5 * pixels, pixels, others.begin() + 5 * pixels);
  Numbers beside = varied(9, others, 1);
  EXPECT_TRUE(std::equal(all.begin() + 5 * out, all.begin() + 6 * out,
                         beside.begin() + 5 * out));
}

TEST(Replay, ADeviceDrawsWhatTheCpuDraws) {
  setenv("MP_CUDA_PATH", MP_EMULATOR_DIR, 1);
  setenv("MP_CACHE_DIR", "off", 1);
  Numbers images = randomBytes(5 * 12 * 10 * 3, 3);
  Numbers cpu = varied(5, images, 1),
          cuda = varied(5, images, 1, {mp::Device::Kind::Cuda, 0});
  ASSERT_EQ(cpu.size(), cuda.size());
  // Sums of the mean grey have another order, so a byte may be rounded to the
  // other side.
  for (size_t i = 0; i < cpu.size(); ++i)
    ASSERT_NEAR(cpu[i], cuda[i], 1) << i;
}

//===----------------------------------------------------------------------===//
// Mistakes
//===----------------------------------------------------------------------===//

TEST(Augmentation, TellsMistakes) {
  Graph net("m");
  Tensor x = net.input("x", U8, {Batch, 8, 8, 3});
  Tensor flat = net.input("flat", U8, {Batch, 64});
  Tensor two = net.input("two", U8, {Batch, 8, 8, 2});
  Tensor label = net.input("label", U8, {Batch});
  Tensor numbers = net.input("numbers", I32, {Batch, 8, 8, 3});
  std::vector<std::string> expected;
  auto expect = [&](Tensor made, const char *message) {
    EXPECT_FALSE(bool(made)) << message;
    expected.push_back(message);
  };
  expect(randomCrop(flat, {}), "randomCrop on ?x64xui8: expected [batch, ");
  expect(randomCrop(numbers, {}), "channels] of bytes or floats");
  expect(randomCrop(x, {.padding = -1}), "padding that is not negative");
  expect(randomCrop(x, {.flip = 2}), "flip from 0 to 1");
  expect(randomResizedCrop(x, {.size = 4, .minArea = 0}), "above 0 to 1");
  expect(randomResizedCrop(x, {.size = 4, .minRatio = 2}), "expected ratios");
  expect(randomResizedCrop(x, {.size = 4, .center = 0}), "expected a center");
  expect(randomResizedCrop(x, {.size = 0}), "size has 0, expected a number");
  expect(colorJitter(two, {.hue = 0.1}), "expected [batch, height, width, 1");
  expect(colorJitter(x, {.brightness = -1}), "that are not negative");
  expect(colorJitter(x, {.hue = 0.6}), "expected a hue from 0 to 0.5");
  expect(adjustColors(x, {.contrast = label}), "a factor of f32 for each");
  expect(normalizeImages(x, {1, 2}, {1}), "2 numbers for its channels");
  expect(mixSamples(x, label, {}).images, "expected an alpha above 0");
  expect(mixSamples(x, label, {.mixup = 1, .switching = 2}).images,
         "switching from 0 to 1");
  expect(mixSamples(flat, label, {.mixup = 1}).images,
         "mixSamples on ?x64xui8");
  expect(symmetricBeta(net, 0), "symmetricBeta: alpha is 0");
  ASSERT_GE(net.mistakes().size(), expected.size());
  size_t at = 0;
  for (const std::string &message : net.mistakes())
    if (at < expected.size() && message.find(expected[at]) != std::string::npos)
      ++at;
  EXPECT_EQ(at, expected.size())
      << expected[std::min(at, expected.size() - 1)] << "\n"
      << net.mistakes()[std::min(at, net.mistakes().size() - 1)];
}

} // namespace
