//===- step-state-test.cpp - variables, checkpoints and saved Programs ----===//
#include "TestFiles.h"
#include "api/SmallModule.h"
#include <unistd.h>

using namespace mantissa;
using namespace mantissa::test;

namespace {

TEST(State, VariablesAreReadAndWritten) {
  Step step = smallStep(
      {.precision = Precision::BF16, .predictions = {"value:%logits"}});
  std::vector<float> weight(12);
  weight[0] = 2;
  check(step.write("fc.weight", TensorRef(weight, {3, 4})));
  EXPECT_EQ(check(step.read<float>("fc.weight")), weight);
  // The working copy follows: only feature 0 counts.
  SmallData data;
  Results results = check(step.predict({{"x", data.points()}}));
  EXPECT_EQ(check(results.read<float>("value:%logits"))[0], 2);

  EXPECT_EQ(messageOf(step.read<float>("fc.weigth")),
            "there is no variable 'fc.weigth', did you mean 'fc.weight' or "
            "'fc.weight.bf16'?");
  EXPECT_EQ(messageOf(step.read<double>("fc.weight")),
            "variable 'fc.weight' is 3x4xf32, and was asked for as f64");
  EXPECT_EQ(messageOf(step.write("fc.weight", weight)),
            "'fc.weight' is 12xf32, expected 3x4xf32");
  float few[3];
  EXPECT_EQ(
      messageOf(step.readInto("fc.weight", ElementType::F32, few, sizeof few)),
      "variable 'fc.weight' is 3x4xf32, which takes 48 bytes; the memory "
      "for it has 12");
}

TEST(State, AResumedRunContinuesWithTheSameBits) {
  mp::test::TestFolder folder;
  SmallData data;
  Step whole = smallStep({.precision = Precision::FP16}),
       first = smallStep({.precision = Precision::FP16}),
       second = smallStep({.precision = Precision::FP16, .seed = 3});
  check(whole.scaleLearningRate(0.25));
  check(first.scaleLearningRate(0.25));
  for (int i = 0; i < 3; ++i) {
    train(whole, data);
    train(first, data);
  }
  check(first.save(folder.path("a.safetensors")));
  check(second.load(folder.path("a.safetensors")));
  EXPECT_EQ(second.steps(), 3);
  for (int i = 0; i < 3; ++i) {
    StepResults a = train(whole, data), b = train(second, data);
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(b.learningRate, 0.125);
  }
  EXPECT_EQ(check(whole.read<float>("fc.weight")),
            check(second.read<float>("fc.weight")));
}

TEST(State, WhatIsNotFiniteIsSoughtInTheStateThatWasLoaded) {
  mp::test::TestFolder folder;
  std::string path = folder.path("a.safetensors");
  Step step = smallStep({.precision = Precision::FP16});
  ASSERT_FALSE(train(step, SmallData()).skipped);
  std::vector<float> one = {1};
  check(
      step.write("scaler.scale", TensorRef(ElementType::F32, one.data(), {})));
  check(step.save(path));
  SmallData large;
  for (float &x : large.x)
    x *= 100;
  NamedTensor inputs[] = {{"x", large.points()}, {"label", large.label}};
  // The gradient of the weight overflows at the first loss scale, not at 1.
  check(step.initialize(0));
  ASSERT_TRUE(check(step.run(inputs)).skipped);
  EXPECT_NE(check(step.findNonFinite(inputs)), "");
  check(step.load(path));
  EXPECT_EQ(check(step.findNonFinite(inputs)), "");
  EXPECT_FALSE(check(step.run(inputs)).skipped);
}

TEST(State, AFileOfOtherSettingsIsRefused) {
  mp::test::TestFolder folder;
  std::string path = folder.path("a.safetensors");
  Step half = smallStep({.precision = Precision::FP16}), full = smallStep();
  check(half.save(path));
  auto before = check(full.read<float>("fc.weight"));
  EXPECT_EQ(messageOf(full.load(path)),
            path + " was made with precision 'fp16' instead of the recipe's: "
                   "it cannot be continued with the same bits; its weights "
                   "alone can be loaded");
  EXPECT_EQ(check(full.read<float>("fc.weight")), before);
  check(full.loadWeights(path));
}

TEST(State, AFileOfAnotherGraphIsRefused) {
  mp::test::TestFolder folder;
  std::string path = folder.path("a.safetensors"),
              program = folder.path("step");
  std::string text = kSmallModule;
  for (size_t at = text.find("%logits"); at != std::string::npos;
       at = text.find("%logits", at + 1))
    if (text.compare(at, 8, "%logits,") == 0)
      text.replace(at, 7, "%bounded");
  text.insert(text.find("    %loss"),
              "    %bounded = mp.tanh %logits : tensor<?x3xf32>\n");
  Module module = check(Module::parse(text, "bounded.mlir"));
  StepOptions options{.batch = kRows, .threads = 1};
  check(smallStep().save(path));
  check(module.saveStep(program, options));
  Step compiled = check(module.compileStep(options)),
       loaded = check(Step::fromPrograms({program}, {.threads = 1}));
  std::string expected =
      path +
      ": checkpoint of another graph:\n  mp.tanh (bounded.mlir:10:16) is "
      "not in the checkpoint's graph\n  its weights alone can be loaded";
  for (Step *step : {&compiled, &loaded}) {
    auto before = check(step->read<float>("fc.weight"));
    EXPECT_EQ(messageOf(step->load(path)), expected);
    EXPECT_EQ(check(step->read<float>("fc.weight")), before);
    check(step->loadWeights(path));
  }
}

TEST(State, ASavedProgramRunsWithoutItsModule) {
  mp::test::TestFolder folder;
  Module module = check(Module::parse(kSmallModule));
  StepOptions options;
  options.batch = kRows;
  options.threads = 1;
  options.predictions = {"value:%logits"};
  std::string programs[] = {folder.path("step"), folder.path("predict")};
  check(module.saveStep(programs[0], options));
  check(module.savePrediction(programs[1], options));
  Step compiled = check(module.compileStep(options)),
       loaded = check(Step::fromPrograms(programs, {.threads = 1}));
  SmallData data;
  check(loaded.scaleLearningRate(0.5));
  check(compiled.scaleLearningRate(0.5));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(train(compiled, data).loss, train(loaded, data).loss);
  Results a = check(compiled.predict({{"x", data.points()}})),
          b = check(loaded.predict({{"x", data.points()}}));
  EXPECT_EQ(check(a.read<float>("value:%logits")),
            check(b.read<float>("value:%logits")));
  EXPECT_EQ(messageOf(loaded.findNonFinite(
                {{"x", data.points()}, {"label", data.label}})),
            "a saved Program has no records of its ops: compile its module to "
            "find where values stop being finite");
  SmallData one(1);
  EXPECT_EQ(messageOf(loaded.predict({{"x", one.points()}})),
            "no saved Program holds a prediction of 1 rows, but of 6");
}

TEST(State, ASavedProgramContinuesWhatItsModuleBegan) {
  mp::test::TestFolder folder;
  std::string program = folder.path("step"), path = folder.path("state");
  Module module = check(Module::parse(kSmallModule));
  StepOptions options;
  options.batch = kRows;
  options.threads = 1;
  options.precision = Precision::FP16;
  options.clipNorm = 0.1;
  check(module.saveStep(program, options));
  Step compiled = check(module.compileStep(options)),
       loaded = check(Step::fromPrograms({program}, {.threads = 1}));
  SmallData data;
  train(compiled, data);
  check(compiled.save(path));
  check(loaded.load(path));
  EXPECT_EQ(train(compiled, data).loss, train(loaded, data).loss);
  check(loaded.save(path));
  check(compiled.load(path));
  options.clipNorm = 0.2;
  Step other = check(module.compileStep(options));
  EXPECT_NE(
      messageOf(other.load(path)).find("clip-norm '0.1' instead of '0.2'"),
      std::string::npos);
}

TEST(State, AProgramThatCannotBeWrittenIsAnError) {
  Module module = check(Module::parse(kSmallModule));
  StepOptions options;
  options.batch = kRows;
  EXPECT_EQ(messageOf(module.saveStep("/nonexistent/step", options)),
            "cannot write /nonexistent/step: No such file or directory");
  // A link, so that this device is safe from what fails here.
  mp::test::TestFolder folder;
  std::string full = folder.path("full");
  ASSERT_EQ(symlink("/dev/full", full.c_str()), 0);
  EXPECT_EQ(messageOf(module.saveStep(full, options)),
            "cannot write " + full + ": No space left on device");
}

TEST(State, ProgramsThatCannotRunAreErrors) {
  mp::test::TestFolder folder;
  Module module = check(Module::parse(kSmallModule));
  StepOptions options;
  options.batch = kRows;
  options.predictions = {"value:%logits"};
  check(module.savePrediction(folder.path("predict"), options));
  EXPECT_NE(messageOf(Step::fromPrograms({folder.path("predict")}))
                .find("holds no step to run"),
            std::string::npos);
  check(module.saveStep(folder.path("step"), options));
  std::string text = folder.read("step");
  std::string newer = text;
  newer.replace(newer.find("2"), 1, "9");
  std::string message =
      messageOf(Step::fromPrograms({folder.write("newer", newer)}));
  EXPECT_NE(message.find("version"), std::string::npos) << message << "\n"
                                                        << newer.substr(0, 40);
  std::string half = text.substr(0, text.size() / 2);
  EXPECT_NE(messageOf(Step::fromPrograms({folder.write("half", half)})), "");
  EXPECT_NE(messageOf(Step::fromPrograms({})), "");
}

TEST(State, InitializeBeginsAnew) {
  Step step = smallStep();
  auto first = check(step.read<float>("fc.weight"));
  train(step, SmallData());
  check(step.setLearningRate(3));
  check(step.initialize(0));
  EXPECT_EQ(check(step.read<float>("fc.weight")), first);
  EXPECT_EQ(step.steps(), 0);
  EXPECT_EQ(train(step, SmallData()).learningRate, 0.5);
}

} // namespace
