//===- casts-test.cpp - every cast of floats against APFloat --------------===//
//
// All 2^16 values of a 16-bit type, all 2^8 of an 8-bit one, and random bit
// patterns of f32, on the CPU target and in the CUDA emulator: the bits are
// equal, except that any NaN stands for a NaN.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "OnBothTargets.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cstring>
#include <random>

using namespace llvm;
using namespace mp;

namespace {
struct FloatFormat {
  const char *name;
  const fltSemantics &(*semantics)();
  unsigned bits;
};
constexpr FloatFormat kFormats[] = {
    {"f8E4M3FN", APFloat::Float8E4M3FN, 8}, {"f8E5M2", APFloat::Float8E5M2, 8},
    {"f16", APFloat::IEEEhalf, 16},         {"bf16", APFloat::BFloat, 16},
    {"f32", APFloat::IEEEsingle, 32},       {"f64", APFloat::IEEEdouble, 64}};

uint64_t bitsAt(const std::string &bytes, size_t index, unsigned width) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * width / 8, width / 8);
  return bits;
}

std::string packBits(const std::vector<uint64_t> &values, unsigned width) {
  std::string bytes(values.size() * width / 8, '\0');
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(&bytes[i * width / 8], &values[i], width / 8);
  return bytes;
}

/// Whether `bits` are `value` rounded.
bool isRounded(APFloat value, uint64_t bits, const FloatFormat &to) {
  bool losesInfo;
  value.convert(to.semantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  if (value.isNaN())
    return APFloat(to.semantics(), APInt(to.bits, bits)).isNaN();
  return value.bitcastToAPInt().getZExtValue() == bits;
}

class Casts : public testing::TestWithParam<Device::Kind> {
protected:
  static void SetUpTestSuite() { setenv("MP_CACHE_DIR", "off", 1); }

  void check(const FloatFormat &from, const FloatFormat &to,
             const std::vector<uint64_t> &values) {
    std::string shape = "tensor<" + std::to_string(values.size()) + "x";
    std::string in = shape + from.name + ">", out = shape + to.name + ">";
    auto function =
        GoldenFunction::compile("func.func @f(%x: " + in + ") -> " + out +
                                    " {\n  %y = mp.cast %x : " + in + " to " +
                                    out + "\n  return %y : " + out + "\n}\n",
                                "", Device{GetParam(), 0});
    ASSERT_TRUE(bool(function)) << toString(function.takeError());
    auto results = cantFail(function->runBytes({packBits(values, from.bits)}));
    unsigned wrong = 0;
    for (size_t i = 0; i < values.size() && wrong < 5; ++i) {
      APFloat value(from.semantics(), APInt(from.bits, values[i]));
      uint64_t bits = bitsAt(results[0], i, to.bits);
      if (isRounded(value, bits, to))
        continue;
      ++wrong;
      ADD_FAILURE() << from.name << " to " << to.name << ": 0x" << std::hex
                    << values[i] << " became 0x" << bits;
    }
  }
};
} // namespace

TEST_P(Casts, OfAllNarrowValues) {
  for (const FloatFormat &from : kFormats) {
    if (from.bits > 16)
      continue;
    std::vector<uint64_t> all(size_t(1) << from.bits);
    std::iota(all.begin(), all.end(), 0);
    for (const FloatFormat &to : kFormats)
      if (std::strcmp(from.name, to.name))
        check(from, to, all);
  }
}

TEST_P(Casts, OfRandomWideValues) {
  bool emulated = GetParam() == Device::Kind::Cuda;
  std::mt19937_64 random(7);
  for (unsigned i : {4u, 5u}) {
    const FloatFormat &from = kFormats[i];
    std::vector<uint64_t> values(emulated          ? 100'003
                                 : from.bits == 32 ? 10'000'000
                                                   : 1'000'003);
    for (uint64_t &value : values)
      value = from.bits == 32 ? random() >> 32 : random();
    // Most f64 patterns are far outside of the range of 16 bits.
    if (from.bits == 64)
      for (size_t k = 0; k < values.size(); k += 2)
        values[k] =
            bit_cast<uint64_t>(double(bit_cast<float>(uint32_t(values[k]))));
    for (const FloatFormat &to : kFormats)
      if (std::strcmp(from.name, to.name))
        check(from, to, values);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Casts,
                         testing::Values(Device::Kind::Cpu, Device::Kind::Cuda),
                         [](const auto &info) {
                           return info.param == Device::Kind::Cpu
                                      ? "Cpu"
                                      : "EmulatedCuda";
                         });
