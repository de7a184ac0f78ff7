//===- cuda-attention-test.cpp - attention on the emulated device ---------===//
//
// Sizes on either side of those of tiles, heads in groups and of every depth
// that has kernels of its own, and all masks, against loops in f64.
//
//===----------------------------------------------------------------------===//
#include "AttentionCase.h"
#include "OnBothTargets.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mp;
using namespace mp::test;
using namespace llvm;

namespace {

/// The largest difference, relative to the largest element.
double difference(const Numbers &x, const Numbers &y) {
  double most = 0, largest = 1e-30;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(std::abs(x[i] - y[i]) <= most))
      most = std::abs(x[i] - y[i]);
    largest = std::max(largest, std::abs(y[i]));
  }
  return most / largest;
}

/// In 16 bits, weights and changes of scores are rounded before they are
/// multiplied, and the result before it is used for the gradients.
void expectRight(const AttentionCase &attention) {
  double tolerance = StringSwitch<double>(attention.element)
                         .Case("f64", 1e-13)
                         .Case("f32", 4e-6)
                         .Case("f16", 4e-3)
                         .Default(3e-2);
  auto function = GoldenFunction::compile(attention.text(), "f",
                                          Device{Device::Kind::Cuda, 0});
  ASSERT_TRUE(bool(function))
      << toString(function.takeError()) << attention.text();
  std::vector<Numbers> inputs = attention.inputs(),
                       wanted = attention.reference(inputs);
  auto results = (*function)(inputs);
  ASSERT_TRUE(bool(results)) << toString(results.takeError());
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ((*results)[i].size(), wanted[i].size());
    EXPECT_LE(difference((*results)[i], wanted[i]), tolerance)
        << "result " << i << " of\n"
        << attention.text();
  }
}

AttentionCase square(int64_t tokens, int64_t heads, int64_t depth,
                     const char *element) {
  AttentionCase attention{.tokens = tokens, .keys = tokens};
  attention.heads = attention.groups = heads;
  attention.depth = attention.width = depth;
  attention.element = element;
  return attention;
}

// Each type meets every number of tokens, and most depths.
TEST(CudaAttention, OfManySizes) {
  constexpr int64_t depths[] = {5, 16, 64, 17};
  int turn = 0;
  for (const char *element : {"f64", "f32", "f16", "bf16"}) {
    for (int64_t tokens : {1, 48, 65, 130})
      expectRight(square(tokens, 2, depths[turn++ % 4], element));
    ++turn;
  }
}

TEST(CudaAttention, DropsTheWeightsThatDropoutDrops) {
  for (const char *element : {"f64", "f32", "f16", "bf16"}) {
    AttentionCase attention = square(70, 4, 16, element);
    attention.batch = 2;
    attention.groups = 2;
    attention.keys = 67;
    attention.dropout = 0.25;
    expectRight(attention);
    attention.causal = true;
    expectRight(attention);
  }
  AttentionCase none = square(5, 1, 4, "f16");
  none.dropout = 1;
  expectRight(none);
}

TEST(CudaAttention, OfKeysThatAreNotTheQueries) {
  for (const char *element : {"f32", "bf16"}) {
    AttentionCase attention = square(3, 4, 8, element);
    attention.batch = 2;
    attention.keys = 70;
    attention.groups = 2;
    attention.width = 24;
    expectRight(attention);
    attention = square(97, 2, 80, element);
    attention.keys = 3;
    attention.groups = 1;
    attention.width = 16;
    expectRight(attention);
    // Deeper than the registers of tensor cores' sums.
    attention = square(40, 2, 20, element);
    attention.keys = 200;
    attention.groups = 1;
    attention.width = 130;
    expectRight(attention);
  }
}

// Several blocks have the same rows of a result, of different columns.
TEST(CudaAttention, OfWideHeads) {
  AttentionCase attention = square(35, 2, 270, "f64");
  attention.groups = 1;
  attention.width = 20;
  expectRight(attention);
  attention = square(35, 1, 20, "bf16");
  attention.width = 530;
  attention.causal = true;
  expectRight(attention);
}

TEST(CudaAttention, OfPartsOfTheKeys) {
  int turn = 0;
  for (int64_t offset : {0, -3, 40})
    for (int64_t window : {0, 1, 20})
      for (bool causal : {false, true}) {
        AttentionCase attention =
            square(100, 2, 16, turn++ / 3 % 2 ? "f32" : "f16");
        attention.keys = 90;
        attention.groups = 1;
        attention.causal = causal;
        attention.offset = offset;
        if (window)
          attention.window = window;
        expectRight(attention);
      }
}

TEST(CudaAttention, WithMasks) {
  for (const char *element : {"f32", "bf16"})
    for (const char *mask : {"", "i1", "bf16"})
      for (bool more : {false, true}) {
        AttentionCase attention = square(37, 2, 8, element);
        attention.batch = 3;
        attention.keys = 70;
        if (*mask) {
          attention.mask = {more ? 3 : 1, more ? 1 : 2, 37, 70};
          attention.maskElement = mask;
        }
        if (more) {
          attention.causal = true;
          attention.offset = 33;
          attention.lengths = {70, 35, 0};
          attention.slopes = {0.5, 0.25};
        }
        expectRight(attention);
      }
}

//===----------------------------------------------------------------------===//
// Heads that warpgroups of sm_90 multiply
//===----------------------------------------------------------------------===//

class CudaAttentionByGroups : public testing::Test {
protected:
  void SetUp() override { setenv("MP_EMULATOR_ARCH", "90", 1); }
  void TearDown() override { unsetenv("MP_EMULATOR_ARCH"); }
};

TEST_F(CudaAttentionByGroups, OfManySizes) {
  expectRight(square(1, 2, 64, "bf16"));
  expectRight(square(65, 2, 34, "f16"));
  expectRight(square(130, 1, 128, "bf16"));
  expectRight(square(200, 1, 80, "f16"));
  AttentionCase attention = square(97, 4, 64, "bf16");
  attention.batch = 2;
  attention.keys = 300;
  attention.groups = 2;
  attention.width = 40;
  expectRight(attention);
  attention.keys = 3;
  attention.depth = 20;
  attention.width = 72;
  expectRight(attention);
}

TEST_F(CudaAttentionByGroups, OfPartsOfTheKeys) {
  for (int64_t offset : {0, -3, 150})
    for (int64_t window : {0, 1, 70})
      for (bool causal : {false, true}) {
        AttentionCase attention = square(200, 2, 64, window ? "f16" : "bf16");
        attention.keys = 190;
        attention.groups = 1;
        attention.causal = causal;
        attention.offset = offset;
        if (window)
          attention.window = window;
        expectRight(attention);
      }
}

TEST_F(CudaAttentionByGroups, WithMasks) {
  for (const char *mask : {"", "i1", "bf16"})
    for (bool more : {false, true}) {
      AttentionCase attention = square(70, 2, 48, more ? "f16" : "bf16");
      attention.batch = 3;
      attention.keys = 135;
      if (*mask) {
        attention.mask = {more ? 3 : 1, more ? 1 : 2, 70, 135};
        attention.maskElement = mask;
      }
      if (more) {
        attention.causal = true;
        attention.offset = 65;
        attention.lengths = {135, 70, 0};
        attention.slopes = {0.5, 0.25};
      }
      expectRight(attention);
    }
}

TEST_F(CudaAttentionByGroups, DropsTheWeightsThatDropoutDrops) {
  for (int64_t keys : {131, 136}) {
    AttentionCase attention = square(70, 4, 64, "bf16");
    attention.groups = 2;
    attention.keys = keys;
    attention.dropout = 0.25;
    expectRight(attention);
    attention.causal = true;
    attention.depth = 96;
    expectRight(attention);
  }
}

// Nothing that is not looked at comes into a row without any key.
TEST_F(CudaAttentionByGroups, OfNoKeys) {
  AttentionCase attention = square(70, 1, 64, "f16");
  attention.window = 3;
  attention.offset = -1000;
  expectRight(attention);
}

} // namespace
