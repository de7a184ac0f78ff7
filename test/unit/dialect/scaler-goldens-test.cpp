//===- scaler-goldens-test.cpp - mp.update_scale against GradScaler -------===//
#include "GoldenFunction.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mp;

static Numbers column(const json::Object &golden, StringRef name) {
  Numbers values;
  for (const json::Value &value : *golden.getArray(name))
    values.push_back(*value.getAsNumber());
  return values;
}

static std::string module(const json::Object &golden) {
  return formatv(R"(
func.func @update(%scale: tensor<f32>, %tracker: tensor<i32>, %found: tensor<i1>)
    -> (tensor<f32>, tensor<i32>) {{
  %s, %t, %e = mp.update_scale %scale, %tracker, %found
      {{growth_factor = {0:e}, backoff_factor = {1:e}, growth_interval = {2}, min_scale = 0.0}
      : tensor<f32>, tensor<i32>, tensor<i1>
  return %s, %t : tensor<f32>, tensor<i32>
})",
                 *golden.getNumber("growth_factor"),
                 *golden.getNumber("backoff_factor"),
                 *golden.getInteger("growth_interval"));
}

/// Every scale bit for bit, through growth, backoff, a growth that would not be
/// finite, and a collapse to zero.
TEST(ScalerGoldens, SameSequenceAsPyTorch) {
  json::Object file = cantFail(readGolden("scaler-updates.json"));
  ASSERT_GE(file.getArray("cases")->size(), 10u);
  for (const json::Value &item : *file.getArray("cases")) {
    const json::Object &golden = *item.getAsObject();
    SCOPED_TRACE(golden.getString("name")->str());
    Expected<GoldenFunction> update = GoldenFunction::compile(module(golden));
    if (!update) {
      ADD_FAILURE() << toString(update.takeError());
      continue;
    }
    Numbers found = column(golden, "found_inf"),
            scales = column(golden, "scale"),
            trackers = column(golden, "growth_tracker");
    std::vector<Numbers> state = {{*golden.getNumber("init_scale")}, {0}};
    for (size_t step = 0; step < found.size(); ++step) {
      state = cantFail((*update)({state[0], state[1], {found[step]}}));
      ASSERT_EQ(state[0][0], scales[step]) << "scale after step " << step;
      ASSERT_EQ(state[1][0], trackers[step]) << "tracker after step " << step;
    }
  }
}
