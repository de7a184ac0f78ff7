//===- op-goldens-test.cpp - ops and optimizers against PyTorch -----------===//
#include "GoldenFunction.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace mp;

/// How far apart PyTorch's value and ours may be: each is rounded once, from
/// f32 values that may differ in their last bits.
static double tolerance(StringRef module) {
  if (module.contains("xbf16>"))
    return 0x1p-7;
  return module.contains("xf16>") ? 0x1p-10 : 1e-5;
}

/// `tolerance` is relative; 0 wants equal numbers. Near zero, where terms
/// cancel, a difference of 1e-6 is none.
static bool near(double ours, double theirs, double tolerance) {
  return ours == theirs ||
         (tolerance > 0 &&
          std::abs(ours - theirs) <= 1e-6 + tolerance * std::abs(theirs));
}

static void expectNear(const Numbers &ours, const Numbers &theirs,
                       double tolerance, StringRef what) {
  ASSERT_EQ(ours.size(), theirs.size()) << what.str();
  for (size_t i = 0; i < ours.size(); ++i)
    EXPECT_PRED3(near, ours[i], theirs[i], tolerance)
        << "element " << i << " of\n"
        << what.str();
}

static json::Object goldens() { return cantFail(readGolden("ops.json")); }

static Numbers elements(const json::Value &tensor) {
  return cantFail(goldenNumbers(*tensor.getAsObject()));
}

TEST(OpGoldens, ForwardValues) {
  json::Object file = goldens();
  ASSERT_GE(file.getArray("forward")->size(), 70u);
  for (const json::Value &item : *file.getArray("forward")) {
    const json::Object &golden = *item.getAsObject();
    StringRef module = *golden.getString("module");
    Expected<GoldenFunction> function = GoldenFunction::compile(module);
    if (!function) {
      ADD_FAILURE() << module.str() << toString(function.takeError());
      continue;
    }
    std::vector<Numbers> inputs;
    for (const json::Value &input : *golden.getArray("inputs"))
      inputs.push_back(elements(input));
    std::vector<Numbers> outputs = cantFail((*function)(inputs));
    bool exact = *golden.getBoolean("exact");
    expectNear(outputs[0], elements(golden.getArray("outputs")->front()),
               exact ? 0 : tolerance(module), module);
  }
}

TEST(OpGoldens, OptimizerSteps) {
  json::Object file = goldens();
  ASSERT_GE(file.getArray("optimizers")->size(), 9u);
  for (const json::Value &item : *file.getArray("optimizers")) {
    const json::Object &golden = *item.getAsObject();
    StringRef module = *golden.getString("module");
    Expected<GoldenFunction> function = GoldenFunction::compile(module);
    if (!function) {
      ADD_FAILURE() << module.str() << toString(function.takeError());
      continue;
    }
    // The parameter and its slots, which start at zero.
    Numbers start = elements(*golden.get("start"));
    size_t slots = module.contains("%v:") ? 2 : module.contains("%m:") ? 1 : 0;
    std::vector<Numbers> state(1 + slots, Numbers(start.size(), 0.0));
    state[0] = start;
    const json::Array &gradients = *golden.getArray("gradients");
    const json::Array &parameters = *golden.getArray("parameters");
    for (size_t step = 0; step < gradients.size(); ++step) {
      std::vector<Numbers> inputs = {elements(gradients[step]),
                                     {*golden.getNumber("lr")},
                                     {static_cast<double>(step + 1)}};
      inputs.insert(inputs.end(), state.begin(), state.end());
      state = cantFail((*function)(inputs));
      expectNear(state[0], elements(parameters[step]), 1e-6,
                 (module + "step " + Twine(step + 1)).str());
    }
  }
}
