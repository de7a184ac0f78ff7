//===- c-mistakes.c - mistakes of a C program are errors, not crashes -----===//
#include "api/CStep.h"

static void version(void) {
  IS(strcmp(mantissa_version(), MANTISSA_VERSION) == 0);
  IS(mantissa_abi_version() == MANTISSA_ABI_VERSION);
}

static void names(void) {
  mantissa_precision precision = MANTISSA_PRECISION_O3;
  mantissa_scaler scaler = MANTISSA_SCALER_STATIC;
  FAILS(mantissa_precision_parse("bf61", &precision), "did you mean 'bf16'?");
  FAILS(mantissa_scaler_parse("troch", &scaler), "did you mean 'torch'?");
  IS(precision == MANTISSA_PRECISION_O3 && scaler == MANTISSA_SCALER_STATIC);
  IS(!mantissa_element_name(-1) && !mantissa_element_name(14));
  IS(!mantissa_element_size(-1) && !mantissa_element_size(14));
  IS(!mantissa_precision_name(-1) && !mantissa_precision_name(14));
  IS(!mantissa_scaler_name(-1) && !mantissa_scaler_name(13));
}

/// A run with another `x`.
static mantissa_status *runWith(mantissa_tensor x) {
  mantissa_tensor inputs[2];
  inputs[0] = x;
  inputs[1] = labelsTensor();
  return mantissa_step_run(step, inputs, 2, NULL);
}

static void views(void) {
  static const int64_t columns[] = {1, 6}, backwards[] = {-4, 1},
                       huge[] = {INT64_MAX, INT64_MIN};
  mantissa_tensor x = pointsTensor();
  x.name = NULL;
  INVALID(runWith(x), "inputs[0].name is null");
  x = pointsTensor(), x.name = "y";
  FAILS(runWith(x), "there is no input 'y' (known: 'x', 'label')");
  x = pointsTensor(), x.name = "label";
  FAILS(runWith(x), "'label' is given twice");
  x = pointsTensor(), x.element = 99;
  INVALID(runWith(x), "inputs[0].element is 99, expected a value from 0 to 13");
  x = pointsTensor(), x.element = -1;
  INVALID(runWith(x), "inputs[0].element is -1");
  x = pointsTensor(), x.element = MANTISSA_F64;
  FAILS(runWith(x), "'x' is 6x4xf64, expected 6x4xf32");
  x = pointsTensor(), x.rank = 9;
  INVALID(runWith(x), "inputs[0].rank of 'x' is 9, expected 0 to 8");
  x = pointsTensor(), x.rank = -1;
  INVALID(runWith(x), "inputs[0].rank of 'x' is -1");
  x = pointsTensor(), x.rank = 0;
  FAILS(runWith(x), "'x' is f32, expected 6x4xf32");
  x = pointsTensor(), x.shape[0] = -6, x.shape[1] = INT64_MAX;
  FAILS(runWith(x), "'x' is -6x9223372036854775807xf32, expected 6x4xf32");
  x.strides = huge;
  FAILS(runWith(x), "'x' is -6x9223372036854775807xf32, expected 6x4xf32");
  x = pointsTensor(), x.data = NULL;
  FAILS(runWith(x), "its address is null");
  x = pointsTensor(), x.data = (const char *)points + 1;
  FAILS(runWith(x), "is not aligned to the 4 bytes of an element");
  x = pointsTensor(), x.strides = columns;
  FAILS(runWith(x), "the strides of the view of 6x4xf32 are [1, 6] elements");
  x.strides = backwards;
  FAILS(runWith(x), "are [-4, 1] elements, expected dense rows");
  labels[3] = 3;
  FAILS(runWith(pointsTensor()), "'label' has an element out of range at 3");
  labels[3] = 0;
}

static void numbersOfTensors(void) {
  const mantissa_results *results = runRight();
  mantissa_tensor inputs[3];
  inputs[0] = pointsTensor();
  inputs[1] = labelsTensor();
  inputs[2] = labelsTensor();
  FAILS(mantissa_step_run(step, inputs, 1, &results), "'label' of 6xui8 is");
  IS(!results);
  FAILS(mantissa_step_run(step, inputs, 3, NULL), "'label' is given twice");
  FAILS(mantissa_step_run(step, NULL, 0, NULL), "input 'x' of 6x4xf32 is");
  INVALID(mantissa_step_run(step, inputs, (size_t)-1, NULL),
          "inputs: 18446744073709551615 tensors are more than 65536");
  FAILS(mantissa_step_predict(step, inputs + 1, 1, &results),
        "there is no input 'label' (known: 'x')");
  IS(!results);
}

static void wrongResults(void) {
  const mantissa_results *results = runRight();
  mantissa_tensor tensor;
  const void *data;
  size_t count;
  double number = 7;
  float floats[2];
  INVALID(mantissa_results_get(results, 99, &tensor), "no result 99");
  INVALID(mantissa_results_get(results, (size_t)-1, &tensor), "no result 1844");
  FAILS(mantissa_results_find(results, "los", &tensor), "did you mean 'loss'");
  FAILS(mantissa_results_number(results, "los", &number), "'step' has no");
  IS(number == 7);
  FAILS(mantissa_results_read(results, "loss", MANTISSA_F64, &data, &count),
        "'loss' is f32, and was asked for as f64");
  INVALID(mantissa_results_read(results, "loss", 14, &data, &count),
          "element is 14, expected a value from 0 to 13");
  FAILS(mantissa_results_floats(results, "loss", floats, 2),
        "'loss' is f32, and there is memory for 2 elements");
}

static void staleResults(void) {
  const mantissa_results *results = runRight(), *predicted;
  mantissa_tensor x = pointsTensor(), w = {"w", MANTISSA_F32, 2, {3, 4}, 0, 0};
  mantissa_step_facts facts = MANTISSA_STEP_FACTS_INIT;
  mantissa_infos *infos;
  double loss;
  w.data = points;
  OK(mantissa_step_set_learning_rate(step, 0.5));
  OK(mantissa_results_number(results, "loss", &loss)); // still there
  OK(mantissa_step_predict(step, &x, 1, &predicted));
  INVALID(mantissa_results_number(results, "loss", &loss), "results are gone");
  INVALID(mantissa_results_get_facts(predicted, &facts), "of a prediction");
  results = runRight();
  INVALID(mantissa_results_get(predicted, 0, &x), "results are gone");
  FAILS(mantissa_step_run(step, NULL, 0, NULL), "is missing");
  INVALID(mantissa_results_get(results, 0, &x), "results are gone");
  results = runRight();
  OK(mantissa_step_write(step, &w));
  INVALID(mantissa_results_get(results, 0, &x), "results are gone");
  results = runRight();
  OK(mantissa_step_initialize(step, 1));
  INVALID(mantissa_results_get(results, 0, &x), "results are gone");
  results = runRight();
  OK(mantissa_step_predict_inputs(step, 5, &infos));
  mantissa_infos_destroy(infos);
  INVALID(mantissa_results_get(results, 0, &x), "results are gone");
  results = runRight();
  FAILS(mantissa_step_load(step, "/nowhere"), "/nowhere");
  INVALID(mantissa_results_get(results, 0, &x), "results are gone");
}

/// What is wrong with the options of a step.
static mantissa_status *compileWith(const mantissa_step_options *options) {
  mantissa_step *made = step;
  mantissa_status *status =
      mantissa_module_compile_step(module, options, &made);
  IS(!made);
  return status;
}

static void sizes(void) {
  struct {
    mantissa_step_options known;
    int64_t later;
  } newer = {MANTISSA_STEP_OPTIONS_INIT, 0};
  mantissa_step_options options = usualOptions();
  mantissa_step_facts facts = MANTISSA_STEP_FACTS_INIT;
  mantissa_step_counters counters = MANTISSA_STEP_COUNTERS_INIT;
  mantissa_run_options run = MANTISSA_RUN_OPTIONS_INIT;
  mantissa_step *made;
  const char *path = "/nowhere";
  options.struct_size = 0;
  INVALID(compileWith(&options), "options->struct_size is 0, expected 200");
  options.struct_size = sizeof options - 1;
  INVALID(compileWith(&options), "options->struct_size is 199");
  options.struct_size = (size_t)-1;
  INVALID(compileWith(&options), "options->struct_size is 1844674407370955161");
  newer.known = usualOptions();
  newer.known.struct_size = sizeof newer;
  newer.later = 1;
  INVALID(compileWith(&newer.known), "sets a field at byte 200");
  newer.later = 0;
  OK(mantissa_module_compile_step(module, &newer.known, &made));
  mantissa_step_destroy(made);
  INVALID(mantissa_step_options_init(&options, 8), "struct_size is 8");
  OK(mantissa_step_options_init(&newer.known, sizeof newer));
  IS(newer.known.struct_size == sizeof newer && newer.known.static_scale == 1);
  facts.struct_size = 4;
  INVALID(mantissa_results_get_facts(runRight(), &facts), "struct_size is 4");
  counters.struct_size = 4;
  INVALID(mantissa_step_get_counters(step, &counters), "struct_size is 4");
  run.struct_size = 4;
  INVALID(mantissa_step_load_programs(&path, 1, &run, &made), "is 4");
}

static void options(void) {
  mantissa_step_options options = usualOptions();
  const char *none = NULL;
  options.precision = 14;
  INVALID(compileWith(&options), "options->precision is 14, expected a value");
  options = usualOptions(), options.precision = -1;
  INVALID(compileWith(&options), "options->precision is -1");
  options = usualOptions(), options.scaler = INT32_MAX;
  INVALID(compileWith(&options), "options->scaler is 2147483647");
  options = usualOptions(), options.device = 2;
  INVALID(compileWith(&options), "options->device is 2, expected -1, 0 or 1");
  options = usualOptions(), options.reserved = 1;
  INVALID(compileWith(&options), "options->reserved is 1");
  options = usualOptions(), options.outputs = NULL, options.output_count = 2;
  INVALID(compileWith(&options), "options->outputs is null, and 2");
  options.outputs = &none, options.output_count = 1;
  INVALID(compileWith(&options), "options->outputs[0] is null");
  options.output_count = (size_t)-1;
  INVALID(compileWith(&options), "options->outputs: 18446744073709551615");
  options = usualOptions(), options.plugins = &none, options.plugin_count = 1;
  INVALID(compileWith(&options), "options->plugins[0] is null");
  options = usualOptions(), options.batch = -1;
  FAILS(compileWith(&options), "batch is -1, expected a number from 0 to");
  options = usualOptions(), options.recipe = "stop";
  FAILS(compileWith(&options), "no recipe (mp.train) \"stop\"");
  options = usualOptions(), options.device = MANTISSA_DEVICE_CUDA;
  options.device_index = -1;
  FAILS(compileWith(&options), "cuda:-1");
  FAILS(mantissa_module_save_step(module, "/nowhere/x", NULL), "");
}

static void modulesAndFiles(void) {
  mantissa_module *made = module;
  mantissa_step *loaded = step;
  const char *path = "/nowhere", *none = NULL;
  FAILS(mantissa_module_parse("module {", "a.mlir", &made),
        "a.mlir:1:7: error");
  IS(!made);
  FAILS(mantissa_module_parse("x", NULL, &made), "<module>:1:1: error");
  FAILS(mantissa_module_read("/nowhere/b.mlir", &made), "/nowhere/b.mlir");
  INVALID(mantissa_step_load_programs(NULL, 1, NULL, &loaded), "paths is null");
  IS(!loaded);
  INVALID(mantissa_step_load_programs(&path, 1, NULL, NULL), "step is null");
  INVALID(mantissa_step_load_programs(&none, 1, NULL, &loaded), "paths[0] is");
  FAILS(mantissa_step_load_programs(NULL, 0, NULL, &loaded), "holds no step");
  FAILS(mantissa_step_load_programs(&path, 1, NULL, &loaded), "/nowhere");
  FAILS(mantissa_step_save(step, "/nowhere/x"), "/nowhere/x");
  FAILS(mantissa_step_load_weights(step, "/nowhere"), "/nowhere");
}

static void variables(void) {
  mantissa_tensor w = {"w", MANTISSA_F32, 2, {3, 4}, NULL, NULL};
  mantissa_type type;
  double wide[12];
  FAILS(mantissa_step_type_of(step, "v", &type), "no variable 'v'");
  FAILS(mantissa_step_read(step, "v", MANTISSA_F32, points, 48), "'v'");
  FAILS(mantissa_step_read(step, "w", MANTISSA_F64, wide, 96),
        "is 3x4xf32, and was asked for as f64");
  INVALID(mantissa_step_read(step, "w", 1000, wide, 96), "element is 1000");
  FAILS(mantissa_step_read(step, "w", MANTISSA_F32, points, 44),
        "takes 48 bytes; the memory for it has 44");
  FAILS(mantissa_step_write(step, &w), "its address is null");
  w.data = points, w.shape[0] = 4;
  FAILS(mantissa_step_write(step, &w), "'w' is 4x4xf32, expected 3x4xf32");
  w.name = NULL;
  INVALID(mantissa_step_write(step, &w), "tensor.name is null");
  w = pointsTensor();
  FAILS(mantissa_step_write(step, &w), "no variable 'x'");
  FAILS(mantissa_step_set_learning_rate(step, -1), "learning rate is -1");
  FAILS(mantissa_step_scale_learning_rate(step, 1e300), "the factor of the");
}

static void countNote(void *data, const char *line) {
  *(int *)data += strstr(line, "100000 threads") != NULL;
}

static void notes(void) {
  mantissa_step_options options = usualOptions();
  mantissa_step *made;
  int count = 0;
  options.threads = 100000;
  options.on_note = countNote;
  options.note_data = &count;
  OK(mantissa_module_compile_step(module, &options, &made));
  IS(count == 1);
  mantissa_step_destroy(made);
}

int main(void) {
  static void (*const groups[])(void) = {
      version,         names,        views, numbersOfTensors,
      wrongResults,    staleResults, sizes, options,
      modulesAndFiles, variables,    notes};
  return runGroups(groups, sizeof groups / sizeof *groups);
}
