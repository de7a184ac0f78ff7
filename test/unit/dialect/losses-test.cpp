//===- losses-test.cpp - several losses in one step -----------------------===//
//
// A recipe with two losses and two optimizers, against recipes that minimise
// one of them each.
//
//===----------------------------------------------------------------------===//
#include "TrainingSession.h"
#include <random>

using namespace mp;
using namespace llvm;

namespace {

constexpr int64_t kBatch = 4, kInputs = 3;

const char *const kCritic =
    "mp.minimize result(0) {params = [\"critic.*\"], optimizer = #mp.adamw<lr "
    "= 1.0e-2>}";
const char *const kMaker =
    "mp.minimize result(1) {params = [\"maker.*\"], optimizer = #mp.sgd<lr = "
    "1.0e-1, momentum = 9.0e-1>}";

/// A generator and a critic; both losses depend on both.
std::string network(const std::string &groups, StringRef options) {
  return formatv(R"mlir(
    mp.variable @maker.w : tensor<3x3xf32> = #mp.init<kaiming_uniform>
    mp.variable @maker.b : tensor<3xf32> = #mp.init<zeros>
    mp.variable @critic.w : tensor<1x3xf32> = #mp.init<kaiming_uniform>
    func.func @losses(%x: tensor<?x3xf32> {{mp.name = "x"}) -> (tensor<f32> {{mp.name = "loss"}, tensor<f32> {{mp.name = "maker_loss"}) {{
      %w = mp.read @maker.w : tensor<3x3xf32>
      %b = mp.read @maker.b : tensor<3xf32>
      %c = mp.read @critic.w : tensor<1x3xf32>
      %h = mp.linear %x, %w, %b : tensor<?x3xf32>, tensor<3x3xf32>, tensor<3xf32>
      %made = mp.tanh %h : tensor<?x3xf32>
      %fake = mp.linear %made, %c : tensor<?x3xf32>, tensor<1x3xf32>
      %real = mp.linear %x, %c : tensor<?x3xf32>, tensor<1x3xf32>
      %wide_fake = mp.cast %fake : tensor<?x1xf32> to tensor<?x1xf32>
      %wide_real = mp.cast %real : tensor<?x1xf32> to tensor<?x1xf32>
      %f = mp.sigmoid %wide_fake : tensor<?x1xf32>
      %r = mp.softplus %wide_real : tensor<?x1xf32>
      %d = mp.sub %f, %r : tensor<?x1xf32>, tensor<?x1xf32>
      %l0 = mp.mean %d dims[0, 1] : tensor<?x1xf32>
      %n = mp.neg %f : tensor<?x1xf32>
      %l1 = mp.mean %n dims[0, 1] : tensor<?x1xf32>
      return %l0, %l1 : tensor<f32>, tensor<f32>
    }
    mp.scaler @scaler {{init_scale = 256.0}
    mp.train @step of @losses {1} {{
      {0}
    })mlir",
                 groups, options)
      .str();
}

Numbers randomInput(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> draw(-1, 1);
  Numbers numbers(kBatch * kInputs);
  for (double &number : numbers)
    number = draw(random);
  return numbers;
}

/// Maps a variable's name in a recipe with one of the losses to its name in the
/// recipe with both, where the count of applied steps contains `place`.
std::string nameInBoth(const std::string &name, StringRef place) {
  return name == "step.applied" ? ("step." + place + ".applied").str() : name;
}

/// Checks each step from one state: the two together have the effects of each
/// alone.
void check(StringRef options, bool overflows) {
  test::TrainingSession both(
      network(std::string(kCritic) + "\n" + kMaker, options), kBatch);
  test::TrainingSession critic(network(kCritic, options), kBatch);
  test::TrainingSession maker(network(kMaker, options), kBatch);
  for (unsigned step = 0; step < 5; ++step) {
    for (auto [one, place] : {std::pair(&critic, "0"), {&maker, "1"}})
      for (const Variable &variable : one->variables())
        if (variable.kind != VariableKind::Derived)
          one->write(variable.name,
                     both.read(nameInBoth(variable.name, place)));
    Numbers before = both.read("critic.w"), input = randomInput(step);
    if (step == 3 && overflows)
      input[0] = 1e5; // infinite in f16
    bool skipped = both.skips(input);
    EXPECT_EQ(critic.skips(input), skipped) << step;
    EXPECT_EQ(maker.skips(input), skipped) << step;
    EXPECT_EQ(skipped, step == 3 && overflows);
    EXPECT_EQ(both.read("critic.w") == before, skipped) << step;
    for (const char *name :
         {"critic.w", "critic.w.exp_avg", "critic.w.exp_avg_sq"})
      EXPECT_EQ(both.read(name), critic.read(name))
          << name << ", step " << step;
    for (const char *name : {"maker.w", "maker.b", "maker.w.momentum_buffer"})
      EXPECT_EQ(both.read(name), maker.read(name)) << name << ", step " << step;
  }
}

TEST(Losses, TwoTogetherAreEachAlone) { check("scaler(@scaler)", false); }
TEST(Losses, TwoTogetherAreEachAloneInF16) {
  check("autocast(<dtype = f16>) scaler(@scaler)", true);
}

} // namespace
