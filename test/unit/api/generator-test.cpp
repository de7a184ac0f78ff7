//===- generator-test.cpp - texts that a language model writes ------------===//
//
// The reference is the network as it is written, which takes whole texts:
// Step::predict.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "api/SmallModule.h"
#include "api/TextModule.h"

using namespace mantissa;
using namespace mantissa::test;

namespace {

constexpr int64_t kContext = 40, kVocabulary = 16;

class GeneratorTest : public testing::Test {
protected:
  GeneratorTest()
      : module(check(Module::parse(kTextModule, "text.mlir"))),
        step(check(module.compileStep({.batch = 1,
                                       .precision = Precision::FP32,
                                       .predictions = {"logits"},
                                       .threads = 1,
                                       .seed = 11}))),
        weights(folder.path("weights.safetensors")) {
    check(step.save(weights));
  }

  Generator generator(int64_t texts) {
    return check(module.compileGenerator(
        weights, {.batch = texts, .predictions = {"logits"}, .threads = 1}));
  }

  /// What the network says after a text: kVocabulary numbers.
  std::vector<float> logitsAfter(const Tokens &text) {
    std::vector<uint16_t> all(text.begin(), text.end());
    all.resize(kContext);
    auto results = check(step.predict({{"x", {all, {1, kContext}}}}));
    auto logits = check(results.read<float>("logits"));
    auto first = logits.begin() + (text.size() - 1) * kVocabulary;
    return {first, first + kVocabulary};
  }

  mp::test::TestFolder folder;
  Module module;
  Step step;
  std::string weights;
};

const std::vector<Tokens> prompts = {{3, 1, 4, 1, 5, 9, 2, 6},
                                     {2},
                                     // More than are taken at once.
                                     {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5,
                                      9, 0, 4, 5, 2, 3, 5, 3, 6, 0, 2, 8,
                                      7, 4, 7, 1, 3, 5, 2, 6, 6, 2, 4}};

TEST_F(GeneratorTest, WritesWhatTheNetworkSaysOfWholeTexts) {
  Generator model = generator(3);
  EXPECT_EQ(model.texts(), 3);
  EXPECT_EQ(model.context(), kContext);
  EXPECT_EQ(model.vocabulary(), kVocabulary);
  EXPECT_EQ(model.device(), "cpu");
  EXPECT_GT(model.plannedBytes(), 0u);
  std::vector<Tokens> texts = prompts;
  check(model.begin(prompts, {.temperature = 0, .length = 5}));
  size_t tokens = 0;
  while (true) {
    auto written = check(model.next());
    if (written.empty())
      break;
    for (const WrittenToken &token : written) {
      Tokens &text = texts[token.text];
      std::vector<float> expected = logitsAfter(text);
      ASSERT_EQ(token.logits.size(), expected.size());
      for (auto [a, b] : llvm::zip_equal(token.logits, expected))
        EXPECT_NEAR(a, b, 2e-5);
      auto best = std::max_element(expected.begin(), expected.end());
      EXPECT_EQ(token.token, best - expected.begin());
      text.push_back(token.token);
      EXPECT_EQ(token.isLast, text.size() == prompts[token.text].size() + 5);
      ++tokens;
    }
  }
  EXPECT_EQ(tokens, 15u);
}

// The texts pass the end of the context, so that older tokens are forgotten.
TEST_F(GeneratorTest, TextsTogetherAreThoseThatTheyAreAlone) {
  Generator together = generator(4), alone = generator(1);
  for (double temperature : {0.0, 1.5}) {
    SamplingOptions options{
        .temperature = temperature, .topK = 8, .seed = 5, .length = 50};
    auto texts = check(together.write(prompts, options));
    ASSERT_EQ(texts.size(), prompts.size());
    for (auto [prompt, text] : llvm::zip_equal(prompts, texts)) {
      EXPECT_EQ(text.size(), 50u);
      EXPECT_EQ(check(alone.write({prompt}, options)).front(), text);
      ++options.seed;
    }
  }
}

TEST_F(GeneratorTest, SamplesOfAPromptAreNeighbours) {
  Generator model = generator(4);
  SamplingOptions options{.samples = 2, .length = 12};
  auto texts = check(model.write({prompts[0], prompts[1]}, options));
  ASSERT_EQ(texts.size(), 4u);
  EXPECT_NE(texts[0], texts[1]);
  options = {.seed = 1, .length = 12};
  EXPECT_EQ(check(model.write({prompts[0]}, options)).front(), texts[1]);
  options.seed = 2;
  EXPECT_EQ(check(model.write({prompts[1]}, options)).front(), texts[2]);
}

TEST_F(GeneratorTest, ATextEndsWithItsEndToken) {
  Generator model = generator(2);
  auto free =
      check(model.write({prompts[1]}, {.temperature = 0, .length = 8})).front();
  std::vector<int64_t> heard;
  auto texts =
      check(model.write({prompts[1], prompts[0]},
                        {.temperature = 0, .length = 8, .endToken = free[3]},
                        [&](const WrittenToken &token) {
                          if (token.text == 0)
                            heard.push_back(token.token);
                          EXPECT_TRUE(token.isLast || token.token != free[3]);
                        }));
  Tokens expected(free.begin(),
                  std::find(free.begin(), free.end(), free[3]) + 1);
  EXPECT_EQ(texts[0], expected);
  EXPECT_EQ(heard.size(), expected.size());
}

TEST_F(GeneratorTest, TokensThatStandForNothingAreNotDrawn) {
  Generator model = generator(1);
  SamplingOptions options{.temperature = 5, .length = 60, .drawnTokens = 3};
  auto texts = check(model.write({prompts[0]}, options));
  for (Token token : texts.front())
    EXPECT_LT(token, 3u);
}

TEST_F(GeneratorTest, BeginsAnewAfterEachError) {
  Generator model = generator(2);
  auto fails = [&](std::vector<Tokens> prompts, SamplingOptions options,
                   const std::string &expected) {
    std::string message = messageOf(model.begin(prompts, options));
    EXPECT_NE(message.find(expected), std::string::npos) << message;
    EXPECT_TRUE(check(model.next()).empty());
  };
  EXPECT_TRUE(check(model.next()).empty());
  fails({}, {}, "there is no prompt");
  fails({{1}, {}}, {}, "prompt 1 has no token");
  fails({{1, 2, 16}}, {},
        "prompt 0 has token 16 at 2, which is not in the vocabulary of 16");
  fails({Tokens(41, 1)}, {},
        "prompt 0 has 41 tokens, and the network looks at 40");
  fails({{1}, {2}}, {.samples = 2},
        "2 prompts with 2 samples of each are more texts than the 2 that are "
        "written at once");
  fails({{1}}, {.samples = int64_t(1) << 48}, "are more texts than the 2");
  fails({{1}}, {.temperature = -1},
        "SamplingOptions::temperature is -1, expected a number from 0 to 100");
  fails({{1}}, {.temperature = NAN}, "SamplingOptions::temperature is nan");
  fails({{1}}, {.topK = -1}, "SamplingOptions::topK is -1");
  fails({{1}}, {.topP = 1.5},
        "SamplingOptions::topP is 1.5, expected a number from 0 to 1");
  fails({{1}}, {.samples = 0}, "SamplingOptions::samples is 0");
  fails({{1}}, {.length = 0}, "SamplingOptions::length is 0");
  fails({{1}}, {.endToken = 16},
        "SamplingOptions::endToken is 16, which is not in the vocabulary");
  fails({{1}}, {.drawnTokens = -1}, "SamplingOptions::drawnTokens is -1");
  EXPECT_EQ(check(model.write({{1}, {2, 3}}, {.length = 2})).size(), 2u);
}

TEST_F(GeneratorTest, LogitsThatAreNaNEndAllTexts) {
  check(step.write("head", {std::vector<float>(16 * 32, NAN), {16, 32}}));
  check(step.save(weights));
  Generator model = generator(2);
  check(model.begin({{1}, {2, 3}}));
  EXPECT_EQ(messageOf(model.next()), "the logit of token 0 is NaN");
  EXPECT_TRUE(check(model.next()).empty());
}

TEST_F(GeneratorTest, TakesAPromptThatFillsTheContext) {
  Generator model = generator(1);
  check(model.begin({Tokens(kContext, 7)}, {.length = 2}));
  auto written = check(model.next());
  ASSERT_EQ(written.size(), 1u);
  std::vector<float> expected = logitsAfter(Tokens(kContext, 7));
  for (auto [a, b] : llvm::zip_equal(written[0].logits, expected))
    EXPECT_NEAR(a, b, 2e-5);
  EXPECT_TRUE(check(model.next())[0].isLast);
}

TEST_F(GeneratorTest, IsForOneUserAtATime) {
  Generator model = generator(1);
  std::string message;
  check(model.write({{1}}, {.length = 1}, [&](const WrittenToken &) {
    message = messageOf(model.next());
  }));
  EXPECT_EQ(message, "another thread is using this generator: a generator is "
                     "for one thread at a time");
}

TEST_F(GeneratorTest, TakesItsWeightsFromFiles) {
  auto message = [&](const std::string &path, Weights which = Weights::Trained,
                     StepOptions options = {}) {
    options.predictions = {"logits"};
    return messageOf(module.compileGenerator(path, options, which));
  };
  auto has = [&](const std::string &text, const std::string &part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  EXPECT_EQ(message(weights), "");
  has(message(folder.path("none")), "none: No such file or directory");
  has(message(folder.write("text", "no weights")), "text: ");
  Step other = smallStep();
  check(other.save(folder.path("other.safetensors")));
  has(message(folder.path("other.safetensors")), "missing 'table'");
  has(message(weights, Weights::Averaged), "holds no averages of weights");
  has(message(weights, Weights::Trained, {.batch = -1}),
      "StepOptions::batch is -1");
}

TEST_F(GeneratorTest, RefusesOtherNetworks) {
  auto message = [&](const char *text, const char *logits) {
    Module other = check(Module::parse(text, "other.mlir"));
    return messageOf(
        other.compileGenerator(weights, {.predictions = {logits}}));
  };
  auto has = [&](const std::string &text, const std::string &part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message(TEXT_MODULE(""), "logits"),
      "looks at later tokens: only causal attention can be decoded");
  has(message(kTextModule, "value:%q"),
      "expected logits of [batch, tokens, vocabulary]: name them");
  has(message(kSmallModule, "value:%logits"),
      "has 0 arguments of [batch, tokens] integers");
}

} // namespace
