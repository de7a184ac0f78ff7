//===- sparse-updates-test.cpp - updates of the rows that a batch uses ----===//
//
// Against PyTorch's optimizers of sparse gradients, and against the updates of
// all rows where these are the same by definition.
//
//===----------------------------------------------------------------------===//
#include "OnBothTargets.h"
#include "TrainingSession.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <random>

using namespace llvm;
using namespace mp;
using namespace mp::test;

namespace {

MP_ON_BOTH_TARGETS(SparseUpdates);

/// Nothing more than the loss %l.
constexpr StringLiteral kNothing =
    "%all = mp.reshape %l : tensor<f32> to tensor<f32>";

/// A table of 3 features. A row of the input is the index of a use, and the
/// gradient of this use. `more` are ops that make %all of the loss %l.
std::string network(StringRef optimizer, int64_t rows, StringRef recipe = "",
                    StringRef more = kNothing) {
  return formatv(R"mlir(
    mp.variable @table : tensor<{1}x3xf32> = #mp.init<zeros>
    mp.variable @bias : tensor<{1}xf32> = #mp.init<zeros>
    func.func @loss(%x: tensor<?x4xf32> {{mp.name = "x"}) -> (tensor<f32> {{mp.name = "loss"}) {{
      %column = mp.slice %x offsets[0, 0] sizes[-1, 1] : tensor<?x4xf32>
      %flat = mp.reshape %column : tensor<?x1xf32> to tensor<?xf32>
      %index = mp.cast %flat : tensor<?xf32> to tensor<?xi32>
      %g = mp.slice %x offsets[0, 1] sizes[-1, 3] : tensor<?x4xf32>
      %table = mp.read @table : tensor<{1}x3xf32>
      %rows = mp.gather %table, %index dim(0) : tensor<{1}x3xf32>, tensor<?xi32>
      %p = mp.mul %rows, %g : tensor<?x3xf32>, tensor<?x3xf32>
      %l = mp.sum %p dims[0, 1] : tensor<?x3xf32>
      {3}
      return %all : tensor<f32>
    }
    mp.scaler @scaler {{init_scale = 1024.0}
    mp.train @step of @loss {2} {{
      mp.minimize result(0) {{optimizer = {0}}
    })mlir",
                 optimizer, rows, recipe, more)
      .str();
}

/// A second use of rows 2 and 0, a use of a copy in f16 for each of the others,
/// and a use of an element of the bias.
std::string usesTwice(int64_t rows) {
  return formatv(R"mlir(
      %fixed = mp.constant dense<[2, 0]> : tensor<2xi32>
      %again = mp.gather %table, %fixed dim(0) : tensor<{0}x3xf32>, tensor<2xi32>
      %q = mp.sum %again dims[0, 1] : tensor<2x3xf32>
      %bias = mp.read @bias : tensor<{0}xf32>
      %b = mp.gather %bias, %index dim(0) : tensor<{0}xf32>, tensor<?xi32>
      %row = mp.sum %g dims[1] : tensor<?x3xf32>
      %r = mp.mul %b, %row : tensor<?xf32>, tensor<?xf32>
      %s = mp.sum %r dims[0] : tensor<?xf32>
      %half = mp.cast %table : tensor<{0}x3xf32> to tensor<{0}x3xf16>
      %low = mp.gather %half, %index dim(0) : tensor<{0}x3xf16>, tensor<?xi32>
      %wide = mp.cast %low : tensor<?x3xf16> to tensor<?x3xf32>
      %product = mp.mul %wide, %g : tensor<?x3xf32>, tensor<?x3xf32>
      %t = mp.sum %product dims[0, 1] : tensor<?x3xf32>
      %lq = mp.add %l, %q : tensor<f32>, tensor<f32>
      %lqs = mp.add %lq, %s : tensor<f32>, tensor<f32>
      %all = mp.add %lqs, %t : tensor<f32>, tensor<f32>)mlir",
                 rows)
      .str();
}

Numbers elements(const json::Object &holder, StringRef name) {
  return cantFail(goldenNumbers(*holder.getObject(name)));
}

/// Returns the input for a batch of a golden.
Numbers inputOf(const json::Object &batch) {
  Numbers gradients = elements(batch, "gradients"), input;
  const json::Array &indices = *batch.getArray("indices");
  for (size_t i = 0; i < indices.size(); ++i) {
    input.push_back(*indices[i].getAsNumber());
    input.insert(input.end(), gradients.begin() + 3 * i,
                 gradients.begin() + 3 * (i + 1));
  }
  return input;
}

// Each of six steps may round in a few places, as optimizer-goldens-test.cpp
// allows.
TEST_P(SparseUpdates, OfPyTorch) {
  auto file = cantFail(readGolden("sparse.json"));
  const json::Array &cases = *file.getArray("cases");
  ASSERT_GE(cases.size(), 10u);
  for (const json::Value &item : cases) {
    const json::Object &golden = *item.getAsObject();
    StringRef optimizer = *golden.getString("optimizer");
    TrainingSession session(network(optimizer, 12), 5, GetParam());
    session.write("table", elements(golden, "start"));
    const json::Array &batches = *golden.getArray("batches");
    const json::Array &tables = *golden.getArray("tables");
    for (size_t step = 0; step < batches.size(); ++step) {
      session.run(inputOf(*batches[step].getAsObject()));
      Numbers ours = session.read("table"),
              theirs = cantFail(goldenNumbers(*tables[step].getAsObject()));
      for (size_t i = 0; i < theirs.size(); ++i)
        EXPECT_NEAR(ours[i], theirs[i], 2e-6 * (1 + std::abs(theirs[i])))
            << optimizer.str() << ", element " << i << " in step " << step;
    }
  }
}

/// Returns some uses of the rows, one of them out of range.
Numbers drawn(std::mt19937 &random, int64_t rows, int64_t uses) {
  std::uniform_int_distribution<int> index(0, rows - 1);
  std::normal_distribution<float> gradient;
  Numbers input;
  for (int64_t i = 0; i < uses; ++i) {
    input.push_back(i == 3 ? rows + 5 : index(random) / 2);
    for (int j = 0; j < 3; ++j)
      input.push_back(gradient(random));
  }
  return input;
}

/// All state after some steps on random uses.
std::map<std::string, Numbers> stateAfter(StringRef optimizer, StringRef recipe,
                                          Device device) {
  constexpr int64_t rows = 40, uses = 17;
  TrainingSession session(network(optimizer, rows, recipe, usesTwice(rows)),
                          uses, device);
  std::mt19937 random(1);
  for (int step = 0; step < 5; ++step)
    session.run(drawn(random, rows, uses));
  std::map<std::string, Numbers> state;
  for (const Variable &variable : session.variables())
    state[variable.name] = session.read(variable.name);
  return state;
}

// Without decay these optimizers leave alone what has a gradient of zero.
TEST_P(SparseUpdates, HaveTheBitsOfAllRows) {
  for (StringRef recipe :
       {"", "scaler(@scaler)", "autocast(<dtype = f16>) scaler(@scaler)"})
    for (StringRef optimizer :
         {"#mp.sgd<lr = 0.1{0}>",
          "#mp.adagrad<lr = 0.1, initial_accumulator_value = 0.1{0}>"}) {
      auto all =
          stateAfter(formatv(optimizer.data(), "").str(), recipe, GetParam());
      auto some = stateAfter(formatv(optimizer.data(), ", sparse = true").str(),
                             recipe, GetParam());
      for (auto &[name, numbers] : some) {
        ASSERT_TRUE(all.count(name)) << name;
        EXPECT_EQ(numbers, all[name]) << name << " by " << optimizer.str();
      }
    }
}

// Sums of other numbers of squares may round otherwise.
TEST_P(SparseUpdates, AreClippedByTheSameNorm) {
  StringRef recipe = "scaler(@scaler) attributes {clip_norm = 0.5}";
  auto all = stateAfter("#mp.sgd<lr = 0.1>", recipe, GetParam());
  auto some =
      stateAfter("#mp.sgd<lr = 0.1, sparse = true>", recipe, GetParam());
  Numbers expected = all["table"], found = some["table"];
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-6);
}

/// What the step may change, by name.
std::map<std::string, Numbers> stateOf(TrainingSession &session) {
  std::map<std::string, Numbers> state;
  for (const Variable &variable : session.variables())
    if (StringRef(variable.name).starts_with("table") ||
        StringRef(variable.name).starts_with("bias"))
      state[variable.name] = session.read(variable.name);
  return state;
}

// A gradient is infinite; then a new weight is, in the copy.
TEST_P(SparseUpdates, AreSkippedWhole) {
  for (StringRef optimizer : {"#mp.adam<lr = 64.0, sparse = true>",
                              "#mp.sgd<lr = 64.0, sparse = true>"}) {
    TrainingSession session(
        network(optimizer, 8, "scaler(@scaler)", usesTwice(8)), 2, GetParam());
    session.write("table", Numbers(24, 65472));
    auto before = stateOf(session);
    ASSERT_TRUE(before.count("table.f16"));
    EXPECT_TRUE(session.skips({1, INFINITY, 0, 0, 6, 1, 1, 1}));
    EXPECT_EQ(stateOf(session), before);
    EXPECT_TRUE(session.skips({1, 1, 1, 1, 6, -1, 1, 1}));
    EXPECT_EQ(stateOf(session), before);
    EXPECT_FALSE(session.skips({1, 1, 2, 3, 6, 1, 1, 1}));
    auto after = stateOf(session);
    for (int row = 0; row < 8; ++row) {
      bool isUsed = row == 1 || row == 6 || row == 2 || row == 0;
      EXPECT_EQ(after["table"][3 * row] != 65472, isUsed) << "row " << row;
      EXPECT_EQ(after["table.f16"][3 * row] != 65472, isUsed) << "row " << row;
    }
  }
}

// A step needs room for the rows, and none for a table.
TEST_P(SparseUpdates, NeedNoSecondTable) {
  constexpr int64_t rows = 20000;
  for (StringRef optimizer :
       {"#mp.adam<sparse = true>", "#mp.adagrad<sparse = true>",
        "#mp.sgd<sparse = true>"}) {
    TrainingSession session(network(optimizer, rows, "", usesTwice(rows)), 4,
                            GetParam());
    for (const Entry &entry : session.program.entries)
      EXPECT_LT(entry.arenaBytes, uint64_t(rows)) << optimizer.str();
  }
}

} // namespace
