//===- OnBothTargets.h - tests on the CPU and on the emulated device ------===//
#ifndef MP_TEST_UNIT_ONBOTHTARGETS_H
#define MP_TEST_UNIT_ONBOTHTARGETS_H

#include "runtime/Device.h"
#include "gtest/gtest.h"
#include <cstdlib>

namespace mp {

// GoogleTest finds these by the type and names tests by them.
inline void PrintTo(const Device &device, std::ostream *os) {
  *os << device.str();
}
inline void PrintTo(Device::Kind kind, std::ostream *os) {
  *os << Device{kind}.str();
}

} // namespace mp

namespace mp::test {

/// This must run before anything opens CUDA.
inline const bool emulated = [] {
  setenv("MP_CUDA_PATH", MP_EMULATOR_DIR, 1);
  return true;
}();

/// `GetParam()` is the device. `MP_ON_BOTH_TARGETS(Suite)` makes a suite.
using OnBothTargets = testing::TestWithParam<Device>;

#define MP_ON_BOTH_TARGETS(Suite)                                              \
  class Suite : public mp::test::OnBothTargets {};                             \
  INSTANTIATE_TEST_SUITE_P(Cpu, Suite, testing::Values(mp::Device()));         \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      CudaEmulated, Suite,                                                     \
      testing::Values(mp::Device{mp::Device::Kind::Cuda, 0}))

} // namespace mp::test

#endif // MP_TEST_UNIT_ONBOTHTARGETS_H
