//===- optimizer-goldens-test.cpp - optimizers against PyTorch ------------===//
#include "GoldenFunction.h"
#include "OptimizerModule.h"
#include "TrainingSession.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;
using namespace mp;

namespace {

Numbers elements(const json::Value &tensor) {
  return cantFail(goldenNumbers(*tensor.getAsObject()));
}

/// The shape of a golden tensor, as in "3x4".
std::string shapeOf(const json::Value &tensor) {
  StringRef type = *tensor.getAsObject()->getString("type");
  type.consume_front("tensor<");
  return type.drop_back(StringRef("xf32>").size()).str();
}

void expectNear(const Numbers &ours, const Numbers &theirs, double relative,
                const Twine &what) {
  ASSERT_EQ(ours.size(), theirs.size()) << what.str();
  for (size_t i = 0; i < theirs.size(); ++i)
    EXPECT_NEAR(ours[i], theirs[i], relative * (1 + std::abs(theirs[i])))
        << "element " << i << " of " << what.str();
}

const json::Object &goldens() {
  static const json::Object file = cantFail(readGolden("optimizers.json"));
  return file;
}

/// The items of one list of the file.
std::vector<const json::Object *> cases(StringRef name) {
  std::vector<const json::Object *> all;
  for (const json::Value &item : *goldens().getArray(name))
    all.push_back(item.getAsObject());
  return all;
}

// Rounding in each of eight steps allows two units in the last place of f32 per
// step.
TEST(OptimizerGoldens, Steps) {
  auto all = cases("optimizers");
  ASSERT_GE(all.size(), 35u);
  for (const json::Object *golden : all) {
    StringRef optimizer = *golden->getString("optimizer");
    const json::Value &start = *golden->get("start");
    OptimizerModule module = optimizerModule(optimizer, shapeOf(start));
    auto update = GoldenFunction::compile(module.text, "update");
    if (!update) {
      ADD_FAILURE() << optimizer.str() << toString(update.takeError());
      continue;
    }
    std::vector<Numbers> state{elements(start)};
    for (double initial : module.slots)
      state.push_back(Numbers(state[0].size(), initial));
    const json::Array &gradients = *golden->getArray("gradients");
    const json::Array &parameters = *golden->getArray("parameters");
    for (size_t step = 0; step < gradients.size(); ++step) {
      std::vector<Numbers> inputs = {elements(gradients[step]),
                                     {*golden->getNumber("lr")},
                                     {static_cast<double>(step + 1)}};
      inputs.insert(inputs.end(), state.begin(), state.end());
      state = cantFail((*update)(inputs));
      expectNear(state[0], elements(parameters[step]), 2e-6,
                 optimizer + " in step " + Twine(step + 1));
    }
  }
}

// Schedules are computed in f64 and rounded to f32 once; PyTorch's recurrences
// lose a bit or two of f64.
TEST(OptimizerGoldens, Schedules) {
  auto all = cases("schedules");
  ASSERT_GE(all.size(), 18u);
  for (const json::Object *golden : all) {
    StringRef schedule = *golden->getString("schedule");
    auto factor = GoldenFunction::compile(
        formatv(R"(func.func @f(%t: tensor<i64>) -> tensor<f32> {{
          %f = mp.schedule %t by {0}
          return %f : tensor<f32>
        })",
                schedule)
            .str());
    if (!factor) {
      ADD_FAILURE() << schedule.str() << toString(factor.takeError());
      continue;
    }
    const json::Array &factors = *golden->getArray("factors");
    ASSERT_EQ(factors.size(), 50u);
    for (size_t step = 0; step < factors.size(); ++step) {
      double theirs = *factors[step].getAsNumber();
      double ours = cantFail((*factor)({{double(step)}}))[0][0];
      EXPECT_NEAR(ours, theirs, 1e-14 + 0x1p-24 * theirs)
          << schedule.str() << " at step " << step;
    }
  }
}

TEST(OptimizerGoldens, Averages) {
  auto all = cases("averages");
  ASSERT_GE(all.size(), 3u);
  for (const json::Object *golden : all) {
    double decay = *golden->getNumber("decay");
    auto average = cantFail(GoldenFunction::compile(
        formatv(R"(func.func @f(%a: tensor<6xf32>, %x: tensor<6xf32>,
                                %step: tensor<i64>) -> tensor<6xf32> {{
          %r = mp.ema %a, %x, %step {{decay = {0:e} : f64}
            : tensor<6xf32>, tensor<6xf32>, tensor<i64>
          return %r : tensor<6xf32>
        })",
                decay)
            .str()));
    const json::Array &values = *golden->getArray("values");
    Numbers mean(6, 1e9); // its value before the first step does not count
    for (size_t step = 0; step < values.size(); ++step) {
      mean = cantFail(
          average({mean, elements(values[step]), {double(step + 1)}}))[0];
      expectNear(mean, elements((*golden->getArray("averages"))[step]), 1e-6,
                 "step " + Twine(step + 1));
    }
  }
}

// Clipping through the whole pipeline: the parameters start at zero and move by
// minus their gradients, x and 2 x.
TEST(OptimizerGoldens, Clipping) {
  auto all = cases("clipping");
  ASSERT_GE(all.size(), 6u);
  for (const json::Object *golden : all) {
    StringRef setting = *golden->getString("setting");
    std::string module = formatv(R"mlir(
      mp.variable @v : tensor<6xf32> = #mp.init<zeros>
      mp.variable @w : tensor<6xf32> = #mp.init<zeros>
      func.func @loss(%x: tensor<?x6xf32> {{mp.name = "x"}) -> (tensor<f32> {{mp.name = "loss"}) {{
        %v = mp.read @v : tensor<6xf32>
        %w = mp.read @w : tensor<6xf32>
        %w2 = mp.add %w, %w : tensor<6xf32>, tensor<6xf32>
        %s = mp.add %v, %w2 : tensor<6xf32>, tensor<6xf32>
        %p = mp.mul %x, %s : tensor<?x6xf32>, tensor<6xf32>
        %l = mp.sum %p dims[0, 1] : tensor<?x6xf32>
        return %l : tensor<f32>
      }
      mp.train @step of @loss attributes {{{0}} {{
        mp.minimize result(0) {{optimizer = #mp.sgd<lr = 1>}
      })mlir",
                                 setting)
                             .str();
    mp::test::TrainingSession session(module, /*batch=*/1);
    auto results = session.run(elements(*golden->get("gradient")));
    EXPECT_NEAR(results.at("grad_norm"), *golden->getNumber("norm"),
                1e-6 * results.at("grad_norm"));
    const json::Array &clipped = *golden->getArray("clipped");
    const StringRef names[] = {"v", "w"};
    for (auto [index, name] : enumerate(names)) {
      Numbers moved = session.read(name);
      for (double &number : moved)
        number = -number;
      expectNear(moved, elements(clipped[index]), 1e-6,
                 setting + " of " + name);
    }
  }
}

} // namespace
