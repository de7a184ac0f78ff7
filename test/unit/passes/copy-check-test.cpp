//===- copy-check-test.cpp - how a step finds an overflow in a copy -------===//
//
// Steps that write f16 copies: their traffic by the plan, and that the values
// alone decide whether a step is skipped, not the bounds.
//
//===----------------------------------------------------------------------===//
#include "TrainingSession.h"
#include <cmath>
#include <set>

using namespace mp;
using namespace llvm;

namespace {

constexpr int64_t kRows = 64, kColumns = 96, kWeights = kRows * kColumns;

/// sum(x w^T), by an optimizer in f16.
std::string network(StringRef optimizer) {
  return formatv(R"mlir(
    mp.variable @w : tensor<{0}x{1}xf32> = #mp.init<uniform, a = -0.1, b = 0.1>
    func.func @loss(%x: tensor<?x{1}xf32> {{mp.name = "x"}) -> (tensor<f32> {{mp.name = "loss"}) {{
      %w = mp.read @w : tensor<{0}x{1}xf32>
      %y = mp.linear %x, %w : tensor<?x{1}xf32>, tensor<{0}x{1}xf32>
      %sum = mp.sum %y dims[0, 1] : tensor<?x{0}xf32>
      return %sum : tensor<f32>
    }
    mp.scaler @scaler {{preset = "torch", init_scale = 1.0}
    mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {{
      mp.minimize result(0) {{optimizer = {2}}
    })mlir",
                 kRows, kColumns, optimizer)
      .str();
}

constexpr int64_t kBatch = 8;

struct Training : mp::test::TrainingSession {
  explicit Training(StringRef optimizer)
      : TrainingSession(network(optimizer), kBatch) {}
  /// The gradient of each row of weights is the sum of x's rows.
  bool skips(double x) {
    return TrainingSession::skips(Numbers(kBatch * kColumns, x));
  }
};

double largest(const Numbers &numbers) {
  double most = 0;
  for (double number : numbers)
    most = std::max(most, std::abs(number));
  return most;
}

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

/// Returns the number of bytes at a place that a step's launch gets.
uint64_t bytesAt(const Program &program, const Entry &entry, size_t step,
                 const BufferRef &place) {
  if (place.space == BufferRef::Space::Variable)
    return program.variables[place.index].type.bytes();
  if (place.space == BufferRef::Space::Staging)
    return entry.inputs[place.index].type.bytes();
  if (place.space == BufferRef::Space::Constant)
    return program.constants[place.index].type.bytes();
  for (const Buffer &buffer : entry.buffers)
    if (buffer.offset == place.offset && buffer.firstStep <= step &&
        step <= buffer.lastStep)
      return buffer.bytes;
  ADD_FAILURE() << "step " << step << " has an argument in no buffer";
  return 0;
}

/// Checks the traffic of the update and of the check, by the plan.
void expectTraffic(StringRef recipe, unsigned bytes) {
  SCOPED_TRACE(recipe.str());
  Program program = mp::test::compileStep(network(recipe), kBatch);
  auto named = [&](const BufferRef &place, StringRef name) {
    return place.space == BufferRef::Space::Variable &&
           program.variables[place.index].name == name;
  };
  auto entry = find_if(program.entries,
                       [](const Entry &e) { return e.function == "step"; });
  unsigned updates = 0, looks = 0;
  for (auto [index, step] : enumerate(entry->steps)) {
    auto *launch = std::get_if<Launch>(&step);
    if (!launch)
      continue;
    uint64_t moved = 0;
    for (const BufferRef &place : launch->args) {
      uint64_t bytes = bytesAt(program, *entry, index, place);
      moved += bytes >= kWeights ? bytes : 0;
    }
    auto uses = [&](StringRef name) {
      return count_if(launch->args, [&](const BufferRef &place) {
        return named(place, name);
      });
    };
    if (uses("w") == 2) { // read and written
      ++updates;
      EXPECT_EQ(moved, bytes * kWeights);
    } else if (uses("w") || uses("w.exp_avg") || uses("w.exp_avg_sq")) {
      // This is the check of the new masters, for the case that the bounds
      // leave it open.
      ++looks;
      StringRef summary = program.kernels[launch->kernel].summary;
      EXPECT_TRUE(summary.contains("adamw cast is_finite")) << summary.str();
    }
  }
  EXPECT_EQ(updates, 1u);
  EXPECT_EQ(looks, 1u);
}

// Clipping is one factor more; an average is read and written.
TEST(CopyCheck, UpdateMoves28BytesAParameter) {
  expectTraffic("#mp.adamw<lr = 1.0e-3>", 28);
  expectTraffic("#mp.adamw<lr = 1.0e-3>, clip_norm = 1.0", 28);
  expectTraffic("#mp.adamw<lr = 1.0e-3>, clip_value = 1.0", 28);
  expectTraffic("#mp.adamw<lr = 1.0e-3>, clip_norm = 1.0, ema = 0.999", 36);
}

//===----------------------------------------------------------------------===//
// Skipped steps
//===----------------------------------------------------------------------===//

// While the bounds prove that all copies are finite, they move by themselves:
// nothing is measured, so the bound is above the value that a check would have
// found.
TEST(CopyCheck, ProvenStepsMeasureNothing) {
  Training training("#mp.adamw<lr = 1.0e-3>");
  EXPECT_EQ(training.read("step.magnitude")[0], largest(training.read("w")));
  EXPECT_EQ(training.read("step.moment_ratio")[0], 0);
  for (int i = 0; i < 5; ++i)
    EXPECT_FALSE(training.skips(i % 2 ? -0.5 : 0.5));
  double bound = training.read("step.magnitude")[0];
  EXPECT_GT(bound, largest(training.read("w")) + 1e-3);
  EXPECT_LT(bound, 1);
  EXPECT_GT(training.read("step.moment_ratio")[0], 2);
  EXPECT_LT(training.read("step.moment_ratio")[0], 7.3);
}

// The bound adds the largest weight and the largest step; here they are of
// different elements, so that only a check shows that all copies are finite.
TEST(CopyCheck, OpenStepsLookAndMeasure) {
  Training training("#mp.sgd<lr = 1000.0>");
  Numbers weights(kWeights, 1);
  weights[0] = 65000;
  training.write("w", weights);
  EXPECT_EQ(training.read("step.magnitude")[0], 65000);
  EXPECT_FALSE(training.skips(1)); // every weight loses 8000
  EXPECT_EQ(training.read("w")[0], 57000);
  EXPECT_EQ(training.read("w.f16")[0], 57000 - 8); // to a multiple of 32
  EXPECT_EQ(training.read("step.magnitude")[0], 57000);
}

TEST(CopyCheck, OverflowSkips) {
  Training training("#mp.sgd<lr = 1000.0>");
  Numbers weights(kWeights, 1);
  weights[0] = 65000;
  training.write("w", weights);
  EXPECT_TRUE(training.skips(-1)); // to 73000
  EXPECT_EQ(training.read("w"), weights);
  EXPECT_EQ(training.read("step.magnitude")[0], 65000);
  EXPECT_EQ(training.read("step.applied")[0], 0);
  EXPECT_FALSE(training.skips(-0.0625)); // to 65500, which f16 rounds to 65504
  EXPECT_EQ(training.read("w.f16")[0], 65504);
}

// An optimizer that states no bound is checked in each step.
TEST(CopyCheck, WithoutBounds) {
  Training training("#mp.lamb<lr = 1.0e-2>");
  for (const Variable &variable : training.variables())
    EXPECT_NE(variable.name, "step.magnitude");
  Numbers before = training.read("w");
  EXPECT_FALSE(training.skips(0.5));
  EXPECT_NE(training.read("w"), before);
  // The step's norm is that of the weights times the learning rate.
  Training large("#mp.lamb<lr = 1.0e+8>");
  before = large.read("w");
  EXPECT_TRUE(large.skips(0.5));
  EXPECT_EQ(large.read("w"), before);
}

// The bound follows the clipped gradient, whatever the norm before.
TEST(CopyCheck, BoundsFollowClipping) {
  Training training("#mp.sgd<lr = 1.0>, clip_norm = 1.0");
  double before = training.read("step.magnitude")[0];
  EXPECT_FALSE(training.skips(1000)); // 8000 for every weight
  EXPECT_GT(training.read("step.magnitude")[0], before + 0.99);
  EXPECT_LT(training.read("step.magnitude")[0], before + 1.01);
}

// Bounds prove nothing about these values.
TEST(CopyCheck, StateThatIsNotFinite) {
  Training training("#mp.adamw<lr = 1.0e-3>");
  Numbers means(kWeights, 0);
  means[7] = INFINITY;
  training.write("w.exp_avg", means);
  EXPECT_TRUE(training.skips(0.5));
  // Then the state is repaired, and a step that is skipped for its gradient
  // changes no bound.
  means[7] = 0;
  training.write("w.exp_avg", means);
  double before = training.read("step.magnitude")[0];
  EXPECT_TRUE(training.skips(60000)); // its gradient is beyond f16
  EXPECT_EQ(training.read("step.magnitude")[0], before);
  EXPECT_FALSE(training.skips(0.5));
}

} // namespace
