//===- ordered-reduce-test.cpp - reductions in the order of ranks ---------===//
#include "CollectiveCase.h"
#include "runtime/ranks/OrderedReduce.h"
#include "gtest/gtest.h"
#include <limits>

using namespace mp;
using namespace mp::test;

namespace {

using Reduction = Collective::Reduction;

template <typename T>
T reduced(Reduction reduction, ElementType type, std::vector<T> values) {
  std::vector<const void *> contributions;
  for (T &value : values)
    contributions.push_back(&value);
  T result;
  orderedReduce(reduction, type, contributions, 1, &result);
  return result;
}

TEST(OrderedReduce, IsThatOfAPlainLoopInEveryType) {
  for (int64_t size : {1, 2, 3, 4, 7})
    for (const Collective &collective : everyCollective(size, 1027)) {
      if (collective.kind != Collective::Kind::AllReduce)
        continue;
      CollectiveCase test{collective, size};
      std::vector<Bytes> inputs;
      for (int64_t rank = 0; rank < size; ++rank)
        inputs.push_back(test.given(rank)[0]);
      Bytes result(inputs[0].size());
      orderedReduce(collective.reduction, collective.element, readable(inputs),
                    collective.elements[0], result.data());
      EXPECT_EQ(result, test.expected(0, 0)) << collective.str();
    }
}

TEST(OrderedReduce, AddsFromTheLowestRank) {
  // 1e8 + 1 is 1e8 in f32.
  EXPECT_EQ(reduced<float>(Reduction::Sum, ElementType::F32, {1e8f, 1, -1e8f}),
            0);
  EXPECT_EQ(reduced<float>(Reduction::Sum, ElementType::F32, {1e8f, -1e8f, 1}),
            1);
}

TEST(OrderedReduce, ASumBeginsWithZero) {
  EXPECT_FALSE(
      std::signbit(reduced<float>(Reduction::Sum, ElementType::F32, {-0.f})));
  EXPECT_TRUE(
      std::signbit(reduced<float>(Reduction::Max, ElementType::F32, {-0.f})));
}

TEST(OrderedReduce, RoundsNarrowTypesOnce) {
  // bf16 has 8 bits: 256 + 1 + 1 is 258 rounded once, 256 rounded each time.
  EXPECT_EQ(reduced<uint16_t>(Reduction::Sum, ElementType::BF16,
                              {0x4380, 0x3f80, 0x3f80}),
            0x4381);
  // f16 has 11: 2048 + 1 + 1 is 2050.
  EXPECT_EQ(reduced<uint16_t>(Reduction::Sum, ElementType::F16,
                              {0x6800, 0x3c00, 0x3c00}),
            0x6801);
}

TEST(OrderedReduce, NanWins) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::vector<float> values :
       {std::vector{nan, 1.f, 2.f}, {1.f, nan, 2.f}, {1.f, 2.f, nan}})
    for (auto reduction : {Reduction::Sum, Reduction::Max})
      EXPECT_TRUE(std::isnan(reduced(reduction, ElementType::F32, values)));
}

/// Every f16 and bf16 is its own sum with nothing, but -0.
TEST(OrderedReduce, KeepsEveryNarrowValue) {
  for (auto type : {ElementType::F16, ElementType::BF16}) {
    std::vector<uint16_t> all(1 << 16), result(1 << 16);
    for (unsigned bits = 0; bits < all.size(); ++bits)
      all[bits] = bits;
    orderedReduce(Reduction::Max, type, {all.data()}, all.size(),
                  result.data());
    for (unsigned bits = 0; bits < all.size(); ++bits) {
      double value = loadElement(type, reinterpret_cast<char *>(&all[bits]));
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(
            loadElement(type, reinterpret_cast<char *>(&result[bits]))));
      else
        EXPECT_EQ(result[bits], bits);
    }
  }
}

/// Halves of the last place, ties, overflow and subnormals, as APFloat rounds.
TEST(OrderedReduce, RoundsAsTheReferenceDoes) {
  for (auto type : {ElementType::F16, ElementType::BF16})
    for (unsigned a = 0; a < 1 << 16; a += 37)
      for (unsigned b :
           {0x0001u, 0x0400u, 0x1234u, 0x3c01u, 0x8003u, 0x7bffu}) {
        uint16_t x = a, y = b, expected;
        double sum = loadElement(type, reinterpret_cast<char *>(&x)) +
                     loadElement(type, reinterpret_cast<char *>(&y));
        if (std::isnan(sum))
          continue;
        storeElement(type, float(sum), reinterpret_cast<char *>(&expected));
        ASSERT_EQ(reduced<uint16_t>(Reduction::Sum, type, {x, y}), expected)
            << a << " " << b;
      }
}

TEST(OrderedReduce, WorksInPlace) {
  for (int place : {0, 1}) {
    std::vector<float> a(1500, 1), b(1500, 2);
    orderedReduce(Reduction::Sum, ElementType::F32, {a.data(), b.data()},
                  a.size(), place ? b.data() : a.data());
    EXPECT_EQ(place ? b : a, std::vector<float>(1500, 3));
  }
}

TEST(OrderedReduce, IntegersWrap) {
  EXPECT_EQ(reduced<int32_t>(Reduction::Sum, ElementType::I32,
                             {std::numeric_limits<int32_t>::max(), 1}),
            std::numeric_limits<int32_t>::min());
}

TEST(OrderedReduce, KnowsWhatItCannotReduce) {
  EXPECT_FALSE(canReduce(Reduction::Sum, ElementType::I1));
  EXPECT_FALSE(canReduce(Reduction::Sum, ElementType::F8E4M3FN));
  EXPECT_FALSE(canReduce(Reduction::Or, ElementType::F32));
  EXPECT_TRUE(canReduce(Reduction::Or, ElementType::I1));
}

} // namespace
