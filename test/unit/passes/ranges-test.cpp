//===- ranges-test.cpp - value ranges against computed values -------------===//
//
// Iterates the registry: every result of an op on its samples lies in the range
// that follows from the ranges of its operands.
//
//===----------------------------------------------------------------------===//
#include "OpSamples.h"
#include "mlir/Parser/Parser.h"
#include "passes/analysis/Ranges.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mp;

namespace {
Interval hullOf(const Numbers &numbers) {
  auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  return {*low, *high};
}

/// Bounds are computed in other steps than values, and rounded differently.
bool liesIn(double value, Interval range, double roundoff) {
  double slack = roundoff * std::max(1.0, std::abs(value));
  return value >= range.low - slack && value <= range.high + slack;
}

/// Loads the dialects of ops' bodies, as mp-lint does.
std::vector<OpSample> samplesWithBodies() {
  sampleContext().loadDialect<arith::ArithDialect, math::MathDialect>();
  return differentiableSamples();
}

/// Returns the number of results whose bound is narrower than their type.
unsigned checkSample(const OpSample &text, StringRef floats, double roundoff) {
  auto sample =
      floats.empty() ? sampleModules(text) : sampleModules(text, floats);
  if (!sample)
    return 0;
  auto compiled = GoldenFunction::compile(sample->forward, "f");
  if (!compiled) {
    ADD_FAILURE() << toString(compiled.takeError()) << "\n" << sample->forward;
    return 0;
  }
  std::vector<Numbers> results = cantFail((*compiled)(sample->operands));
  auto module = parseSourceString<ModuleOp>(sample->forward, &sampleContext());
  Block &body = module->lookupSymbol<func::FuncOp>("f").getBody().front();
  Ranges certain;
  for (auto [argument, numbers] :
       llvm::zip_equal(body.getArguments(), sample->operands))
    certain.bound(argument, hullOf(numbers));
  certain.run(body);
  unsigned bounded = 0;
  for (auto [value, numbers] :
       llvm::zip_equal(body.getTerminator()->getOperands(), results)) {
    Interval range = certain.get(value);
    bounded += range != Interval::of(elementType(value));
    for (double number : numbers)
      EXPECT_TRUE(liesIn(number, range, roundoff))
          << text.op << " gives " << number << ", which is not in ["
          << range.low << ", " << range.high << "]";
  }
  return bounded;
}
} // namespace

TEST(Ranges, HoldWhatOpsCompute) {
  unsigned bounded = 0;
  std::vector<OpSample> samples = samplesWithBodies();
  for (const OpSample &sample : samples)
    bounded += checkSample(sample, "", 1e-6);
  // Ranges that are always those of the type would pass too.
  EXPECT_GE(bounded, samples.size() * 3 / 4);
}

TEST(Ranges, HoldWhatOpsComputeInHalf) {
  unsigned bounded = 0;
  std::vector<OpSample> samples = samplesWithBodies();
  for (const OpSample &sample : samples)
    bounded += checkSample(sample, "f16", 2e-3);
  EXPECT_GE(bounded, samples.size() / 2);
}
