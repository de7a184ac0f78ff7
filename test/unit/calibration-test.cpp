//===- calibration-test.cpp - what f16 makes of gradients -----------------===//
#include "runtime/Calibration.h"
#include "runtime/data/Convert.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mp;

namespace {
double roundToHalf(double value) {
  char bytes[2];
  storeElement(ElementType::F16, value, bytes);
  return loadElement(ElementType::F16, bytes);
}

TEST(Calibration, TheLargestPowerThatStaysBelow65504) {
  std::vector<double> numbers{65504, 65503.99, 65505, 1e-38, 1e38, 1, 3, 0.07};
  for (int e = -60; e < 20; ++e)
    for (double factor : {1.0, 1.5, 65504 / 65536.0, 0.9995, 1.9999})
      numbers.push_back(std::ldexp(factor, e));
  for (double largest : numbers)
    for (int headroom : {0, 3, 6}) {
      int exponent = chooseExponent(largest, headroom);
      EXPECT_LT(std::ldexp(largest, exponent + headroom), 65504) << largest;
      if (exponent < 126) {
        EXPECT_GE(std::ldexp(largest, exponent + headroom + 1), 65504)
            << largest;
      }
    }
}

TEST(Calibration, ScaleAndInverseAreNormal) {
  EXPECT_EQ(chooseExponent(1e-45, 0), 126);
  Calibration calibration;
  calibration.exponent = 126;
  EXPECT_EQ(calibration.scaler(), "static:8.5070591730234616e+37");
  calibration.exponent = 40;
  EXPECT_EQ(calibration.scaler(), "static:1099511627776");
  calibration.exponent = -2;
  EXPECT_EQ(calibration.scaler(), "static:0.25");
}

/// The middle of each exponent's numbers becomes in f16 what is said of it.
TEST(Calibration, FatesAreThoseOfTheType) {
  for (int e = -40; e < 30; ++e) {
    double rounded = roundToHalf(std::ldexp(1.5, e));
    EXPECT_EQ(fateInHalf(e), rounded == 0                   ? "zero"
                             : rounded < std::ldexp(1, -14) ? "subnormal"
                             : std::isfinite(rounded)       ? "normal"
                                                            : "infinite")
        << e;
  }
}

TEST(Calibration, SharesAreOfWhatIsNotZero) {
  Magnitudes magnitudes;
  for (double value : {0.0, -0.0, std::ldexp(1.0, -30), std::ldexp(-1.5, -20),
                       1.0, -3.0, 1e6, double(INFINITY), double(NAN)})
    magnitudes.add(value);
  EXPECT_EQ(magnitudes.zeros, 2u);
  EXPECT_EQ(magnitudes.nonFinite, 2u);
  EXPECT_EQ(magnitudes.nonZeros(), 5u);
  EXPECT_EQ(magnitudes.largest, 1e6);
  Magnitudes::Shares as = magnitudes.inHalf(0), down = magnitudes.inHalf(-10);
  EXPECT_DOUBLE_EQ(as.zero, 0.2);
  EXPECT_DOUBLE_EQ(as.subnormal, 0.2);
  EXPECT_DOUBLE_EQ(as.normal, 0.4);
  EXPECT_DOUBLE_EQ(as.infinite, 0.2);
  EXPECT_DOUBLE_EQ(down.zero, 0.4);
  EXPECT_DOUBLE_EQ(down.normal, 0.6);
  Magnitudes both = magnitudes;
  both.add(magnitudes);
  EXPECT_EQ(both.nonZeros(), 10u);
}
} // namespace
