//===- optimizer-skips-test.cpp - the parts of a step that are skipped ----===//
//
// Two optimizers in f16: each skips on its own gradients and copies, whereas
// the statistics of the forward pass and the scaler follow both.
//
//===----------------------------------------------------------------------===//
#include "OnBothTargets.h"
#include "TrainingSession.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mp;
using namespace mp::test;

namespace {

MP_ON_BOTH_TARGETS(OptimizerSkips);

/// The gradients of @a and @b are the sums of columns 0 and 1 times the scale,
/// and zero for @idle. The batch norm sees column 2.
std::string network(StringRef attributes = "",
                    StringRef scaler = "init_scale = 1024.0") {
  return formatv(R"mlir(
    mp.variable @a : tensor<1x1xf32> = #mp.init<ones>
    mp.variable @b : tensor<1x1xf32> = #mp.init<ones>
    mp.variable @idle : tensor<1x1xf32> = #mp.init<ones>
    mp.variable buffer @bn.running_mean : tensor<1xf32> = #mp.init<zeros>
    mp.variable buffer @bn.running_var : tensor<1xf32> = #mp.init<ones>
    func.func @loss(%x: tensor<?x3xf32> {{mp.name = "x"}) -> (tensor<f32> {{mp.name = "loss"}) {{
      %x0 = mp.slice %x offsets[0, 0] sizes[-1, 1] : tensor<?x3xf32>
      %x1 = mp.slice %x offsets[0, 1] sizes[-1, 1] : tensor<?x3xf32>
      %x2 = mp.slice %x offsets[0, 2] sizes[-1, 1] : tensor<?x3xf32>
      %a = mp.read @a : tensor<1x1xf32>
      %b = mp.read @b : tensor<1x1xf32>
      %idle = mp.read @idle : tensor<1x1xf32>
      %zero = mp.constant dense<0.0> : tensor<f32>
      %none = mp.mul %x2, %zero : tensor<?x1xf32>, tensor<f32>
      %y0 = mp.linear %x0, %a : tensor<?x1xf32>, tensor<1x1xf32>
      %y1 = mp.linear %x1, %b : tensor<?x1xf32>, tensor<1x1xf32>
      %y2 = mp.linear %none, %idle : tensor<?x1xf32>, tensor<1x1xf32>
      %mean = mp.read @bn.running_mean : tensor<1xf32>
      %var = mp.read @bn.running_var : tensor<1xf32>
      %n, %m, %rstd, %mean1, %var1 = mp.batch_norm %x2, %mean, %var
          : tensor<?x1xf32>, tensor<1xf32>, tensor<1xf32>
      mp.write @bn.running_mean, %mean1 : tensor<1xf32>
      mp.write @bn.running_var, %var1 : tensor<1xf32>
      %y01 = mp.add %y0, %y1 : tensor<?x1xf32>, tensor<?x1xf32>
      %y = mp.add %y01, %y2 : tensor<?x1xf32>, tensor<?x1xf32>
      %wide = mp.cast %y : tensor<?x1xf32> to tensor<?x1xf32>
      %l = mp.sum %wide dims[0, 1] : tensor<?x1xf32>
      return %l : tensor<f32>
    }
    mp.scaler @scaler {{{1}}
    mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {0} {{
      mp.minimize result(0) {{params = ["a", "idle"], optimizer = #mp.adamw<lr = 0.1>, ema = 0.5,
                             schedule = #mp.linear<steps = 10>}
      mp.minimize result(0) {{params = ["b"], optimizer = #mp.sgd<lr = 1.0, momentum = 0.9>, optimizer_name = "b"}
    })mlir",
                 attributes, scaler)
      .str();
}

/// Returns two rows; a gradient of 100 is infinite in f16 at the scale of 1024.
Numbers input(double a, double b) { return {a, b, 3, 0, 0, -1}; }

using State = std::map<std::string, Numbers>;

/// Returns all state that a skipped step leaves unchanged, of one optimizer or
/// of forward.
State stateOf(TrainingSession &session, ArrayRef<StringRef> prefixes) {
  State state;
  for (const Variable &variable : session.variables())
    if (any_of(prefixes, [&](StringRef prefix) {
          return StringRef(variable.name).starts_with(prefix);
        }))
      state[variable.name] = session.read(variable.name);
  return state;
}
State ofA(TrainingSession &session) {
  return stateOf(session, {"a", "idle", "step.0."});
}
State ofB(TrainingSession &session) {
  return stateOf(session, {"b.", "step.b."});
}
State ofForward(TrainingSession &session) {
  return stateOf(session, {"bn.running"});
}

struct Changes {
  bool a, b, forward;
  bool operator==(const Changes &) const = default;
};

/// Returns the changes by a step.
Changes step(TrainingSession &session, const Numbers &input,
             std::map<std::string, double> &results) {
  State a = ofA(session), b = ofB(session), forward = ofForward(session);
  EXPECT_GE(a.size(), 10u);
  EXPECT_GE(b.size(), 3u);
  EXPECT_EQ(forward.size(), 2u);
  results = session.run(input);
  return {ofA(session) != a, ofB(session) != b, ofForward(session) != forward};
}

TEST_P(OptimizerSkips, EachOnItsOwnGradients) {
  TrainingSession session(network(), 2, GetParam());
  std::map<std::string, double> results;
  double scale = 1024;
  for (auto [a, b] :
       {std::pair(1, 1), {100, 1}, {1, 200}, {400, 400}, {1, 1}}) {
    bool skipsA = a > 1, skipsB = b > 1;
    Changes changes = step(session, input(a, b), results);
    EXPECT_EQ(changes, (Changes{!skipsA, !skipsB, !skipsA && !skipsB}));
    EXPECT_EQ(results.at("skipped.0"), skipsA);
    EXPECT_EQ(results.at("skipped.b"), skipsB);
    EXPECT_EQ(results.at("skipped"), skipsA || skipsB);
    EXPECT_EQ(results.at("scale"), scale);
    scale *= skipsA || skipsB ? 0.5 : 1;
  }
  EXPECT_EQ(session.read("step.0.applied")[0], 3);
  EXPECT_EQ(session.read("step.b.applied")[0], 3);
  EXPECT_EQ(session.read("step.attempted")[0], 5);
}

/// The norm of all is infinite if one is, and zeroes the others.
TEST_P(OptimizerSkips, TogetherWhereTheNormOfAllClips) {
  TrainingSession session(network("attributes {clip_norm = 1.0}"), 2,
                          GetParam());
  std::map<std::string, double> results;
  for (auto [a, b] : {std::pair(1, 1), {100, 1}, {1, 200}, {1, 1}}) {
    bool skips = a > 1 || b > 1;
    EXPECT_EQ(step(session, input(a, b), results),
              (Changes{!skips, !skips, !skips}));
    EXPECT_EQ(results.at("skipped.0"), skips);
    EXPECT_EQ(results.at("skipped.b"), skips);
  }
}

/// A master beyond f16 skips its optimizer's step; the gradients are finite, so
/// the scale stays.
TEST_P(OptimizerSkips, EachOnItsOwnCopies) {
  for (StringRef scaler : {"init_scale = 1024.0", "enabled = false"}) {
    TrainingSession session(network("", scaler), 2, GetParam());
    session.write("b", {-65500});
    std::map<std::string, double> results;
    EXPECT_EQ(step(session, input(1, 50), results),
              (Changes{true, false, false}));
    EXPECT_EQ(results.at("skipped.0"), 0);
    EXPECT_EQ(results.at("skipped.b"), 1);
    EXPECT_EQ(results.at("skipped"), 1);
    EXPECT_EQ(step(session, input(1, 1), results), (Changes{true, true, true}));
    if (results.count("scale"))
      EXPECT_EQ(results.at("scale"), 1024);
  }
}

/// In f16 Adam's eps of 1e-8 would be zero, and 0 / 0 a weight of NaN: so
/// moments and updates are in f32.
TEST_P(OptimizerSkips, ZeroGradientsMoveNothing) {
  TrainingSession session(network(), 2, GetParam());
  for (int i = 0; i < 3; ++i)
    EXPECT_FALSE(session.skips(input(1, 1)));
  EXPECT_EQ(session.read("idle.exp_avg")[0], 0);
  EXPECT_EQ(session.read("idle.exp_avg_sq")[0], 0);
  // Only the decay of 1e-2 remains, at rates of 0.1, 0.09 and 0.08.
  EXPECT_NEAR(session.read("idle")[0], 0.999 * 0.9991 * 0.9992, 1e-6);
}

} // namespace
