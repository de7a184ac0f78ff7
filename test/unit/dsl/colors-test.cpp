//===- colors-test.cpp - colours that training varies ---------------------===//
//
// Colours are torchvision's own (test/goldens/colors.json).
//
//===----------------------------------------------------------------------===//
#include "GraphRun.h"
#include "dsl/Augmentation.h"
#include <gtest/gtest.h>

using namespace mantissa;
using mp::Numbers, mp::test::check, mp::test::run;

namespace {

struct Colors {
  llvm::json::Object golden = check(mp::readGolden("colors.json"));

  Numbers read(const llvm::json::Array &array) const {
    Numbers numbers;
    for (const llvm::json::Value &value : array)
      numbers.push_back(*value.getAsNumber());
    return numbers;
  }
  Numbers bytes() const { return read(*golden.getArray("bytes")); }
  Numbers factors(llvm::StringRef step) const {
    return read(*golden.getObject("factors")->getArray(step));
  }
  Numbers result(llvm::StringRef name) const {
    return read(*golden.getObject("results")->getArray(name));
  }
};

constexpr const char *kSteps[] = {"brightness", "contrast", "saturation",
                                  "hue"};

/// What the steps of a name make of the images, "all" for all four.
Numbers adjusted(const Colors &colors, ElementType element,
                 llvm::StringRef name) {
  Graph net("m");
  Tensor x = net.input("x", element, {5, 4, 6, 3});
  ColorFactors factors;
  Tensor *fields[] = {&factors.brightness, &factors.contrast,
                      &factors.saturation, &factors.hue};
  Numbers images = colors.bytes();
  if (element != U8)
    for (double &pixel : images)
      pixel = float(pixel / 255);
  std::vector<Numbers> inputs{images};
  for (auto [step, field] : llvm::zip_equal(kSteps, fields))
    if (name == step || name == "all") {
      *field = net.input(step, F32, {5});
      inputs.push_back(colors.factors(step));
    }
  net.output("y", adjustColors(x, factors));
  return run(net, inputs)[0];
}

TEST(AdjustColors, AreTorchvisions) {
  Colors colors;
  for (llvm::StringRef name :
       {"brightness", "contrast", "saturation", "hue", "all"}) {
    Numbers expected = colors.result(name);
    Numbers floats = adjusted(colors, F32, name),
            bytes = adjusted(colors, U8, name);
    ASSERT_EQ(floats.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(floats[i], expected[i], 2e-5) << name.str() << ", " << i;
      ASSERT_NEAR(bytes[i], expected[i] * 255, 0.505)
          << name.str() << ", " << i;
    }
  }
}

TEST(ColorJitter, DrawsFactorsOfEachImage) {
  constexpr int64_t count = 300;
  Graph net("m");
  Tensor x = net.input("x", F32, {count, 1, 1, 1});
  net.output("y", colorJitter(x, {.brightness = 0.4, .hue = 0.5}));
  Numbers factors = run(net, {Numbers(count, 0.5)})[0];
  double least = 1, most = 0;
  for (double factor : factors) {
    least = std::min(least, factor * 2);
    most = std::max(most, factor * 2);
  }
  EXPECT_GE(least, 0.6);
  EXPECT_LT(least, 0.63);
  EXPECT_LE(most, 1.4);
  EXPECT_GT(most, 1.37);
}

TEST(NormalizeImages, TakesOneNumberForEachChannel) {
  Graph net("m");
  Tensor x = net.input("x", U8, {1, 1, 2, 2});
  net.output("y", normalizeImages(x, {0.5, 0.25}, {0.5, 2}));
  net.output("z", normalizeImages(x, {1}, {2}));
  auto results = run(net, {{0, 0, 255, 255}});
  EXPECT_EQ(results[0], (Numbers{-1, -0.125, 1, 0.375}));
  EXPECT_EQ(results[1], (Numbers{-0.5, -0.5, 0, 0}));
}

} // namespace
