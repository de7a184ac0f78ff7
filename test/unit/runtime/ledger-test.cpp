//===- ledger-test.cpp - the fate of gradients in f16, counted ------------===//
#include "TestFiles.h"
#include "runtime/Profile.h"
#include "runtime/data/Convert.h"
#include "runtime/numerics/Ledger.h"
#include <cmath>

using namespace mp;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double roundToHalf(double value) {
  char bytes[2];
  storeElement(ElementType::F16, value, bytes);
  return loadElement(ElementType::F16, bytes);
}

/// Classifies by the number that the reference rounds to.
Fate fateOfRounded(double value, int headroom) {
  double rounded = roundToHalf(value);
  return rounded == 0                               ? Fate::Flushed
         : rounded < 0x1p-14                        ? Fate::Subnormal
         : std::isinf(rounded)                      ? Fate::Overflow
         : rounded > std::ldexp(65504.0, -headroom) ? Fate::NearOverflow
                                                    : Fate::Normal;
}

/// Returns all numbers of f16 above zero and all ties between two, and the
/// neighbours of each, as f32 and as f64.
std::vector<double> edges() {
  std::vector<double> numbers;
  for (uint16_t bits = 0; bits <= 0x7bff; ++bits) {
    auto number = [](uint16_t bits) {
      return loadElement(ElementType::F16,
                         reinterpret_cast<const char *>(&bits));
    };
    double here = number(bits),
           above = bits < 0x7bff ? number(bits + 1) : 65536;
    for (double middle : {here, (here + above) / 2})
      for (double edge :
           {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e9),
            double(std::nextafter(float(middle), 0.0f)),
            double(std::nextafter(float(middle), 1e9f))})
        if (edge > 0)
          numbers.push_back(edge);
  }
  return numbers;
}

TEST(Magnitudes, FatesAreThoseOfRounding) {
  for (double number : edges())
    for (int headroom : {0, 1, 6, 15})
      ASSERT_EQ(fateInHalf(number, headroom), fateOfRounded(number, headroom))
          << number << " " << headroom;
  for (double number : {1e-300, 1e-30, 65536.0, 1e30, 1e300})
    EXPECT_EQ(fateInHalf(number, 6), fateOfRounded(number, 6)) << number;
}

/// One pass gives the effect of rounding each element at any power of two.
TEST(Magnitudes, CountsAreExactAtEveryPowerOfTwo) {
  std::vector<float> elements;
  for (double number : edges())
    for (int e : {-60, -20, 0})
      if (float element = std::ldexp(number, e))
        elements.push_back(elements.size() % 2 ? element : -element);
  Magnitudes magnitudes;
  for (float element : elements)
    magnitudes.add(element);
  EXPECT_EQ(magnitudes.elements(), elements.size());
  for (int shift : {-40, -1, 0, 7, 20, 60, 126})
    for (int headroom : {0, 6}) {
      HalfCounts expected;
      for (float element : elements)
        ++expected[fateOfRounded(std::abs(std::ldexp(double(element), shift)),
                                 headroom)];
      EXPECT_EQ(magnitudes.inHalf(shift, headroom).byFate, expected.byFate)
          << shift << " " << headroom;
    }
}

TEST(Magnitudes, WhatHasNoExponentIsCountedApart) {
  Magnitudes magnitudes;
  for (double value : {0.0, -0.0, 0x1p-30, -0x1.8p-20, 1.0, -3.0, 1e6,
                       kInfinity, double(NAN), 0x1p-149})
    magnitudes.add(value);
  EXPECT_EQ(magnitudes.zeros, 2u);
  EXPECT_EQ(magnitudes.nonFinite, 2u);
  EXPECT_EQ(magnitudes.nonZeros(), 6u);
  EXPECT_EQ(magnitudes.elements(), 10u);
  EXPECT_EQ(magnitudes.largest, 1e6);
  std::vector<std::pair<int, uint64_t>> exponents{{-149, 1}, {-30, 1}, {-20, 1},
                                                  {0, 1},    {1, 1},   {19, 1}};
  EXPECT_EQ(magnitudes.exponents(), exponents);
  Magnitudes both = magnitudes;
  both.add(magnitudes);
  EXPECT_EQ(both.nonZeros(), 12u);
  HalfCounts counts = both.inHalf(0, 6);
  EXPECT_EQ(counts.all(), 12u);
  EXPECT_EQ(counts[Fate::Flushed], 4u);
  EXPECT_DOUBLE_EQ(counts.share(Fate::Overflow), 2.0 / 12);
  EXPECT_EQ(HalfCounts().share(Fate::Flushed), 0);
}

//===----------------------------------------------------------------------===//
// Ledger
//===----------------------------------------------------------------------===//

/// Returns tensors that a test wrote.
class Tensors : public Executable {
public:
  explicit Tensors(std::vector<std::vector<float>> tensors)
      : tensors(std::move(tensors)) {
    for (auto &tensor : this->tensors) {
      unsigned i = declared.results.size();
      declared.results.push_back(
          {.name = "gradient.0." + std::to_string(i + 1) + ".0",
           .type = {ElementType::F32, {int64_t(tensor.size())}},
           .ref = {},
           .origin = i ? "@w" : "mp.linear",
           .location = {"net.mlir", i + 7, 8}});
      addresses.push_back(tensor.data());
    }
  }
  const Entry &entry() const override { return declared; }
  llvm::Expected<Results> results(Ticket) override {
    return Results(declared, addresses);
  }

protected:
  llvm::Expected<Ticket> start(Inputs) override { return 0; }
  llvm::Expected<Profile> measure(Inputs) override { return Profile(); }

private:
  std::vector<std::vector<float>> tensors;
  std::vector<const void *> addresses;
  Entry declared;
};

Ledger ledgerOf(std::vector<std::vector<float>> tensors, double scale = 1) {
  Ledger ledger;
  ledger.scale = scale;
  Tensors executable(std::move(tensors));
  EXPECT_EQ(test::message(ledger.add(executable, {}, 32).takeError()),
            "no error");
  return ledger;
}

/// Each class at the numbers where it begins and ends.
TEST(Ledger, CountsTheEdges) {
  Ledger ledger = ledgerOf({{
      0,
      -0.0f,
      0x1p-25f,
      0x1p-149f,
      std::nextafter(0x1p-25f, 1.0f), // 2 2 1
      0x1p-14f - 0x1p-24f,
      0x1p-14f - 0x1p-25f,
      0x1p-14f,
      -1, // 1 3
      1023.5f,
      std::nextafter(1023.75f, 0.0f),
      1023.75f,
      65504, // 2 2
      std::nextafter(65520.0f, 0.0f),
      65520,
      1e38f, // 1 2
      float(kInfinity),
      -float(kInfinity),
      NAN, // 3
  }});
  const GradientStatistics &gradient = ledger.gradients.front();
  EXPECT_EQ(gradient.magnitudes.elements(), 19u);
  EXPECT_EQ(gradient.magnitudes.zeros, 2u);
  EXPECT_EQ(gradient.scaled[Fate::Flushed], 2u);
  EXPECT_EQ(gradient.scaled[Fate::Subnormal], 2u);
  EXPECT_EQ(gradient.scaled[Fate::Normal], 5u);
  EXPECT_EQ(gradient.scaled[Fate::NearOverflow], 3u);
  EXPECT_EQ(gradient.scaled[Fate::Overflow], 2u);
  EXPECT_EQ(gradient.magnitudes.nonFinite, 3u);
  EXPECT_EQ(gradient.str(), "mp.linear (net.mlir:7:8)");
}

/// A scale need not be a power of two; elements are rounded once.
TEST(Ledger, CountsElementsTimesTheScale) {
  std::vector<float> elements;
  for (double number : edges())
    elements.push_back(number / 3);
  for (double scale : {3.0, 1000.0, 0.7, 65536.0 * 3}) {
    HalfCounts expected;
    uint64_t zeros = 0;
    for (float element : elements) {
      zeros += element == 0;
      if (element != 0)
        ++expected[fateOfRounded(element * scale, 6)];
    }
    Ledger ledger = ledgerOf({elements}, scale);
    EXPECT_EQ(ledger.all().scaled.byFate, expected.byFate) << scale;
    EXPECT_EQ(ledger.all().magnitudes.zeros, zeros);
  }
}

TEST(Ledger, AdvisesWhatLeavesTheHeadroom) {
  Ledger ledger = ledgerOf({{0, 0x1p-30f, 0x1p-40f}, {0x1p-20f, 0x1p-70f}});
  Advice one = advise(ledger.gradients[0], 6);
  EXPECT_EQ(one.exponent, 39);
  EXPECT_EQ(one.text,
            "2^39 suits: f16 flushes nothing to zero and leaves nothing "
            "subnormal there");
  Advice wide = advise(ledger.gradients[1], 6);
  EXPECT_EQ(wide.exponent, 29);
  EXPECT_EQ(wide.counts[Fate::Flushed], 1u);
  EXPECT_EQ(wide.text,
            "no scale fixes it: its elements reach from 2^-70 to 2^-20; at "
            "2^29, the largest scale with a headroom of 2^6, f16 still "
            "flushes 1 element (50%) to zero and leaves nothing subnormal");
  EXPECT_EQ(advise(ledgerOf({{0, 0}}).gradients[0], 6).text,
            "all elements are zero");
  Advice none = advise(ledgerOf({{1, NAN}}).gradients[0], 6);
  EXPECT_FALSE(none.exponent);
  EXPECT_EQ(none.text, "1 of 2 elements are infinite or NaN without any scale: "
                       "no loss scale mends this");
}

TEST(Ledger, AdvisesARun) {
  ScalesFile scales{"my runs/scales.json", "mp-run calibrate net.mlir"};
  Ledger near = ledgerOf({{0x1p-30f, 0}, {0x1p-34f}});
  EXPECT_TRUE(near.underflows());
  Advice one = advise(near, scales);
  EXPECT_EQ(one.exponent, 39);
  EXPECT_EQ(one.options, "--scaler static:549755813888");
  EXPECT_EQ(one.command, "");
  EXPECT_FALSE(ledgerOf({{0x1p-30f, 0}, {0x1p-34f}}, 0x1p39).underflows());
  Advice far = advise(ledgerOf({{1, 2}, {0x1p-60f}}), scales);
  EXPECT_EQ(far.options, "--scaler static:1 --scales 'my runs/scales.json'");
  EXPECT_EQ(far.command, "mp-run calibrate net.mlir");
  EXPECT_HAS(far.text, "1 of 2 become zero all the same");
}

TEST(Ledger, IsOneLine) {
  Ledger ledger = ledgerOf({{0, 0x1p-30f, 1.5f}}, 2);
  EXPECT_EQ(
      toJson(ledger, 20, advise(ledger, {"s.json", ""})),
      R"({"step":20,"scale":2,"headroom":6,"records":32,"gradients":[{)"
      R"("of":"mp.linear","source":"net.mlir:7:8","loss":0,"number":1,)"
      R"("result":0,"tensor":"gradient.0.1.0","type":"f16","elements":3,)"
      R"("zero":1,"flushed":1,"subnormal":0,"normal":1,"near_overflow":0,)"
      R"("overflow":0,"nonfinite":0,"largest":1.5,"exponents":{"-30":1,)"
      R"("0":1},"advice":{"scale":512,"flushed":0,"subnormal":1,"text":)"
      R"("2^9 suits: f16 flushes nothing to zero and leaves 1 element (50%) )"
      R"(subnormal there"}}],)"
      R"("all":{"elements":3,"zero":1,"flushed":1,"subnormal":0,"normal":1,)"
      R"("near_overflow":0,"overflow":0,"nonfinite":0,"largest":1.5,)"
      R"("exponents":{"-30":1,"0":1}},"advice":{"scale":512,"flushed":0,)"
      R"("subnormal":1,"text":"train with --scaler static:512, at which f16 )"
      R"(flushes nothing to zero and leaves 1 element (50%) subnormal, and all )"
      R"(may grow by 2^6","options":"--scaler static:512"}})");
}
} // namespace
