//===- emulator-test.cpp - results of the emulated device -----------------===//
//
// Faults and the driver's own behaviour: emulator-faults-test.cpp and
// emulator-driver-test.cpp.
//
//===----------------------------------------------------------------------===//
#include "EmulatedDevice.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <numeric>
#include <random>

using namespace mp::test;

namespace {

using llvm::APFloat;

uint32_t convert(APFloat value, const llvm::fltSemantics &to,
                 llvm::RoundingMode mode = APFloat::rmNearestTiesToEven) {
  bool inexact;
  value.convert(to, mode, &inexact);
  return static_cast<uint32_t>(value.bitcastToAPInt().getZExtValue());
}
APFloat half(uint32_t bits) {
  return APFloat(APFloat::IEEEhalf(), llvm::APInt(16, bits));
}
float toFloat(const APFloat &value) {
  return llvm::bit_cast<float>(convert(value, APFloat::IEEEsingle()));
}

/// Multiples of 1/8 in [-1, 1]: exact in every type, sums in f32 too.
std::vector<float> randomValues(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = (static_cast<int>(random() % 17) - 8) / 8.0f;
  return values;
}

class Emulator : public EmulatedDevice {
protected:
  void checkGemm(const llvm::fltSemantics &type, const char *define);
};

TEST_F(Emulator, sumsByShufflesAndSharedMemory) {
  std::vector<float> values = randomValues(4096, 1);
  CUdeviceptr in = upload(values), out = allocate(4);
  CUfunction sum = kernel("kernels/sum.cu");
  for (const char *seed : {"0", "1", "2", "3"}) {
    setenv("MP_EMULATOR_SEED", seed, 1);
    ASSERT_EQ(launch(sum, 1, 256, 32, nullptr, in, out), CUDA_SUCCESS);
    EXPECT_EQ(download<float>(out, 1)[0],
              std::accumulate(values.begin(), values.end(), 0.0f));
  }
}

TEST_F(Emulator, exchangesInAWarp) {
  CUdeviceptr out = allocate(4 * 64 * 8);
  CUfunction exchange = kernel("kernels/exchange.cu");
  for (const char *seed : {"0", "7"}) {
    setenv("MP_EMULATOR_SEED", seed, 1);
    ASSERT_EQ(launch(exchange, 1, 64, 0, nullptr, out), CUDA_SUCCESS);
    auto result = download<long long>(out, 4 * 64);
    for (int thread = 0; thread < 64; ++thread) {
      EXPECT_EQ(result[thread], thread ^ 5);
      EXPECT_EQ(result[64 + thread], (1ll << 40) + (thread ^ 16));
      EXPECT_EQ(result[128 + thread], 2 * (thread ^ 31) + 1);
      EXPECT_EQ(result[192 + thread], thread >= 32);
    }
  }
}

void Emulator::checkGemm(const llvm::fltSemantics &type, const char *define) {
  constexpr int size = 64;
  auto a = randomValues(size * size, 2), b = randomValues(size * size, 3);
  auto narrow = [&](const std::vector<float> &values) {
    std::vector<uint16_t> bits;
    for (float value : values)
      bits.push_back(convert(APFloat(value), type));
    return upload(bits);
  };
  CUdeviceptr left = narrow(a), right = narrow(b);
  CUdeviceptr out = allocate(size * size * 4);
  CUfunction gemm = kernel("kernels/gemm.cu", {define});
  for (const char *seed : {"0", "1"}) {
    setenv("MP_EMULATOR_SEED", seed, 1);
    ASSERT_EQ(launch(gemm, 1, 128, 2 * size * (size + 8) * 2, nullptr, left,
                     right, out),
              CUDA_SUCCESS);
    auto c = download<float>(out, size * size);
    for (int row = 0; row < size; ++row)
      for (int column = 0; column < size; ++column) {
        float expected = 0;
        for (int k = 0; k < size; ++k)
          expected += a[row * size + k] * b[k * size + column];
        ASSERT_EQ(c[row * size + column], expected) << row << ", " << column;
      }
  }
}
TEST_F(Emulator, multipliesF16) {
  checkGemm(APFloat::IEEEhalf(), "-DElement=f16");
}
TEST_F(Emulator, multipliesBf16) {
  checkGemm(APFloat::BFloat(), "-DElement=bf16");
}

TEST_F(Emulator, multipliesTf32) {
  auto a = randomValues(128, 4), b = randomValues(64, 5);
  a[0] = 1 + 0x1p-11f; // a tie of tf32's 10 bits: away from zero
  a[1] = b[8] = 0;
  CUdeviceptr left = upload(a), right = upload(b), out = allocate(128 * 4);
  CUfunction gemm = kernel("kernels/gemm-tf32.cu");
  ASSERT_EQ(launch(gemm, 1, 32, 0, nullptr, left, right, out), CUDA_SUCCESS);
  auto c = download<float>(out, 128);
  a[0] = 1 + 0x1p-10f;
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      float expected = 0;
      for (int k = 0; k < 8; ++k)
        expected += a[row * 8 + k] * b[k * 8 + column];
      EXPECT_EQ(c[row * 8 + column], expected) << row << ", " << column;
    }
}

/// Around every half and bfloat: the value itself, and the ties beside it;
/// then anything.
std::vector<float> interestingFloats(size_t count) {
  std::vector<float> values;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    uint32_t exact = llvm::bit_cast<uint32_t>(toFloat(half(bits)));
    for (uint32_t at :
         {exact, exact + 0xfff, exact + 0x1000, exact + 0x1001,
          bits << 16 | 0x7fff, bits << 16 | 0x8000, bits << 16 | 0x8001})
      values.push_back(llvm::bit_cast<float>(at));
  }
  std::mt19937 random(6);
  while (values.size() < count)
    values.push_back(llvm::bit_cast<float>(static_cast<uint32_t>(random())));
  return values;
}

uint32_t expectedTf32(float value) {
  APFloat wide(value);
  if (wide.isNaN())
    return 0x7fffffff;
  uint32_t bits =
      convert(wide, APFloat::FloatTF32(), APFloat::rmNearestTiesToAway);
  // TF32 is 19 bits wide, an f32's upper ones.
  return bits << 13;
}

TEST_F(Emulator, convertsAsLlvmDoes) {
  constexpr long long count = 1 << 19;
  std::vector<float> values = interestingFloats(count);
  ASSERT_EQ(values.size(), size_t(count));
  std::vector<uint16_t> halves(count);
  std::iota(halves.begin(), halves.end(), uint16_t(0));
  CUdeviceptr in = upload(values), halvesIn = upload(halves),
              half16 = allocate(count * 2), bfloat16 = allocate(count * 2),
              tf32 = allocate(count * 4), fromHalf = allocate(count * 4);
  CUfunction convertAll = kernel("kernels/convert.cu");
  ASSERT_EQ(launch(convertAll, count / 512, 512, 0, nullptr, in, half16,
                   bfloat16, tf32, halvesIn, fromHalf, count),
            CUDA_SUCCESS);
  auto gotHalf = download<uint16_t>(half16, count);
  auto gotBfloat = download<uint16_t>(bfloat16, count);
  auto gotTf32 = download<uint32_t>(tf32, count);
  auto gotFloat = download<uint32_t>(fromHalf, count);
  for (long long i = 0; i < count; ++i) {
    APFloat value(values[i]);
    auto bits = llvm::bit_cast<uint32_t>(values[i]);
    ASSERT_EQ(gotHalf[i], convert(value, APFloat::IEEEhalf()))
        << std::hex << bits;
    ASSERT_EQ(gotBfloat[i], convert(value, APFloat::BFloat()))
        << std::hex << bits;
    ASSERT_EQ(gotTf32[i], expectedTf32(values[i])) << std::hex << bits;
    ASSERT_EQ(gotFloat[i], convert(half(halves[i]), APFloat::IEEEsingle()))
        << std::hex << halves[i];
  }
}

TEST_F(Emulator, countsTheTraffic) {
  constexpr int count = 4096;
  std::vector<float> zeros(count);
  CUdeviceptr master = upload(zeros), first = upload(zeros),
              second = upload(zeros), gradient = allocate(count * 2),
              copy = allocate(count * 2);
  CUfunction adamw = kernel("kernels/adamw.cu");
  std::string log = startLog();
  ASSERT_EQ(launch(adamw, count / 1024, 256, 0, nullptr, master, first, second,
                   gradient, copy),
            CUDA_SUCCESS);
  ASSERT_EQ(synchronize(), CUDA_SUCCESS);
  // Three f32 and a half read, three f32 and a half written: 28 bytes.
  EXPECT_NE(readText(log).find("k grid=4 block=256 shared=0 read=57344 "
                               "written=57344"),
            std::string::npos)
      << readText(log);
}

TEST_F(Emulator, readsPoisonWhereNothingWasWritten) {
  auto bits = download<uint32_t>(allocate(16), 4);
  EXPECT_EQ(bits, std::vector<uint32_t>(4, 0xffffffffu));
}

} // namespace
