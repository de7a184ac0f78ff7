//===- sampler-test.cpp - tokens drawn from logits ------------------------===//
#include "TestFiles.h"
#include "runtime/text/Sampler.h"
#include <cmath>
#include <map>

using namespace mp::tokenizers;
using mp::test::message;

namespace {

/// How often each token is drawn, of 20,000 times.
std::map<Token, double> shares(const SamplingOptions &options,
                               const std::vector<float> &logits) {
  Sampler sampler(options);
  std::map<Token, double> shares;
  for (int i = 0; i < 20000; ++i)
    shares[llvm::cantFail(sampler.draw(logits))] += 1.0 / 20000;
  return shares;
}

/// Compares shares with probabilities; four standard deviations are .014.
void expectShares(const std::map<Token, double> &shares,
                  const std::map<Token, double> &expected) {
  ASSERT_EQ(shares.size(), expected.size());
  for (auto [token, probability] : expected)
    EXPECT_NEAR(shares.at(token), probability, 0.015) << token;
}

const std::vector<float> logits = {std::log(0.1f), std::log(0.4f),
                                   std::log(0.2f), std::log(0.3f)};

TEST(Sampler, DrawsByTheSoftmax) {
  expectShares(shares({}, logits), {{0, .1}, {1, .4}, {2, .2}, {3, .3}});
}

TEST(Sampler, TemperatureDividesLogits) {
  // Probabilities to the power of two, of .3 in all.
  expectShares(shares({.temperature = 0.5}, logits),
               {{0, .01 / .3}, {1, .16 / .3}, {2, .04 / .3}, {3, .09 / .3}});
}

TEST(Sampler, TopKKeepsTheMostProbable) {
  expectShares(shares({.topK = 2}, logits), {{1, .4 / .7}, {3, .3 / .7}});
  expectShares(shares({.topK = 9}, logits),
               {{0, .1}, {1, .4}, {2, .2}, {3, .3}});
}

TEST(Sampler, TopPKeepsTheFewestThatAddUpToIt) {
  expectShares(shares({.topP = 0.69}, logits), {{1, .4 / .7}, {3, .3 / .7}});
  expectShares(shares({.topP = 0.71}, logits),
               {{1, .4 / .9}, {2, .2 / .9}, {3, .3 / .9}});
  expectShares(shares({.topP = 0}, logits), {{1, 1}});
  // Of the two that top_k leaves, the first has .57.
  expectShares(shares({.topK = 2, .topP = 0.5}, logits), {{1, 1}});
}

TEST(Sampler, NoTemperatureTakesTheLargest) {
  expectShares(shares({.temperature = 0}, logits), {{1, 1}});
  expectShares(shares({.temperature = 0}, {1, 7, 7, 7}), {{1, 1}});
}

TEST(Sampler, RepeatsWithItsSeed) {
  Sampler first({.seed = 5}), second({.seed = 5}), other({.seed = 6});
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    Token token = llvm::cantFail(first.draw(logits));
    EXPECT_EQ(token, llvm::cantFail(second.draw(logits)));
    differs |= token != llvm::cantFail(other.draw(logits));
  }
  EXPECT_TRUE(differs);
}

TEST(Sampler, LeavesOutTokensThatCannotBe) {
  float never = -INFINITY;
  expectShares(shares({}, {never, 0, never, 0}), {{1, .5}, {3, .5}});
}

TEST(Sampler, RefusesLogitsThatAreNotFinite) {
  Sampler sampler({});
  EXPECT_EQ(message(sampler.draw({0, NAN})), "the logit of token 1 is NaN");
  EXPECT_EQ(message(sampler.draw({INFINITY, 0})),
            "the logit of token 0 is infinite");
  EXPECT_EQ(message(sampler.draw({-INFINITY, -INFINITY})),
            "no token has a finite logit");
  EXPECT_EQ(message(sampler.draw({})), "no token has a finite logit");
}

} // namespace
