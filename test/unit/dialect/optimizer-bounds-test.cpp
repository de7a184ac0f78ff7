//===- optimizer-bounds-test.cpp - no update goes beyond its bound --------===//
//
// Histories of updates, computed by the compiled ops, against the bounds that
// the optimizer states: gradients of all magnitudes, including those that
// underflow or overflow when squared, and any learning rate, decay and betas.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "OptimizerModule.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mp;
using namespace llvm;

namespace {

constexpr int64_t kElements = 48;

/// One optimizer's state, its bounds, and the functions that move both.
struct History {
  explicit History(const std::string &optimizer)
      : module(optimizerModule(optimizer, std::to_string(kElements))),
        slots(module.slots.size()), update(compiled("update")),
        measure(compiled("measure")), bounds(compiled("bounds")) {}

  GoldenFunction compiled(StringRef function) {
    return cantFail(GoldenFunction::compile(module.text, function));
  }

  void start(std::vector<Numbers> initial) {
    state = std::move(initial);
    step = 0;
    bound = cantFail(measure(state));
  }

  void move(const Numbers &gradient, double rate) {
    ++step;
    float squares = 0;
    for (double element : gradient)
      squares += static_cast<float>(element) * static_cast<float>(element);
    norm = std::sqrt(squares);
    std::vector<Numbers> inputs = bound;
    inputs.insert(inputs.end(), {{norm}, {rate}, {step}});
    bound = cantFail(bounds(inputs));
    inputs = {gradient, {rate}, {step}};
    inputs.insert(inputs.end(), state.begin(), state.end());
    state = cantFail(update(inputs));
  }

  /// Whether the measured values lie below every bound that is not infinite or
  /// NaN.
  testing::AssertionResult holds() {
    auto measured = cantFail(measure(state));
    for (auto [i, most] : enumerate(bound))
      if (std::isfinite(norm) && std::isfinite(most[0]) &&
          !(measured[i][0] <= most[0]))
        return testing::AssertionFailure()
               << "measure " << i << " is " << measured[i][0] << ", its bound "
               << most[0] << ", in step " << step;
    return testing::AssertionSuccess();
  }

  OptimizerModule module;
  size_t slots;
  GoldenFunction update, measure, bounds;
  std::vector<Numbers> state, bound;
  double step = 0, norm = 0;
};

using Random = std::mt19937_64;

double uniform(Random &random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
bool chance(Random &random, double probability) {
  return uniform(random, 0, 1) < probability;
}
/// Returns either sign, or zero, of any magnitude between powers of ten.
double anyNumber(Random &random, double low, double high) {
  if (chance(random, 0.1))
    return 0;
  double magnitude = std::pow(10, uniform(random, low, high));
  return static_cast<float>(chance(random, 0.5) ? magnitude : -magnitude);
}
Numbers anyNumbers(Random &random, double low, double high) {
  Numbers numbers(kElements);
  for (double &number : numbers)
    number = anyNumber(random, low, high);
  return numbers;
}

double pick(Random &random, std::initializer_list<double> values) {
  return values.begin()[random() % values.size()];
}

/// `name` is adam or adamw.
std::string anyAdam(Random &random, StringRef name, bool amsgrad) {
  auto pick = [&](std::initializer_list<double> values) {
    return ::pick(random, values);
  };
  std::string text;
  raw_string_ostream stream(text);
  stream << "#mp." << name
         << format("<beta1 = %.10e, beta2 = %.10e, eps = %.10e, "
                   "weight_decay = %.10e, amsgrad = %s>",
                   pick({0.0, 0.5, 0.9, 0.95, 0.99, 0.9999999}),
                   pick({0.1, 0.9, 0.95, 0.98, 0.999, 0.9999999}),
                   pick({1e-12, 1e-8, 1e-3, 1.0}),
                   pick({0.0, 0.01, 0.1, 1.0, 30.0}),
                   amsgrad ? "true" : "false");
  return text;
}

std::string anySgd(Random &random) {
  bool momentum = chance(random, 0.7), nesterov = chance(random, 0.3);
  std::string text;
  raw_string_ostream stream(text);
  stream << format("#mp.sgd<momentum = %.10e, dampening = %.10e, "
                   "weight_decay = %.10e, nesterov = %s>",
                   momentum ? uniform(random, 0.01, 1.1) : 0.0,
                   momentum && !nesterov ? uniform(random, -1, 3) : 0.0,
                   chance(random, 0.5) ? uniform(random, 0, 2) : 0.0,
                   momentum && nesterov ? "true" : "false");
  return text;
}

std::string anyRmsprop(Random &random) {
  std::string text;
  raw_string_ostream stream(text);
  stream << format("#mp.rmsprop<alpha = %.10e, eps = %.10e, momentum = %.10e, "
                   "weight_decay = %.10e>",
                   pick(random, {0.1, 0.9, 0.99, 0.9999999}),
                   pick(random, {1e-12, 1e-8, 1e-3, 1.0}),
                   pick(random, {0.0, 0.5, 0.9, 1.1}),
                   pick(random, {0.0, 0.01, 1.0, 30.0}));
  return text;
}

std::string anyAdagrad(Random &random) {
  std::string text;
  raw_string_ostream stream(text);
  stream << format("#mp.adagrad<lr_decay = %.10e, eps = %.10e, "
                   "weight_decay = %.10e>",
                   pick(random, {0.0, 0.1, 10.0}),
                   pick(random, {1e-20, 1e-10, 1e-3}),
                   pick(random, {0.0, 0.01, 1.0, 30.0}));
  return text;
}

std::string anyLion(Random &random) {
  std::string text;
  raw_string_ostream stream(text);
  stream << format("#mp.lion<beta1 = %.10e, beta2 = %.10e, "
                   "weight_decay = %.10e>",
                   uniform(random, 0, 1), uniform(random, 0, 1),
                   pick(random, {0.0, 0.01, 1.0, 30.0}));
  return text;
}

/// Checks histories from zero state, and from any possible state; `squares`
/// tells which slots hold sums of squares.
void check(const std::string &optimizer, Random &random,
           std::initializer_list<size_t> squares) {
  SCOPED_TRACE(optimizer);
  History history(optimizer);
  ASSERT_TRUE(history.module.bounded);
  for (int run = 0; run < 12; ++run) {
    std::vector<Numbers> state{anyNumbers(random, -3, 4)};
    for (size_t slot = 0; slot < history.slots; ++slot) {
      state.push_back(run % 2 ? anyNumbers(random, -45, 30)
                              : Numbers(kElements, 0));
      if (llvm::is_contained(squares, slot))
        for (double &square : state.back())
          square = std::abs(square);
    }
    history.start(std::move(state));
    double low = uniform(random, -44, 2), high = uniform(random, low, 19);
    for (int step = 0; step < 40; ++step) {
      double rate = anyNumber(random, -6, run % 3 ? 0 : 3);
      bool quiet = chance(random, 0.2);
      history.move(quiet ? Numbers(kElements, 0)
                         : anyNumbers(random, low, high),
                   static_cast<float>(rate));
      ASSERT_TRUE(history.holds()) << "run " << run;
    }
  }
}

TEST(OptimizerBounds, HoldForAdamW) {
  Random random(1);
  for (int i = 0; i < 25; ++i)
    check(anyAdam(random, "adamw", i % 5 == 0), random, {1, 2});
}

TEST(OptimizerBounds, HoldForAdam) {
  Random random(4);
  for (int i = 0; i < 25; ++i)
    check(anyAdam(random, "adam", i % 5 == 0), random, {1, 2});
}

TEST(OptimizerBounds, HoldForRmsprop) {
  Random random(5);
  for (int i = 0; i < 25; ++i)
    check(anyRmsprop(random), random, {0});
}

TEST(OptimizerBounds, HoldForAdagrad) {
  Random random(6);
  for (int i = 0; i < 15; ++i)
    check(anyAdagrad(random), random, {0});
}

TEST(OptimizerBounds, HoldForLion) {
  Random random(7);
  for (int i = 0; i < 15; ++i)
    check(anyLion(random), random, {});
}

// An optimizer without a proof states no bound: each step checks its copies.
TEST(OptimizerBounds, AreNotStatedWithoutProof) {
  EXPECT_FALSE(optimizerModule("#mp.lamb", "4").bounded);
  EXPECT_FALSE(optimizerModule("#mp.rmsprop<centered = true>", "4").bounded);
}

// State that makes an update NaN makes the bound NaN, which proves nothing.
TEST(OptimizerBounds, SayNothingOfStateThatIsNot) {
  auto bounds = [](const std::string &optimizer, size_t slot, double bad) {
    History history(optimizer);
    std::vector<Numbers> state(1 + history.slots, Numbers(kElements, 0.5));
    state[1 + slot][7] = bad;
    history.start(state);
    history.move(Numbers(kElements, 0.25), 1e-3);
    return history.bound[0][0];
  };
  EXPECT_TRUE(std::isnan(bounds("#mp.rmsprop", 0, -1)));
  EXPECT_TRUE(std::isnan(bounds("#mp.rmsprop<momentum = 0.9>", 1, NAN)));
  EXPECT_TRUE(std::isnan(bounds("#mp.adagrad", 0, -1)));
  EXPECT_TRUE(std::isnan(bounds("#mp.adagrad", 0, NAN)));
  EXPECT_TRUE(std::isnan(bounds("#mp.adam", 0, NAN)));
  EXPECT_TRUE(std::isnan(bounds("#mp.adam<amsgrad = true>", 2, NAN)));
  EXPECT_TRUE(std::isfinite(bounds("#mp.lion", 0, NAN))); // sign(NaN) is 0
}

TEST(OptimizerBounds, HoldForSgd) {
  Random random(2);
  for (int i = 0; i < 25; ++i)
    check(anySgd(random), random, {});
}

// An infinite bound would hold as well. These are the bounds of a run with the
// defaults.
TEST(OptimizerBounds, AreOfUse) {
  Random random(3);
  History history("#mp.adamw<lr = 1.0e-3>");
  history.start({anyNumbers(random, -3, -1), Numbers(kElements, 0),
                 Numbers(kElements, 0)});
  for (int step = 0; step < 1000; ++step)
    history.move(anyNumbers(random, -6, 0), 1e-3);
  EXPECT_TRUE(history.holds());
  EXPECT_LT(history.bound[0][0], 8);   // 7.3 times the learning rate a step
  EXPECT_LT(history.bound[1][0], 7.3); // 0.1 / sqrt(1e-3 (1 - 0.81 / 0.999))
  EXPECT_GT(history.bound[1][0], 7.2);
}

// With these gradients the Cauchy-Schwarz inequality is an equality in each
// step, so that no smaller bound would hold.
TEST(OptimizerBounds, AreReached) {
  constexpr double beta1 = 0.9, beta2 = 0.999;
  History history("#mp.adamw<weight_decay = 0.0>");
  history.start(std::vector<Numbers>(3, Numbers(kElements, 0)));
  history.move(Numbers(kElements, 1e-6), 1e-3);
  for (int step = 1; step < 200; ++step) {
    double mean = history.state[1][0], square = history.state[2][0];
    double worst =
        square / mean * (beta2 / (1 - beta2)) * ((1 - beta1) / beta1);
    history.move(Numbers(kElements, static_cast<float>(worst)), 1e-3);
    ASSERT_TRUE(history.holds());
  }
  auto measured = cantFail(history.measure(history.state));
  EXPECT_GT(measured[0][0], 0.99 * history.bound[0][0]);
  EXPECT_GT(measured[1][0], 0.9999 * history.bound[1][0]);
}

} // namespace
