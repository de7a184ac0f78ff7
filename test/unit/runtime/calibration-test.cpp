//===- calibration-test.cpp - which scale is chosen -----------------------===//
#include "runtime/numerics/Calibration.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mp;

namespace {
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
} // namespace
