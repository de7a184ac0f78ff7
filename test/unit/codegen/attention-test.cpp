//===- attention-test.cpp - attention of any length -----------------------===//
//
// Sizes on either side of a kernel's blocks, and what masks leave of them,
// against loops in f64. It runs a second time without AVX-512.
//
//===----------------------------------------------------------------------===//
#include "AttentionCase.h"
#include "GraphRun.h"
#include "gtest/gtest.h"

using namespace mp;
using namespace mp::test;
using namespace llvm;

namespace {

std::vector<Numbers> run(const AttentionCase &attention,
                         ArrayRef<Numbers> inputs, unsigned threads = 1) {
  auto function = test::check(
      GoldenFunction::compile(attention.text(), "f", Device(), threads));
  return test::check(function(inputs));
}

const char *const kResults[] = {"result", "log_sum_exp", "query's gradient",
                                "key's gradient", "value's gradient"};

/// Compares the results, each with its largest element.
void expectNear(ArrayRef<Numbers> got, ArrayRef<Numbers> wanted,
                double tolerance) {
  for (auto [name, ours, theirs] : zip_equal(kResults, got, wanted)) {
    double largest = 0.1;
    for (double number : theirs)
      largest = std::max(largest, std::abs(number));
    ASSERT_EQ(ours.size(), theirs.size()) << name;
    for (size_t i = 0; i < ours.size(); ++i)
      ASSERT_NEAR(ours[i], theirs[i], tolerance * largest)
          << name << ", element " << i << " of " << ours.size();
  }
}

void expectRight(const AttentionCase &attention) {
  SCOPED_TRACE(attention.text());
  std::vector<Numbers> inputs = attention.inputs();
  double tolerance = attention.element == "f64"    ? 1e-12
                     : attention.element == "f32"  ? 4e-6
                     : attention.element == "bf16" ? 0x1p-6
                                                   : 0x1p-9;
  expectNear(run(attention, inputs), attention.reference(inputs), tolerance);
}

TEST(Attention, OfManyTokens) {
  for (const char *element : {"f64", "f32", "bf16", "f16"}) {
    AttentionCase attention{.batch = 2, .tokens = 260, .keys = 197};
    attention.heads = 4;
    attention.groups = 2;
    attention.depth = 24;
    attention.width = 40;
    attention.element = element;
    expectRight(attention);
    attention.causal = true;
    attention.offset = -30;
    expectRight(attention);
  }
}

// A block's last tile has rows after the block, which belong to other queries:
// they must get nothing.
TEST(Attention, WindowsThatEndAnywhereInATile) {
  for (int64_t window : {20, 33, 60, 64, 97, 128, 160})
    for (const char *element : {"f32", "f64"}) {
      if (element[1] == '6' && window % 2 == 0)
        continue; // tiles of f64 are half as wide
      AttentionCase attention{.tokens = 512, .keys = 512};
      attention.depth = attention.width = 16;
      attention.element = element;
      attention.window = window;
      expectRight(attention);
    }
}

// Keys after the last that is looked at have gradients of zero.
TEST(Attention, LengthsThatEndAnywhereInATile) {
  for (int64_t size : {16, 64})
    for (int64_t keys : {64, 256}) {
      AttentionCase attention{.batch = 4, .tokens = 70, .keys = keys};
      attention.depth = attention.width = size;
      attention.lengths = {double(keys), 5, 0, 51};
      expectRight(attention);
      attention.causal = true;
      attention.offset = 9;
      expectRight(attention);
    }
}

// Keys end before the window of any query, or begin after it.
TEST(Attention, WindowsBesideAllKeys) {
  for (int64_t offset : {-100000, -60, -51, 51, 60, 100000})
    for (bool causal : {false, true}) {
      AttentionCase attention{.batch = 2, .tokens = 50, .keys = 50};
      attention.depth = attention.width = 8;
      attention.window = 3;
      attention.offset = offset;
      attention.causal = causal;
      attention.lengths = {50, 7};
      expectRight(attention);
    }
}

// Float masks are read for queries that fill a panel, and end before them.
TEST(Attention, MasksOfEveryShape) {
  for (unsigned dims = 0; dims < 16; ++dims)
    for (const char *element : {"i1", "f32", "bf16", "f64"}) {
      bool isConverted = StringRef(element) == "bf16" || element[1] == '6';
      if (isConverted && dims % 5)
        continue; // as the others, once they are loaded
      AttentionCase attention{.batch = 2, .tokens = 65, .keys = 50};
      attention.heads = 2;
      attention.depth = attention.width = 5;
      attention.mask = {2, 2, 65, 50};
      for (unsigned dim = 0; dim < 4; ++dim)
        if (!(dims >> dim & 1))
          attention.mask[dim] = 1;
      attention.maskElement = element;
      attention.causal = dims % 3 == 0;
      expectRight(attention);
    }
}

TEST(Attention, SlopesOnBothSides) {
  AttentionCase attention{.batch = 2, .tokens = 70, .keys = 130};
  attention.heads = 4;
  attention.groups = 1;
  attention.depth = attention.width = 8;
  attention.offset = 30;
  attention.slopes = {0.5, 0.25, 0.125, 0};
  expectRight(attention);
  attention.causal = true;
  expectRight(attention);
}

// Keys whose number is a multiple of four share blocks of random bits.
TEST(Attention, DropsTheWeightsThatDropoutDrops) {
  for (const char *element : {"f64", "f32", "bf16", "f16"})
    for (int64_t keys : {200, 131}) {
      AttentionCase attention{.batch = 2, .tokens = 203, .keys = keys};
      attention.heads = 4;
      attention.groups = 2;
      attention.depth = attention.width = 16;
      attention.element = element;
      attention.dropout = 0.25;
      expectRight(attention);
      attention.causal = true;
      attention.window = 90;
      expectRight(attention);
    }
  AttentionCase none{.tokens = 5, .keys = 7};
  none.dropout = 1;
  expectRight(none);
}

TEST(Attention, DoesNotDependOnTheNumberOfThreads) {
  AttentionCase attention{.batch = 2, .tokens = 500, .keys = 333};
  attention.heads = 2;
  attention.groups = 1;
  attention.depth = attention.width = 32;
  attention.causal = true;
  attention.window = 150;
  std::vector<Numbers> inputs = attention.inputs();
  std::vector<Numbers> alone = run(attention, inputs);
  for (unsigned threads : {2, 3, 7})
    EXPECT_EQ(run(attention, inputs, threads), alone) << threads << " threads";
}

/// What a step's data and its threads' scratch take.
uint64_t memoryOf(int64_t tokens) {
  AttentionCase attention{.tokens = tokens, .keys = tokens};
  attention.heads = 4;
  attention.depth = attention.width = 32;
  attention.element = "bf16";
  attention.causal = true;
  auto function = test::check(GoldenFunction::compile(attention.text(), "f"));
  uint64_t scratch = 0;
  for (const Step &step : function.entry().steps)
    if (const auto *launch = std::get_if<Launch>(&step))
      scratch = std::max(scratch, launch->shared);
  return function.entry().arenaBytes + scratch;
}

// Four times the tokens have sixteen times the scores.
TEST(Attention, TakesMemoryThatGrowsAsTheTokensDo) {
  uint64_t few = memoryOf(1024), many = memoryOf(4096);
  RecordProperty("bytes", std::to_string(few) + " " + std::to_string(many));
  EXPECT_LE(many, 4.5 * few);
}

} // namespace
