//===- scaler-traces-test.cpp - every preset of mp.scaler, step by step ---===//
//
// Whole training steps, whose gradient overflows at the trace's steps, against
// the systems' behaviour (test/goldens/scaler_traces.py): on the CPU and on the
// emulated device.
//
//===----------------------------------------------------------------------===//
#include "OnBothTargets.h"
#include "TrainingSession.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mp;
using namespace mp::test;

namespace {

MP_ON_BOTH_TARGETS(ScalerTraces);

/// The gradient of @w is x times the scale.
std::string module(StringRef preset, StringRef fields) {
  return formatv(R"mlir(
    mp.variable @w : tensor<1xf32> = #mp.init<zeros>
    func.func @loss(%x: tensor<?xf32> {{mp.name = "x"}) -> (tensor<f32> {{mp.name = "loss"}) {{
      %w = mp.read @w : tensor<1xf32>
      %y = mp.mul %x, %w : tensor<?xf32>, tensor<1xf32>
      %sum = mp.sum %y dims[0] : tensor<?xf32>
      return %sum : tensor<f32>
    }
    mp.scaler @scaler {{preset = "{0}"{1}}
    mp.train @step of @loss scaler(@scaler) {{
      mp.minimize result(0) {{optimizer = #mp.sgd<lr = 1.0>}
    })mlir",
                 preset, fields)
      .str();
}

/// A step's input: one that overflows at any scale, and one that never does.
Numbers input(bool overflows) {
  return {overflows ? std::numeric_limits<double>::infinity() : 0.0};
}

double scaleOf(const json::Value &value) {
  return value.getAsString() ? std::numeric_limits<double>::infinity()
                             : *value.getAsNumber();
}

void follow(const json::Object &trace, Device device) {
  std::string fields;
  for (auto &[field, value] : *trace.getObject("fields"))
    fields += formatv(", {0} = {1}{2}", field.str(), *value.getAsString(),
                      value.getAsString()->starts_with("0x") ? " : f64" : "");
  TrainingSession session(module(*trace.getString("preset"), fields), 1,
                          device);
  StringRef overflows = *trace.getString("overflows");
  const json::Array &scales = *trace.getArray("scale");
  const json::Array *trackers = trace.getArray("growth_tracker");
  const json::Array *hysteresis = trace.getArray("hysteresis_tracker");
  bool hasHysteresis = any_of(session.variables(), [](const Variable &v) {
    return v.name == "scaler.hysteresis_tracker";
  });
  ASSERT_GE(overflows.size(), 4u);
  for (auto [step, flag] : enumerate(overflows)) {
    double before = session.read("scaler.scale")[0];
    auto results = session.run(input(flag == '1'));
    ASSERT_EQ(results.at("skipped"), flag == '1') << step;
    ASSERT_EQ(results.at("scale"), before) << step;
    ASSERT_EQ(session.read("scaler.scale")[0], scaleOf(scales[step])) << step;
    bool ends = *trace.getBoolean("raised") && step + 1 == overflows.size();
    if (results.count("scale_exhausted"))
      ASSERT_EQ(results.at("scale_exhausted"), ends) << step;
    else
      ASSERT_FALSE(ends) << step;
    if (trackers)
      ASSERT_EQ(session.read("scaler.growth_tracker")[0],
                *(*trackers)[step].getAsNumber())
          << step;
    if (!hysteresis || !hasHysteresis)
      continue;
    // DeepSpeed's tracker stays at 1 while others count on.
    double tracker = session.read("scaler.hysteresis_tracker")[0];
    if (trace.getString("preset")->starts_with("deepspeed"))
      tracker = std::max(tracker, 1.0);
    ASSERT_EQ(tracker, *(*hysteresis)[step].getAsNumber()) << step;
  }
}

TEST_P(ScalerTraces, SameScalesAndCounters) {
  json::Object file = cantFail(readGolden("scaler-traces.json"));
  std::map<std::string, size_t> steps;
  for (const json::Value &item : *file.getArray("cases")) {
    const json::Object &trace = *item.getAsObject();
    std::string preset = trace.getString("preset")->str();
    steps[preset] =
        std::max(steps[preset], trace.getString("overflows")->size());
    SCOPED_TRACE(preset + ": " + trace.getString("name")->str());
    follow(trace, GetParam());
    if (HasFatalFailure())
      return;
  }
  EXPECT_EQ(steps.size(), 10u);
  for (auto &[preset, count] : steps)
    EXPECT_GE(count, 30u) << preset;
}

/// Every field is the preset's own, through two growths.
TEST_P(ScalerTraces, SameDefaults) {
  json::Object file = cantFail(readGolden("scaler-traces.json"));
  for (const json::Value &item : *file.getArray("defaults")) {
    const json::Object &trace = *item.getAsObject();
    StringRef preset = *trace.getString("preset");
    SCOPED_TRACE(preset.str());
    int64_t steps = *trace.getInteger("steps");
    // Fairseq's interval takes ten seconds in the emulator.
    if (GetParam().kind == Device::Kind::Cuda && steps > 5000)
      continue;
    TrainingSession session(module(preset, ""), 1, GetParam());
    std::vector<std::pair<int64_t, double>> found, expected;
    double last = -1;
    for (int64_t step = -1; step < steps; ++step) {
      if (step >= 0)
        session.run(input(step == *trace.getInteger("overflow")));
      if (double scale = session.read("scaler.scale")[0]; scale != last)
        found.emplace_back(step, last = scale);
    }
    for (const json::Value &change : *trace.getArray("scale"))
      expected.emplace_back(*(*change.getAsArray())[0].getAsInteger(),
                            *(*change.getAsArray())[1].getAsNumber());
    EXPECT_EQ(found, expected);
  }
}

//===----------------------------------------------------------------------===//
// Bugs that the systems have
//===----------------------------------------------------------------------===//

constexpr StringLiteral kPresets[] = {"torch",    "apex",    "apex-hysteresis",
                                      "keras",    "keras2",  "deepspeed",
                                      "megatron", "fairseq", "jmp"};

/// Below the least normal f32 a scale cannot be divided out again, and at 0
/// every later gradient is NaN.
TEST_P(ScalerTraces, NoScaleBecomesZero) {
  for (StringRef preset : kPresets) {
    TrainingSession session(module(preset, ", growth_interval = 2"), 1,
                            GetParam());
    for (int step = 0; step < 200; ++step)
      EXPECT_TRUE(session.skips(input(true)));
    double lowest = session.read("scaler.scale")[0];
    EXPECT_GE(lowest, std::numeric_limits<float>::min()) << preset.str();
    for (int step = 0; step < 4; ++step)
      EXPECT_FALSE(session.skips(input(false))) << preset.str();
    EXPECT_GT(session.read("scaler.scale")[0], lowest) << preset.str();
  }
}

TEST_P(ScalerTraces, NoScaleBecomesInfinite) {
  for (StringRef preset : kPresets) {
    TrainingSession session(module(preset, ", growth_interval = 1"), 1,
                            GetParam());
    for (int step = 0; step < 150; ++step)
      EXPECT_FALSE(session.skips(input(false)));
    double highest = session.read("scaler.scale")[0];
    EXPECT_LE(highest, std::numeric_limits<float>::max()) << preset.str();
    session.skips(input(true));
    session.skips(input(true));
    EXPECT_LT(session.read("scaler.scale")[0], highest) << preset.str();
  }
}

/// A checkpoint may come from a longer interval.
TEST_P(ScalerTraces, GrowsWhereTheIntervalWasLowered) {
  for (StringRef preset : kPresets) {
    TrainingSession session(module(preset, ", growth_interval = 5"), 1,
                            GetParam());
    for (double tracker : {40, std::numeric_limits<int32_t>::max()}) {
      double before = session.read("scaler.scale")[0];
      session.write("scaler.growth_tracker", {tracker});
      EXPECT_FALSE(session.skips(input(false)));
      EXPECT_EQ(session.read("scaler.scale")[0], 2 * before) << preset.str();
      EXPECT_EQ(session.read("scaler.growth_tracker")[0], 0) << preset.str();
    }
  }
}

/// A gradient may be finite, but not after division by a small scale.
TEST_P(ScalerTraces, ChecksWhatIsUnscaled) {
  TrainingSession session(module("torch", ", init_scale = 1.0e-30"), 2,
                          GetParam());
  EXPECT_FALSE(session.skips({1e20, 1e20}));
  EXPECT_TRUE(session.skips({3e38, 3e38}));
  EXPECT_TRUE(std::isfinite(session.read("w")[0]));
}

/// A scale that never changes still skips, and keeps no state.
TEST_P(ScalerTraces, StaticScaleStays) {
  TrainingSession session(module("static:4096", ""), 1, GetParam());
  for (bool overflows : {false, true, true, false, false}) {
    auto results = session.run(input(overflows));
    EXPECT_EQ(results.at("scale"), 4096);
    EXPECT_EQ(results.at("skipped"), overflows);
  }
  EXPECT_EQ(session.read("step.applied")[0], 3);
  for (const Variable &variable : session.variables())
    EXPECT_NE(variable.kind, VariableKind::Scaler) << variable.name;
}

/// Gradients are neither scaled nor checked.
TEST_P(ScalerTraces, NoneIsNone) {
  TrainingSession session(module("none", ""), 1, GetParam());
  auto results = session.run(input(true));
  EXPECT_FALSE(results.count("scale"));
  EXPECT_FALSE(results.count("skipped"));
}

} // namespace
