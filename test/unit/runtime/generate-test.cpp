//===- generate-test.cpp - a model of texts, token by token ---------------===//
//
// What a network says of each token of a text does not depend on how many of
// them it is given at a time. The reference is the network as it is written,
// which takes all tokens at once.
//
//===----------------------------------------------------------------------===//
#include "WrittenModel.h"
#include "runtime/train/TextWriter.h"

using namespace mp;
using namespace mp::test;
using tokenizers::Tokens;

namespace {

/// A network with one layer of attention, for texts of 12 tokens of 16, between
/// `before`, which makes %q, %k and %v of %h [?, 12, 4, 8], and the logits.
std::string network(const std::string &attention,
                    const std::string &variables = "") {
  return R"mlir(
module @text {
  mp.variable @table : tensor<16x32xf32> = #mp.init<normal, std = 1.0>
  mp.variable @qkv : tensor<96x32xf32> = #mp.init<normal, std = 0.3>
  mp.variable @head : tensor<16x32xf32> = #mp.init<normal, std = 0.5>
  mp.variable @gain : tensor<32xf32> = #mp.init<normal, std = 1.0>
)mlir" + variables +
         R"mlir(
  func.func @loss(%x: tensor<?x12xui16> {mp.name = "x"}, %y: tensor<?x12xui16> {mp.name = "y"})
      -> (tensor<f32> {mp.name = "loss"}, tensor<?x12x16xf32> {mp.name = "logits"}) {
    %table = mp.read @table : tensor<16x32xf32>
    %wqkv = mp.read @qkv : tensor<96x32xf32>
    %whead = mp.read @head : tensor<16x32xf32>
    %gain = mp.read @gain : tensor<32xf32>
    %e = mp.gather %table, %x dim(0) : tensor<16x32xf32>, tensor<?x12xui16>
    %n, %rstd = mp.rms_norm %e normalized_shape[32] weight(%gain : tensor<32xf32>) : tensor<?x12x32xf32>
    %all = mp.linear %n, %wqkv : tensor<?x12x32xf32>, tensor<96x32xf32>
    %qs = mp.slice %all offsets[0, 0, 0] sizes[-1, -1, 32] : tensor<?x12x96xf32>
    %ks = mp.slice %all offsets[0, 0, 32] sizes[-1, -1, 32] : tensor<?x12x96xf32>
    %vs = mp.slice %all offsets[0, 0, 64] sizes[-1, -1, 32] : tensor<?x12x96xf32>
    %q = mp.reshape %qs : tensor<?x12x32xf32> to tensor<?x12x4x8xf32>
    %k = mp.reshape %ks : tensor<?x12x32xf32> to tensor<?x12x4x8xf32>
    %v = mp.reshape %vs : tensor<?x12x32xf32> to tensor<?x12x4x8xf32>
)mlir" + attention +
         R"mlir(
    %h = mp.reshape %a : tensor<?x12x4x8xf32> to tensor<?x12x32xf32>
    %r = mp.add %e, %h : tensor<?x12x32xf32>, tensor<?x12x32xf32>
    %logits = mp.linear %r, %whead : tensor<?x12x32xf32>, tensor<16x32xf32>
    %loss = mp.cross_entropy %logits, %y dim(2) : tensor<?x12x16xf32>, tensor<?x12xui16>
    return %loss, %logits : tensor<f32>, tensor<?x12x16xf32>
  }
  mp.train @step of @loss {mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1>}}
}
)mlir";
}

constexpr const char *kTypes =
    ": tensor<?x12x4x8xf32>, tensor<?x12x4x8xf32>, tensor<?x12x4x8xf32>\n";

std::string attend(const std::string &mask) {
  return "%a, %l = mp.scaled_dot_product_attention %q, %k, %v " + mask + kTypes;
}

struct Case {
  std::string name, attention, variables;
};

void PrintTo(const Case &each, std::ostream *os) { *os << each.name; }

const Case cases[] = {
    {"Causal", attend("causal"), ""},
    {"Window", attend("causal window(4)"), ""},
    {"Slopes",
     "%slopes = mp.constant dense<[0.5, 0.25, 0.125, 0.0625]> : "
     "tensor<4xf32>\n" +
         attend("slopes(%slopes : tensor<4xf32>) causal"),
     ""},
    // Each place adds its own row of a table to the embedding's keys.
    {"Positions",
     R"mlir(
    %places = mp.read @places : tensor<20x32xf32>
    %first = mp.slice %places offsets[0, 0] sizes[12, 32] : tensor<20x32xf32>
    %p = mp.reshape %first : tensor<12x32xf32> to tensor<12x4x8xf32>
    %kp = mp.add %k, %p : tensor<?x12x4x8xf32>, tensor<12x4x8xf32>
    %a, %l = mp.scaled_dot_product_attention %q, %kp, %v causal )mlir" +
         std::string(kTypes),
     "mp.variable @places : tensor<20x32xf32> = #mp.init<normal, std = 1.0>"},
    // Both keys and the state of a loop are kept.
    {"Loop",
     R"mlir(
    %b, %l = mp.scaled_dot_product_attention %q, %k, %v causal )mlir" +
         std::string(kTypes) + R"mlir(
    %zero = mp.constant dense<0.0> : tensor<f32>
    %zeros = mp.broadcast %zero : tensor<f32> to tensor<?x4x8xf32>
    %last, %a = mp.scan carried(%h = %zeros : tensor<?x4x8xf32>) over(%t = %b : tensor<?x12x4x8xf32>) dim(1)
        -> (tensor<?x4x8xf32>, tensor<?x12x4x8xf32>) {
      %sum = mp.sub %t, %h : tensor<?x4x8xf32>, tensor<?x4x8xf32>
      %new = mp.tanh %sum : tensor<?x4x8xf32>
      mp.yield %new, %new : tensor<?x4x8xf32>, tensor<?x4x8xf32>
    })mlir",
     ""},
    {"Rotary",
     R"mlir(
    %token = mp.iota dim(0) : tensor<12x4xi32>
    %position = mp.cast %token : tensor<12x4xi32> to tensor<12x4xf32>
    %frequency = mp.constant dense<[1.0, 0.3, 0.1, 0.03]> : tensor<4xf32>
    %angle = mp.mul %position, %frequency : tensor<12x4xf32>, tensor<4xf32>
    %cos = mp.cos %angle : tensor<12x4xf32>
    %sin = mp.sin %angle : tensor<12x4xf32>
    %rq = mp.rotary_embedding %q, %cos, %sin dim(1) : tensor<?x12x4x8xf32>, tensor<12x4xf32>
    %rk = mp.rotary_embedding %k, %cos, %sin dim(1) : tensor<?x12x4x8xf32>, tensor<12x4xf32>
    %a, %l = mp.scaled_dot_product_attention %rq, %rk, %v causal )mlir" +
         std::string(kTypes),
     ""},
    // The bias that a table has for each pair of places, and a mask.
    {"Bias",
     "%bias = mp.read @bias : tensor<4x12x12xf32>\n" +
         attend("mask(%bias : tensor<4x12x12xf32>) causal"),
     "mp.variable @bias : tensor<4x12x12xf32> = #mp.init<normal, std = 1.0>"},
    {"Grouped",
     R"mlir(
    %k2 = mp.slice %k offsets[0, 0, 0, 0] sizes[-1, -1, 2, -1] : tensor<?x12x4x8xf32>
    %v2 = mp.slice %v offsets[0, 0, 2, 0] sizes[-1, -1, 2, -1] : tensor<?x12x4x8xf32>
    %a, %l = mp.scaled_dot_product_attention %q, %k2, %v2 causal
        : tensor<?x12x4x8xf32>, tensor<?x12x2x8xf32>, tensor<?x12x2x8xf32>
)mlir",
     ""},
};

/// Two texts of the first `length` tokens.
std::vector<Tokens> texts(size_t length) {
  const Tokens all[] = {{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3},
                        {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5}};
  std::vector<Tokens> taken;
  for (const Tokens &text : all)
    taken.emplace_back(text.begin(), text.begin() + length);
  return taken;
}

class GenerateTest
    : public testing::TestWithParam<std::tuple<Device::Kind, Case>>,
      public WrittenModel {
protected:
  EvalOptions options(const std::string &module,
                      const std::string &precision = "fp32") {
    return WrittenModel::options(module, std::get<0>(GetParam()), precision);
  }

  /// The logits of all 12 tokens.
  std::vector<float> reference(const EvalOptions &options) {
    return WrittenModel::reference(options, texts(12));
  }
};

/// The largest difference of logits from those of the token at `place`.
double distance(llvm::ArrayRef<std::vector<float>> logits,
                llvm::ArrayRef<float> all, size_t place) {
  return farthest(logits, all, place, 12);
}

/// `rows` from token `first` on, `count` of them.
std::vector<Tokens> part(size_t first, size_t count) {
  std::vector<Tokens> rows = texts(first + count);
  for (Tokens &row : rows)
    row.erase(row.begin(), row.begin() + first);
  return rows;
}

TEST_P(GenerateTest, TokenByTokenAsAllAtOnce) {
  auto &[kind, network_] = GetParam();
  EvalOptions given = options(network(network_.attention, network_.variables));
  std::vector<float> all = reference(given);
  Generator generator = check(Generator::open(given, "", compile));
  EXPECT_EQ(generator.context(), 12);
  EXPECT_EQ(generator.vocabulary(), 16);
  for (size_t i = 0; i < 12; ++i)
    EXPECT_LT(distance(check(generator.take(part(i, 1))), all, i), 2e-5) << i;
}

TEST_P(GenerateTest, SeveralTokensAtOnce) {
  auto &[kind, network_] = GetParam();
  EvalOptions given = options(network(network_.attention, network_.variables));
  std::vector<float> all = reference(given);
  // The context is 12 tokens, which is what the second entry point takes.
  Generator generator = check(Generator::open(given, "", compile));
  EXPECT_LT(distance(check(generator.take(part(0, 12))), all, 11), 2e-5);
  for (size_t length : {1, 5, 11}) {
    generator.clear();
    EXPECT_LT(distance(check(generator.take(part(0, length))), all, length - 1),
              2e-5)
        << length;
    EXPECT_LT(distance(check(generator.take(part(length, 1))), all, length),
              2e-5)
        << length;
  }
}

// Keys and values are kept in the types that attention takes them in.
TEST_P(GenerateTest, InSixteenBits) {
  auto &[kind, network_] = GetParam();
  for (std::string precision : {"bf16", "fp16"}) {
    EvalOptions given =
        options(network(network_.attention, network_.variables), precision);
    std::vector<float> all = reference(given);
    Generator generator = check(Generator::open(given, "", compile));
    for (size_t i = 0; i < 12; ++i)
      EXPECT_LT(distance(check(generator.take(part(i, 1))), all, i),
                precision == "bf16" ? 0.25 : 0.04)
          << precision << " " << i;
  }
}

// A full context keeps its newer half, which is taken again from the first
// position on.
TEST_P(GenerateTest, ForgetsTheOlderHalfOfAFullContext) {
  auto &[kind, network_] = GetParam();
  EvalOptions given = options(network(network_.attention, network_.variables));
  std::vector<float> all = reference(given);
  Generator generator = check(Generator::open(given, "", compile));
  (void)check(generator.take(part(0, 12)));
  auto logits = check(generator.take(part(12, 1)));
  std::vector<std::vector<float>> slid(logits.begin(), logits.end());
  generator.clear();
  auto again = check(generator.take(part(7, 6)));
  for (auto [a, b] : llvm::zip_equal(slid, again))
    EXPECT_EQ(a, b);
}

// Prompts of two lengths, which are continued until both texts have passed the
// end of the context.
TEST_P(GenerateTest, TextsTogetherAreThoseThatTheyAreAlone) {
  auto &[kind, network_] = GetParam();
  EvalOptions given = options(network(network_.attention, network_.variables));
  reference(given);
  const std::vector<Tokens> prompts = {{3, 1, 4, 1, 5, 9, 2}, {2, 7, 1}};
  WritingOptions writing{.sampling = {.temperature = 0}, .length = 13};
  struct Text {
    Tokens tokens;
    std::vector<std::vector<float>> logits;
  };
  auto write = [&](int64_t batch, llvm::ArrayRef<Tokens> prompts) {
    given.batch = batch;
    Generator generator = check(Generator::open(given, "", compile));
    TextWriter writer = check(TextWriter::begin(generator, prompts, writing));
    std::vector<Text> texts(prompts.size());
    while (true) {
      auto written = check(writer.next());
      if (written.empty())
        return texts;
      for (const WrittenToken &token : written) {
        texts[token.text].tokens.push_back(token.token);
        texts[token.text].logits.push_back(token.logits.vec());
      }
    }
  };
  std::vector<Text> together = write(2, prompts);
  for (auto [prompt, text] : llvm::zip_equal(prompts, together)) {
    Text alone = write(1, prompt).front();
    EXPECT_EQ(text.tokens, alone.tokens);
    ASSERT_EQ(text.logits.size(), 13u);
    for (auto [a, b] : llvm::zip_equal(text.logits, alone.logits))
      for (auto [x, y] : llvm::zip_equal(a, b))
        EXPECT_NEAR(x, y, 2e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Both, GenerateTest,
                         testing::Combine(testing::Values(Device::Kind::Cpu,
                                                          Device::Kind::Cuda),
                                          testing::ValuesIn(cases)),
                         nameOnTarget<Case>);

} // namespace
