//===- philox-test.cpp - random bits and initial values -------------------===//
#include "runtime/Initialize.h"
#include "runtime/ThreadPool.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace mp;
using Kind = Initializer::Kind;

namespace {

using Words = std::array<uint32_t, 4>;

// The vectors that Random123 publishes (kat_vectors, philox4x32 10).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                   {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

Variable variable(ElementType element, int64_t elements, Kind kind, double a,
                  double b, const char *name = "w") {
  return {
      name, VariableKind::Parameter, {element, {elements}}, {kind, a, b}, {}};
}

template <typename T>
std::vector<T> filled(const Variable &variable, uint64_t seed = 1,
                      unsigned threads = 1) {
  ThreadPool pool(threads);
  std::vector<T> values(variable.type.elements());
  llvm::MutableArrayRef<char> storage(reinterpret_cast<char *>(values.data()),
                                      variable.type.bytes());
  if (llvm::Error error = fill(variable, seed, storage, pool))
    ADD_FAILURE() << llvm::toString(std::move(error));
  return values;
}

std::string problem(const Variable &variable) {
  ThreadPool pool(1);
  std::vector<char> storage(variable.type.bytes());
  return llvm::toString(fill(variable, 1, storage, pool));
}

TEST(Initialize, UniformHasItsMoments) {
  auto values =
      filled<float>(variable(ElementType::F32, 1 << 20, Kind::Uniform, -2, 3));
  double sum = 0, squares = 0;
  for (float value : values) {
    EXPECT_GE(value, -2.0f);
    EXPECT_LT(value, 3.0f);
    sum += value;
    squares += double(value) * value;
  }
  double mean = sum / values.size();
  EXPECT_NEAR(mean, 0.5, 0.01);
  EXPECT_NEAR(squares / values.size() - mean * mean, 25.0 / 12, 0.02);
}

TEST(Initialize, NormalHasItsMoments) {
  auto values =
      filled<float>(variable(ElementType::F32, 1 << 20, Kind::Normal, 1, 2));
  double moments[5] = {};
  for (float value : values)
    for (int i = 1; i <= 4; ++i)
      moments[i] += std::pow((value - 1.0) / 2, i) / values.size();
  EXPECT_NEAR(moments[1], 0, 0.005);
  EXPECT_NEAR(moments[2], 1, 0.01);
  EXPECT_NEAR(moments[3], 0, 0.02);
  EXPECT_NEAR(moments[4], 3, 0.05);
}

double decode(uint16_t bits, const llvm::fltSemantics &semantics) {
  return llvm::APFloat(semantics, llvm::APInt(16, bits)).convertToDouble();
}

TEST(Initialize, UniformStaysBelowItsEndAfterRounding) {
  // In [1, 1 + 2^-6) a bf16 has two numbers, and most values round to the end.
  double end = 1 + 0x1p-6;
  for (uint16_t bits : filled<uint16_t>(
           variable(ElementType::BF16, 4096, Kind::Uniform, 1, end)))
    EXPECT_LT(decode(bits, llvm::APFloat::BFloat()), end);
  for (uint16_t bits : filled<uint16_t>(
           variable(ElementType::F16, 65536, Kind::Uniform, -1, 0)))
    EXPECT_LT(decode(bits, llvm::APFloat::IEEEhalf()), 0);
  for (float value : filled<float>(
           variable(ElementType::F32, 65536, Kind::Uniform, 1, 1 + 0x1p-22)))
    EXPECT_LT(value, 1 + 0x1p-22f);
}

TEST(Initialize, NarrowValuesAreTheWideOnesRoundedOnce) {
  auto wide =
      filled<double>(variable(ElementType::F64, 5000, Kind::Normal, 0, 1));
  auto bf16 =
      filled<uint16_t>(variable(ElementType::BF16, 5000, Kind::Normal, 0, 1));
  auto f32 =
      filled<float>(variable(ElementType::F32, 5000, Kind::Normal, 0, 1));
  for (size_t i = 0; i < wide.size(); ++i) {
    EXPECT_EQ(f32[i], static_cast<float>(wide[i]));
    llvm::APFloat rounded(wide[i]);
    bool inexact;
    rounded.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
                    &inexact);
    EXPECT_EQ(bf16[i], rounded.bitcastToAPInt().getZExtValue());
  }
}

TEST(Initialize, DependsOnSeedNameAndIndexAlone) {
  auto at = [](const char *name, int64_t elements, uint64_t seed,
               unsigned threads) {
    return filled<float>(
        variable(ElementType::F32, elements, Kind::Normal, 0, 1, name), seed,
        threads);
  };
  auto values = at("w", 100003, 7, 1);
  EXPECT_EQ(values, at("w", 100003, 7, 3));
  EXPECT_NE(values, at("v", 100003, 7, 1));
  EXPECT_NE(values, at("w", 100003, 8, 1));
  auto fewer = at("w", 10, 7, 1);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), values.begin()));
}

// Changing these changes the meaning of every seed, so it must not happen by
// accident.
TEST(Initialize, SeedsKeepTheirMeaning) {
  auto values =
      filled<float>(variable(ElementType::F32, 3, Kind::Uniform, 0, 1), 42);
  EXPECT_EQ(values, (std::vector<float>{4760033 * 0x1p-24f, 14043506 * 0x1p-24f,
                                        2418430 * 0x1p-24f}));
}

TEST(Initialize, ConstantsOfEveryType) {
  EXPECT_EQ(
      filled<int64_t>(variable(ElementType::I64, 2, Kind::Constant, -3, 0)),
      (std::vector<int64_t>{-3, -3}));
  EXPECT_EQ(filled<uint8_t>(variable(ElementType::I1, 1, Kind::Constant, 1, 0)),
            (std::vector<uint8_t>{1}));
  EXPECT_EQ(
      filled<uint16_t>(variable(ElementType::F16, 1, Kind::Constant, 65536, 0)),
      (std::vector<uint16_t>{0x7c00}));
  EXPECT_EQ(
      filled<uint16_t>(variable(ElementType::BF16, 1, Kind::Constant, 1, 0)),
      (std::vector<uint16_t>{0x3f80}));
  EXPECT_EQ(filled<float>(variable(ElementType::F32, 1, Kind::Derived, 5, 0)),
            (std::vector<float>{0}));
}

TEST(Initialize, RefusesWhatATypeCannotHold) {
  EXPECT_EQ(problem(variable(ElementType::U8, 1, Kind::Constant, 256, 0)),
            "variable 'w' of type 1xui8 cannot hold 256");
  EXPECT_EQ(problem(variable(ElementType::I32, 1, Kind::Constant, 0.5, 0)),
            "variable 'w' of type 1xi32 cannot hold 0.5");
  EXPECT_EQ(problem(variable(ElementType::I64, 1, Kind::Normal, 0, 1)),
            "variable 'w' of type 1xi64 cannot hold random numbers");
  EXPECT_EQ(problem(variable(ElementType::F32, 1, Kind::Uniform, 1, 1)),
            "variable 'w' of type 1xf32 has an empty uniform range [1, 1)");
}

} // namespace
