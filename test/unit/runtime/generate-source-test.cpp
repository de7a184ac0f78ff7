//===- generate-source-test.cpp - texts that are written from others ------===//
//
// What an encoder and a decoder say of each token of a text is what they say as
// they are written, of all tokens at once, whose labels are the text.
//
//===----------------------------------------------------------------------===//
#include "WrittenModel.h"
#include "runtime/train/TextWriter.h"
#include "tools/common/NamedModels.h"

using namespace mp;
using namespace mp::test;
using tokenizers::Tokens;

namespace {

struct Network {
  std::string name, zoo;
};

void PrintTo(const Network &each, std::ostream *os) { *os << each.name; }

const Network networks[] = {
    {"T5", "t5-small,tokens=12,vocabulary=16,width=0.125"},
    {"Seq2Seq", "seq2seq,tokens=12,vocabulary=16,width=0.032"},
};

constexpr size_t kTokens = 12;
const Tokens sources[] = {{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}, {2, 7, 1, 8}};
const Tokens targets[] = {{9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4},
                          {4, 5, 9, 4, 5, 2, 3, 5, 3, 6, 1, 1}};

class GenerateSourceTest
    : public testing::TestWithParam<std::tuple<Device::Kind, Network>>,
      public WrittenModel {
protected:
  /// An emulated device takes a second for what a CPU has done at once.
  static bool isEmulated() {
    return std::get<0>(GetParam()) == Device::Kind::Cuda;
  }

  EvalOptions options(const std::string &precision = "fp32") {
    auto &[device, network] = GetParam();
    std::string layers = isEmulated() ? ",layers=1" : ",layers=2";
    return WrittenModel::options(
        check(tool::moduleOfModel(network.zoo + layers)), device, precision);
  }

  /// The logits of all tokens, from the sources and the targets as labels.
  std::vector<float> reference(const EvalOptions &options) {
    std::vector<uint16_t> tokens;
    std::vector<int32_t> lengths, labels;
    for (auto [source, target] : llvm::zip_equal(sources, targets)) {
      lengths.push_back(source.size());
      tokens.insert(tokens.end(), source.begin(), source.end());
      tokens.resize(kTokens * lengths.size());
      labels.insert(labels.end(), target.begin(), target.end());
    }
    return predicted(
        options, 2,
        {TensorView(tokens), TensorView(lengths), TensorView(labels)});
  }

  /// Gives the sources and then the targets, token by token.
  void expectTokenByToken(const std::string &precision, double tolerance) {
    EvalOptions given = options(precision);
    std::vector<float> all = reference(given);
    Generator generator = check(Generator::open(given, "", compile));
    ASSERT_TRUE(generator.hasSource());
    EXPECT_EQ(generator.longestPrompt(), int64_t(kTokens));
    ASSERT_FALSE(bool(generator.read(sources)));
    for (size_t i = 0; i < kTokens; ++i) {
      // The first token stands for the network's own, whatever it is.
      std::vector<Tokens> rows;
      for (const Tokens &target : targets)
        rows.push_back({i ? target[i - 1] : 13});
      auto logits = check(generator.take(rows));
      EXPECT_LT(farthest(logits, all, i, kTokens), tolerance) << i;
    }
  }
};

TEST_P(GenerateSourceTest, TokenByTokenAsAllAtOnce) {
  expectTokenByToken("fp32", 5e-5);
}

TEST_P(GenerateSourceTest, InSixteenBits) {
  expectTokenByToken("bf16", 0.1);
  expectTokenByToken("fp16", 0.02);
}

// A second source leaves nothing of the first. A text ends where the network's
// context does, which loops do not have.
TEST_P(GenerateSourceTest, TextsTogetherAreThoseThatTheyAreAlone) {
  EvalOptions given = options();
  reference(given);
  WritingOptions writing{.sampling = {.temperature = 0},
                         .length = isEmulated() ? 3 : 20};
  auto write = [&](Generator &generator, llvm::ArrayRef<Tokens> prompts) {
    TextWriter writer = check(TextWriter::begin(generator, prompts, writing));
    std::vector<Tokens> texts(prompts.size());
    while (true) {
      auto written = check(writer.next());
      if (written.empty())
        return texts;
      for (const WrittenToken &token : written)
        texts[token.text].push_back(token.token);
    }
  };
  bool ends = std::get<1>(GetParam()).name == "T5";
  Generator both = check(Generator::open(given, "", compile));
  std::vector<Tokens> together = write(both, sources);
  EXPECT_EQ(write(both, sources), together);
  given.batch = 1;
  Generator one = check(Generator::open(given, "", compile));
  for (auto [source, text] : llvm::zip_equal(sources, together)) {
    EXPECT_EQ(text.size(), isEmulated() ? 3 : ends ? kTokens : 20);
    EXPECT_EQ(write(one, source).front(), text);
  }
}

TEST_P(GenerateSourceTest, RefusesPromptsThatTheNetworkCannotRead) {
  EvalOptions given = options();
  reference(given);
  Generator generator = check(Generator::open(given, "", compile));
  auto longer = TextWriter::begin(generator, Tokens(13, 1), {});
  EXPECT_EQ(llvm::toString(longer.takeError()),
            "prompt 0 has 13 tokens, and the network reads 12");
  auto unknown = TextWriter::begin(generator, Tokens{1, 99}, {});
  std::string error = llvm::toString(unknown.takeError());
  EXPECT_NE(error.find("99"), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(Both, GenerateSourceTest,
                         testing::Combine(testing::Values(Device::Kind::Cpu,
                                                          Device::Kind::Cuda),
                                          testing::ValuesIn(networks)),
                         nameOnTarget<Network>);

} // namespace
