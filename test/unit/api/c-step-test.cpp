//===- c-step-test.cpp - C computes what C++ computes ---------------------===//
#include "TestFiles.h"
#include "api/SmallModule.h"
#include "mantissa-c.h"
#include <thread>

using namespace mantissa;
using namespace mantissa::test;

namespace {

/// Ends the test with the message of a failure.
void ok(mantissa_status *status) {
  ASSERT_EQ(status, nullptr) << mantissa_status_message(status);
}

/// Owns a handle.
template <typename Handle, void (*destroy)(Handle *)> struct Owned {
  Handle *handle = nullptr;
  Owned() = default;
  Owned(Owned &&other) : handle(std::exchange(other.handle, nullptr)) {}
  ~Owned() { destroy(handle); }
  operator Handle *() const { return handle; }
  Handle **operator&() { return &handle; }
};
using OwnedModule = Owned<mantissa_module, mantissa_module_destroy>;
using OwnedStep = Owned<mantissa_step, mantissa_step_destroy>;
using OwnedInfos = Owned<mantissa_infos, mantissa_infos_destroy>;

mantissa_step_options smallOptions() {
  mantissa_step_options options = MANTISSA_STEP_OPTIONS_INIT;
  static const char *const logits = "value:%logits";
  options.batch = kRows;
  options.threads = 1;
  options.predictions = &logits;
  options.prediction_count = 1;
  return options;
}

OwnedModule smallModule() {
  OwnedModule module;
  ok(mantissa_module_parse(kSmallModule, "small.mlir", &module));
  return module;
}

OwnedStep smallStepOfC(const mantissa_step_options &options = smallOptions()) {
  OwnedStep step;
  ok(mantissa_module_compile_step(smallModule(), &options, &step));
  return step;
}

struct Inputs {
  explicit Inputs(const SmallData &data) {
    int64_t rows = data.label.size();
    tensors[0] = {"x", MANTISSA_F32, 2, {rows, 4}, data.x.data(), nullptr};
    tensors[1] = {"label", MANTISSA_U8, 1, {rows}, data.label.data(), nullptr};
  }
  mantissa_tensor tensors[2];
};

mantissa_step_facts train(mantissa_step *step, const SmallData &data) {
  const mantissa_results *results = nullptr;
  mantissa_step_facts facts = MANTISSA_STEP_FACTS_INIT;
  ok(mantissa_step_run(step, Inputs(data).tensors, 2, &results));
  ok(mantissa_results_get_facts(results, &facts));
  return facts;
}

std::vector<float> weightOf(mantissa_step *step) {
  std::vector<float> weight(12);
  ok(mantissa_step_read(step, "fc.weight", MANTISSA_F32, weight.data(), 48));
  return weight;
}

TEST(CStep, FactsAndWeightsAreThoseOfCxx) {
  mantissa_step_options options = smallOptions();
  options.precision = MANTISSA_PRECISION_FP16;
  options.clip_norm = 1;
  OwnedStep step = smallStepOfC(options);
  Step expected = smallStep({.precision = Precision::FP16, .clipNorm = 1});
  SmallData data;
  data.x[3] = 1000; // its gradient overflows at the first scales
  for (int i = 0; i < 12; ++i) {
    mantissa_step_facts facts = train(step, data);
    StepResults results = train(expected, data);
    EXPECT_EQ(facts.step, results.step);
    EXPECT_EQ(facts.loss, results.loss);
    EXPECT_EQ(facts.loss_scale, results.lossScale);
    EXPECT_EQ(facts.skipped, results.skipped);
    EXPECT_EQ(facts.exhausted, results.exhausted);
    EXPECT_EQ(facts.learning_rate, results.learningRate);
    EXPECT_EQ(std::isfinite(facts.gradient_norm), !facts.skipped);
    if (!facts.skipped)
      EXPECT_EQ(facts.gradient_norm, results.gradientNorm);
  }
  EXPECT_GT(expected.skipped(), 0);
  EXPECT_LT(expected.skipped(), 12);
  EXPECT_EQ(weightOf(step), check(expected.read<float>("fc.weight")));
  mantissa_step_counters counters = MANTISSA_STEP_COUNTERS_INIT;
  ok(mantissa_step_get_counters(step, &counters));
  EXPECT_EQ(counters.steps, 12);
  EXPECT_EQ(counters.skipped, expected.skipped());
  EXPECT_EQ(counters.planned_bytes, expected.plannedBytes());
  EXPECT_STREQ(counters.device, "cpu");
}

TEST(CStep, ResultsByNameIndexAndType) {
  mantissa_step_options options = smallOptions();
  const char *const outputs[] = {"grad:fc.weight", "value:%logits"};
  options.outputs = outputs;
  options.output_count = 2;
  OwnedStep step = smallStepOfC(options);
  Step expected = smallStep({.outputs = {outputs[0], outputs[1]}});
  SmallData data;
  const mantissa_results *results = nullptr;
  ok(mantissa_step_run(step, Inputs(data).tensors, 2, &results));
  StepResults there = train(expected, data);
  size_t count = 0;
  ok(mantissa_results_count(results, &count));
  ASSERT_EQ(count, there.size());
  for (size_t i = 0; i < count; ++i) {
    mantissa_tensor tensor;
    ok(mantissa_results_get(results, i, &tensor));
    EXPECT_EQ(tensor.name, there.name(i));
    EXPECT_EQ(llvm::ArrayRef(tensor.shape, tensor.rank), there[i].shape());
    EXPECT_EQ(std::memcmp(tensor.data, there[i].data(), there[i].bytes()), 0);
  }
  mantissa_tensor gradient;
  ok(mantissa_results_find(results, "grad:fc.weight", &gradient));
  EXPECT_STREQ(gradient.name, "grad:fc.weight");
  EXPECT_EQ(gradient.shape[1], 4);
  const void *elements = nullptr;
  ok(mantissa_results_read(results, "grad:fc.weight", MANTISSA_F32, &elements,
                           &count));
  EXPECT_EQ(elements, gradient.data);
  EXPECT_EQ(count, 12u);
  std::vector<float> floats(12);
  ok(mantissa_results_floats(results, "grad:fc.weight", floats.data(), 12));
  EXPECT_EQ(floats, check(there.find("grad:fc.weight")).floats());
  double loss = 0;
  ok(mantissa_results_number(results, "loss", &loss));
  EXPECT_EQ(loss, there.loss);
}

TEST(CStep, Predicts) {
  OwnedStep step = smallStepOfC();
  Step expected = smallStep({.predictions = {"value:%logits"}});
  for (int64_t rows : {6, 1, 5}) {
    SmallData data(rows);
    const mantissa_results *results = nullptr;
    ok(mantissa_step_predict(step, Inputs(data).tensors, 1, &results));
    std::vector<float> logits(3 * rows);
    ok(mantissa_results_floats(results, "value:%logits", logits.data(),
                               logits.size()));
    Results there = check(expected.predict({{"x", data.points()}}));
    EXPECT_EQ(logits, check(there.read<float>("value:%logits")).vec());
  }
}

TEST(CStep, FindsWhereValuesStopBeingFinite) {
  mantissa_step_options options = smallOptions();
  options.precision = MANTISSA_PRECISION_FP16;
  OwnedStep step = smallStepOfC(options);
  Step expected = smallStep({.precision = Precision::FP16});
  SmallData data;
  for (float x : {1.0f, 1e5f}) {
    data.x[5] = x;
    char *origin = nullptr;
    ok(mantissa_step_find_non_finite(step, Inputs(data).tensors, 2, &origin));
    EXPECT_EQ(origin, check(expected.findNonFinite(
                          {{"x", data.points()}, {"label", data.label}})));
    EXPECT_EQ(std::string(origin).empty(), x == 1);
    mantissa_string_destroy(origin);
  }
}

TEST(CStep, ListsInputsAndVariables) {
  OwnedStep step = smallStepOfC();
  Step expected = smallStep({.predictions = {"value:%logits"}});
  auto compare = [](const mantissa_infos *infos,
                    const std::vector<TensorInfo> &there) {
    ASSERT_EQ(mantissa_infos_count(infos), there.size());
    for (size_t i = 0; i < there.size(); ++i) {
      const mantissa_info *info = mantissa_infos_get(infos, i);
      EXPECT_EQ(info->name, there[i].name);
      EXPECT_EQ(info->kind, there[i].kind);
      EXPECT_EQ(info->type_text, there[i].type.str());
      EXPECT_EQ(info->type.element, int(there[i].type.element));
      EXPECT_EQ(llvm::ArrayRef(info->type.shape, info->type.rank),
                llvm::ArrayRef(there[i].type.shape));
      EXPECT_EQ(info->type.elements, there[i].type.elements());
      EXPECT_EQ(info->type.bytes, there[i].type.bytes());
    }
    EXPECT_EQ(mantissa_infos_get(infos, there.size()), nullptr);
  };
  OwnedInfos inputs, ofPrediction, ofThree, variables;
  ok(mantissa_step_inputs(step, &inputs));
  compare(inputs, expected.inputs());
  ok(mantissa_step_predict_inputs(step, 0, &ofPrediction));
  compare(ofPrediction, check(expected.predictInputs()));
  ok(mantissa_step_predict_inputs(step, 3, &ofThree));
  compare(ofThree, check(expected.predictInputs(3)));
  ok(mantissa_step_variables(step, &variables));
  compare(variables, expected.variables());
  mantissa_type type;
  ok(mantissa_step_type_of(step, "fc.weight", &type));
  EXPECT_EQ(llvm::ArrayRef(type.shape, type.rank),
            (llvm::ArrayRef<int64_t>{3, 4}));
}

TEST(CStep, LearningRateIsSteered) {
  OwnedStep step = smallStepOfC();
  SmallData data;
  ok(mantissa_step_scale_learning_rate(step, 0.5));
  EXPECT_EQ(train(step, data).learning_rate, 0.25);
  ok(mantissa_step_set_learning_rate(step, 0.125));
  EXPECT_EQ(train(step, data).learning_rate, 0.125);
  ok(mantissa_step_reset_learning_rate(step));
  EXPECT_EQ(train(step, data).learning_rate, 0.5);
}

TEST(CStep, WritesAndInitializes) {
  OwnedStep step = smallStepOfC();
  std::vector<float> first = weightOf(step), other(12, 0.5f);
  mantissa_tensor tensor = {"fc.weight", MANTISSA_F32, 2,
                            {3, 4},      other.data(), nullptr};
  ok(mantissa_step_write(step, &tensor));
  EXPECT_EQ(weightOf(step), other);
  ok(mantissa_step_initialize(step, 0));
  EXPECT_EQ(weightOf(step), first);
}

TEST(CStep, SavesAndLoads) {
  mp::test::TestFolder folder;
  std::string path = folder.path("a.safetensors");
  SmallData data;
  OwnedStep whole = smallStepOfC(), second = smallStepOfC();
  train(whole, data);
  ok(mantissa_step_save(whole, path.c_str()));
  ok(mantissa_step_load(second, path.c_str()));
  EXPECT_EQ(train(whole, data).step, train(second, data).step);
  EXPECT_EQ(weightOf(whole), weightOf(second));
  ok(mantissa_step_load_weights(whole, path.c_str()));
  EXPECT_NE(weightOf(whole), weightOf(second));
}

TEST(CStep, SavedProgramsRun) {
  mp::test::TestFolder folder;
  OwnedModule module = smallModule();
  std::string first = folder.path("step"), second = folder.path("predict");
  mantissa_step_options options = smallOptions();
  ok(mantissa_module_save_step(module, first.c_str(), &options));
  ok(mantissa_module_save_prediction(module, second.c_str(), &options));
  const char *const paths[] = {first.c_str(), second.c_str()};
  mantissa_run_options run = MANTISSA_RUN_OPTIONS_INIT;
  run.threads = 1;
  run.seed = 4;
  OwnedStep loaded;
  ok(mantissa_step_load_programs(paths, 2, &run, &loaded));
  options.seed = 4;
  OwnedStep compiled = smallStepOfC(options);
  SmallData data;
  EXPECT_EQ(train(loaded, data).loss, train(compiled, data).loss);
  const mantissa_results *results = nullptr;
  ok(mantissa_step_predict(loaded, Inputs(data).tensors, 1, &results));
  EXPECT_NE(results, nullptr);
}

TEST(CModule, ExplainsAsCxxDoes) {
  OwnedModule module = smallModule();
  EXPECT_STREQ(mantissa_module_text(module), kSmallModule);
  EXPECT_STREQ(mantissa_module_name(module), "small.mlir");
  mantissa_step_options options = smallOptions();
  options.precision = MANTISSA_PRECISION_BF16;
  char *json = nullptr;
  ok(mantissa_module_explain(module, &options, &json));
  EXPECT_EQ(json, check(check(Module::parse(kSmallModule, "small.mlir"))
                            .explain({.batch = kRows,
                                      .precision = Precision::BF16,
                                      .predictions = {"value:%logits"}})));
  mantissa_string_destroy(json);
}

TEST(CStep, RefusesASecondThread) {
  OwnedStep step = smallStepOfC();
  SmallData data;
  std::atomic<int64_t> refused = 0, ran = 0;
  auto work = [&] {
    for (int i = 0; i < 20000 && !refused; ++i) {
      const mantissa_results *results = nullptr;
      mantissa_status *status =
          mantissa_step_run(step, Inputs(data).tensors, 2, &results);
      ++(status ? refused : ran);
      // The other thread may end these results at any moment.
      double loss;
      mantissa_status *read = mantissa_results_number(results, "loss", &loss);
      EXPECT_TRUE(!status || mantissa_status_code(status) == MANTISSA_BUSY);
      mantissa_status_destroy(status);
      mantissa_status_destroy(read);
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_GT(refused, 0);
  mantissa_step_counters counters = MANTISSA_STEP_COUNTERS_INIT;
  ok(mantissa_step_get_counters(step, &counters));
  EXPECT_EQ(counters.steps, ran);
}

} // namespace
