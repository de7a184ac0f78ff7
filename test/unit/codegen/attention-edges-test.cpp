//===- attention-edges-test.cpp - numbers at the ends of their types ------===//
//
// Which rows a number that is not finite reaches, scores and masks that are as
// large as numbers get, and subnormal operands.
//
//===----------------------------------------------------------------------===//
#include "AttentionCase.h"
#include "GraphRun.h"
#include "codegen/cpu/MatrixTiles.h"
#include "gtest/gtest.h"
#include <set>

using namespace mp;
using namespace mp::test;
using namespace llvm;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kTokens = 60, kBad = 30;
/// Operands of @f, and its results.
enum { Query, Key, Value, Gradient, Mask };
enum { Result, Sums, QueryGradient, KeyGradient, ValueGradient };

using Rows = std::set<int64_t>;

/// Sixty tokens of two heads in a batch of two.
AttentionCase sixty() {
  AttentionCase attention{.batch = 2, .tokens = kTokens, .keys = kTokens};
  attention.heads = attention.groups = 2;
  attention.depth = attention.width = 4;
  return attention;
}

std::vector<Numbers> run(const AttentionCase &attention,
                         ArrayRef<Numbers> inputs) {
  auto function = test::check(GoldenFunction::compile(attention.text(), "f"));
  return test::check(function(inputs));
}

/// The first element of a token of head 1 in batch entry 1.
int64_t placeOf(int64_t token, int64_t size = 4) {
  return ((kTokens + token) * 2 + 1) * size;
}

/// Tokens of that head with an element that is not finite; no other head may
/// have any.
Rows badRows(const Numbers &numbers) {
  int64_t size = numbers.size() / (2 * kTokens * 2);
  Rows rows;
  for (int64_t i = 0; i < int64_t(numbers.size()); ++i)
    if (!std::isfinite(numbers[i])) {
      EXPECT_EQ(i / size % 2, 1) << "another head";
      EXPECT_GE(i, int64_t(numbers.size()) / 2) << "another batch entry";
      rows.insert(i / size / 2 % kTokens);
    }
  return rows;
}
Rows range(int64_t first, int64_t last) {
  Rows rows;
  for (int64_t row = first; row < last; ++row)
    rows.insert(row);
  return rows;
}
bool includes(const Rows &rows, const Rows &others) {
  return std::includes(rows.begin(), rows.end(), others.begin(), others.end());
}

/// Results where element 1 of a token of an operand is not a number.
std::vector<Rows> reached(AttentionCase attention, unsigned operand,
                          double bad = kNan) {
  std::vector<Numbers> inputs = attention.inputs();
  inputs[operand][placeOf(kBad) + 1] = bad;
  std::vector<Rows> rows;
  for (const Numbers &numbers : run(attention, inputs))
    rows.push_back(badRows(numbers));
  return rows;
}

const Rows kNone, kAll = range(0, kTokens), kOnly = {kBad},
                  kBefore = range(0, kBad + 1), kAfter = range(kBad, kTokens);

TEST(AttentionEdges, NansReachTheRowsThatLookAtThem) {
  AttentionCase all = sixty();
  using List = std::vector<Rows>;
  EXPECT_EQ(reached(all, Query), (List{kOnly, kOnly, kOnly, kAll, kAll}));
  EXPECT_EQ(reached(all, Key), (List{kAll, kAll, kAll, kAll, kAll}));
  EXPECT_EQ(reached(all, Value), (List{kAll, kNone, kAll, kAll, kNone}));
  EXPECT_EQ(reached(all, Gradient), (List{kNone, kNone, kOnly, kAll, kAll}));
}

// Scores that are not looked at are weights of zero. Times NaN they are NaN, in
// the block that the token is in; PyTorch's are in all rows.
TEST(AttentionEdges, NansReachNoScoreThatIsNotLookedAt) {
  AttentionCase causal = sixty();
  causal.causal = true;
  std::vector<Rows> query = reached(causal, Query), key = reached(causal, Key),
                    value = reached(causal, Value),
                    gradient = reached(causal, Gradient);
  EXPECT_EQ(query[Result], kOnly);
  EXPECT_EQ(query[QueryGradient], kOnly);
  EXPECT_TRUE(includes(query[KeyGradient], kBefore));
  EXPECT_EQ(query[ValueGradient], kBefore);
  EXPECT_EQ(key[Result], kAfter);
  EXPECT_EQ(key[Sums], kAfter);
  EXPECT_TRUE(includes(value[Result], kAfter));
  EXPECT_EQ(value[Sums], kNone);
  EXPECT_EQ(gradient[QueryGradient], kOnly);
  EXPECT_EQ(gradient[KeyGradient], kBefore);
}

// What fills a batch's shorter entries may be anything.
TEST(AttentionEdges, NothingAfterALengthIsRead) {
  for (bool causal : {false, true}) {
    AttentionCase attention = sixty();
    attention.causal = causal;
    attention.lengths = {kTokens, kBad};
    std::vector<Numbers> inputs = attention.inputs();
    std::vector<Numbers> clean = run(attention, inputs);
    for (double bad : {kNan, kInfinity}) {
      for (unsigned operand : {Key, Value})
        for (size_t i = placeOf(kBad) - 4; i < inputs[operand].size(); ++i)
          inputs[operand][i] = bad;
      EXPECT_EQ(run(attention, inputs), clean) << bad;
    }
  }
}

// An infinite score is a NaN, and one of minus infinity is a weight of zero.
TEST(AttentionEdges, InfiniteScores) {
  AttentionCase attention = sixty();
  std::vector<Numbers> inputs = attention.inputs();
  Rows larger;
  for (int64_t token = 0; token < kTokens; ++token) {
    double &number = inputs[Query][placeOf(token) + 1];
    number = number == 0 ? 1 : number;
    if (number > 0)
      larger.insert(token);
  }
  inputs[Key][placeOf(kBad) + 1] = kInfinity;
  std::vector<Numbers> got = run(attention, inputs);
  EXPECT_EQ(badRows(got[Result]), larger);
}

/// A mask of floats, the same for all heads and the batch.
std::vector<Numbers> runMasked(AttentionCase &attention,
                               std::vector<Numbers> &inputs, double inRow) {
  attention.mask = {1, 1, kTokens, kTokens};
  inputs = attention.inputs();
  for (int64_t i = 0; i < kTokens * kTokens; ++i)
    inputs[Mask][i] = i / kTokens == kBad ? inRow : 0;
  return run(attention, inputs);
}

TEST(AttentionEdges, ARowOfMinusInfinityIsZeroAndHasNoGradient) {
  AttentionCase attention = sixty();
  std::vector<Numbers> inputs, got = runMasked(attention, inputs, -kInfinity);
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(got[Result][placeOf(kBad) + i], 0);
    EXPECT_EQ(got[QueryGradient][placeOf(kBad) + i], 0);
  }
  EXPECT_EQ(got[Sums][placeOf(kBad, 1)], 0);
  for (const Numbers &numbers : got)
    EXPECT_EQ(badRows(numbers), kNone);
}

// The least number swallows the scores, which are then equal.
TEST(AttentionEdges, ARowOfTheLeastNumberIsTheMeanOfTheValues) {
  AttentionCase attention = sixty();
  std::vector<Numbers> inputs,
      got = runMasked(attention, inputs, -std::numeric_limits<float>::max());
  for (int64_t i = 0; i < 4; ++i) {
    double sum = 0;
    for (int64_t key = 0; key < kTokens; ++key)
      sum += inputs[Value][placeOf(key) + i];
    EXPECT_NEAR(got[Result][placeOf(kBad) + i], sum / kTokens, 1e-6);
  }
}

TEST(AttentionEdges, LargeScoresDoNotOverflow) {
  AttentionCase attention = sixty();
  std::vector<Numbers> inputs = attention.inputs();
  for (double &number : inputs[Query])
    number *= 8192;
  std::vector<Numbers> got = run(attention, inputs),
                       wanted = attention.reference(inputs);
  for (size_t i = 0; i < got[Result].size(); ++i)
    ASSERT_NEAR(got[Result][i], wanted[Result][i], 1e-3);
  for (const Numbers &numbers : got)
    EXPECT_EQ(badRows(numbers), kNone);
}

TEST(AttentionEdges, OneKeyIsItsValue) {
  AttentionCase attention = sixty();
  attention.causal = true;
  std::vector<Numbers> inputs = attention.inputs(),
                       got = run(attention, inputs);
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(got[Result][placeOf(0) + i], inputs[Value][placeOf(0) + i]);
}

// Subnormal numbers of 16 bits are normal in f32: none is flushed but by the
// CPU's own dot products of bf16.
TEST(AttentionEdges, SubnormalOperands) {
  const char *features = getenv("MP_CPU_FEATURES");
  bool flushes = !features && cpu::tileUnitOf(cpu::Target::host()) ==
                                  cpu::TileUnit::DotProducts;
  for (auto [element, least] :
       {std::pair("bf16", 0x1p-133), std::pair("f16", 0x1p-24)})
    for (unsigned operand : {Query, Value}) {
      if (flushes && StringRef(element) == "bf16")
        continue;
      AttentionCase attention = sixty();
      attention.element = element;
      std::vector<Numbers> inputs = attention.inputs();
      for (double &number : inputs[operand])
        number *= 64 * least;
      std::vector<Numbers> got = run(attention, inputs),
                           wanted = attention.reference(inputs);
      // What is summed of subnormal numbers.
      unsigned small = operand == Query ? KeyGradient : Result;
      for (size_t i = 0; i < got[small].size(); ++i)
        ASSERT_NEAR(got[small][i], wanted[small][i],
                    least + 0x1p-6 * std::abs(wanted[small][i]))
            << element << ", operand " << operand;
    }
}

// Without a query, keys and values have gradients of zero.
TEST(AttentionEdges, NoQuery) {
  AttentionCase attention = sixty();
  attention.tokens = 0;
  std::vector<Numbers> got = run(attention, attention.inputs());
  EXPECT_TRUE(got[Result].empty());
  EXPECT_EQ(got[KeyGradient], Numbers(2 * kTokens * 2 * 4));
  EXPECT_EQ(got[ValueGradient], Numbers(2 * kTokens * 2 * 4));
}

} // namespace
