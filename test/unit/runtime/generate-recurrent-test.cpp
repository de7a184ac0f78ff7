//===- generate-recurrent-test.cpp - texts from a state -------------------===//
//
// A network that keeps a state goes on from it, as far as one likes: what it
// says of token 40 is what it says as it is written for texts of 40 tokens,
// though it was trained on texts of 6.
//
//===----------------------------------------------------------------------===//
#include "WrittenModel.h"

using namespace mp;
using namespace mp::test;
using tokenizers::Tokens;

namespace {

/// A recurrent network for texts of T tokens of 16, where `loops` makes %h
/// [?, T, 32] of %e.
std::string network(std::string loops, int64_t tokens) {
  std::string text = R"mlir(
module @text {
  mp.variable @table : tensor<16x32xf32> = #mp.init<normal, std = 1.0>
  mp.variable @in : tensor<64x32xf32> = #mp.init<normal, std = 0.3>
  mp.variable @own : tensor<64x32xf32> = #mp.init<normal, std = 0.3>
  mp.variable @first : tensor<32xf32> = #mp.init<normal, std = 1.0>
  mp.variable @head : tensor<16x32xf32> = #mp.init<normal, std = 0.5>
  func.func @loss(%x: tensor<?xTxui16> {mp.name = "x"}, %y: tensor<?xTxui16> {mp.name = "y"})
      -> (tensor<f32> {mp.name = "loss"}, tensor<?xTx16xf32> {mp.name = "logits"}) {
    %table = mp.read @table : tensor<16x32xf32>
    %win = mp.read @in : tensor<64x32xf32>
    %wown = mp.read @own : tensor<64x32xf32>
    %first = mp.read @first : tensor<32xf32>
    %whead = mp.read @head : tensor<16x32xf32>
    %e = mp.gather %table, %x dim(0) : tensor<16x32xf32>, tensor<?xTxui16>
    %p = mp.linear %e, %win : tensor<?xTx32xf32>, tensor<64x32xf32>
    %zero = mp.constant dense<0.0> : tensor<f32>
    %zeros = mp.broadcast %zero : tensor<f32> to tensor<?x32xf32>
    %begin = mp.add %zeros, %first : tensor<?x32xf32>, tensor<32xf32>
)mlir" + loops + R"mlir(
    %logits = mp.linear %h, %whead : tensor<?xTx32xf32>, tensor<16x32xf32>
    %loss = mp.cross_entropy %logits, %y dim(2) : tensor<?xTx16xf32>, tensor<?xTxui16>
    return %loss, %logits : tensor<f32>, tensor<?xTx16xf32>
  }
  mp.train @step of @loss {mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1>}}
}
)mlir";
  size_t at = 0;
  while ((at = text.find("xTx", at)) != std::string::npos)
    text.replace(at + 1, 1, std::to_string(tokens));
  return text;
}

/// A gated unit with two states, which begins with a trained one.
const std::string gated = R"mlir(
    %s:3 = mp.scan carried(%c = %begin : tensor<?x32xf32>, %o = %zeros : tensor<?x32xf32>)
        over(%t = %p : tensor<?xTx64xf32>) dim(1) -> (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?xTx32xf32>) {
      %q = mp.linear %o, %wown : tensor<?x32xf32>, tensor<64x32xf32>
      %sum = mp.add %t, %q : tensor<?x64xf32>, tensor<?x64xf32>
      %g = mp.slice %sum offsets[0, 0] sizes[-1, 32] : tensor<?x64xf32>
      %n = mp.slice %sum offsets[0, 32] sizes[-1, 32] : tensor<?x64xf32>
      %gate = mp.sigmoid %g : tensor<?x32xf32>
      %new = mp.tanh %n : tensor<?x32xf32>
      %d = mp.sub %c, %new : tensor<?x32xf32>, tensor<?x32xf32>
      %kept = mp.mul %gate, %d : tensor<?x32xf32>, tensor<?x32xf32>
      %after = mp.add %new, %kept : tensor<?x32xf32>, tensor<?x32xf32>
      %out = mp.tanh %after : tensor<?x32xf32>
      mp.yield %after, %out, %out : tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>
    })mlir";

struct Case {
  std::string name, loops;
};

void PrintTo(const Case &each, std::ostream *os) { *os << each.name; }

const Case cases[] = {
    {"Gated", gated + R"mlir(
    %h = mp.add %s#2, %e : tensor<?xTx32xf32>, tensor<?xTx32xf32>)mlir"},
    // One loop after the other, and f32 around the second.
    {"Layers", gated + R"mlir(
    %h = mp.autocast enabled(false) {
      %last, %sums = mp.scan carried(%b = %zeros : tensor<?x32xf32>)
          over(%u = %s#2 : tensor<?xTx32xf32>) dim(1) -> (tensor<?x32xf32>, tensor<?xTx32xf32>) {
        %less = mp.mul %b, %b : tensor<?x32xf32>, tensor<?x32xf32>
        %mix = mp.sub %u, %less : tensor<?x32xf32>, tensor<?x32xf32>
        %r = mp.tanh %mix : tensor<?x32xf32>
        mp.yield %r, %r : tensor<?x32xf32>, tensor<?x32xf32>
      }
      mp.yield %sums : tensor<?xTx32xf32>
    } : tensor<?xTx32xf32>)mlir"},
};

constexpr size_t kLength = 40;

/// `count` tokens of two texts, from token `first` on.
std::vector<Tokens> part(size_t first, size_t count) {
  std::vector<Tokens> rows(2);
  for (size_t i = first; i < first + count; ++i) {
    rows[0].push_back((7 * i + 3) % 16);
    rows[1].push_back((i * i + 5) % 13);
  }
  return rows;
}

class GenerateRecurrentTest
    : public testing::TestWithParam<std::tuple<Device::Kind, Case>>,
      public WrittenModel {
protected:
  /// The logits of all tokens, and a generator of a network for texts of 6.
  std::pair<std::vector<float>, Generator>
  open(const std::string &precision = "fp32") {
    auto &[device, each] = GetParam();
    auto all =
        reference(options(network(each.loops, kLength), device, precision),
                  part(0, kLength));
    return {
        std::move(all),
        check(Generator::open(
            options(network(each.loops, 6), device, precision), "", compile))};
  }
};

TEST_P(GenerateRecurrentTest, TokenByTokenAsAllAtOnce) {
  auto [all, generator] = open();
  EXPECT_GT(generator.context(), 1'000'000'000);
  for (size_t i = 0; i < kLength; ++i)
    EXPECT_LT(farthest(check(generator.take(part(i, 1))), all, i, kLength),
              2e-5)
        << i;
}

// A state does not survive a token that is not there, or that is there twice.
TEST_P(GenerateRecurrentTest, SeveralTokensAtOnce) {
  auto [all, generator] = open();
  for (size_t length : {1, 5, 32, 35}) {
    generator.clear();
    EXPECT_LT(farthest(check(generator.take(part(0, length))), all, length - 1,
                       kLength),
              2e-5)
        << length;
    EXPECT_LT(farthest(check(generator.take(part(length, 4))), all, length + 3,
                       kLength),
              2e-5)
        << length;
  }
}

TEST_P(GenerateRecurrentTest, InSixteenBits) {
  for (std::string precision : {"bf16", "fp16"}) {
    auto [all, generator] = open(precision);
    for (size_t i = 0; i < kLength; ++i)
      EXPECT_LT(farthest(check(generator.take(part(i, 1))), all, i, kLength),
                precision == "bf16" ? 0.1 : 0.02)
          << precision << " " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Both, GenerateRecurrentTest,
                         testing::Combine(testing::Values(Device::Kind::Cpu,
                                                          Device::Kind::Cuda),
                                          testing::ValuesIn(cases)),
                         nameOnTarget<Case>);

} // namespace
