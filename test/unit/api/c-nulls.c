//===- c-nulls.c - null arguments are errors of C, not crashes ------------===//
#include "api/CStep.h"

static void nullHandlesAreDestroyed(void) {
  mantissa_status_destroy(NULL);
  mantissa_string_destroy(NULL);
  mantissa_infos_destroy(NULL);
  mantissa_module_destroy(NULL);
  mantissa_step_destroy(NULL);
  IS(mantissa_status_code(NULL) == MANTISSA_OK);
  IS(strcmp(mantissa_status_message(NULL), "") == 0);
  IS(mantissa_infos_count(NULL) == 0 && !mantissa_infos_get(NULL, 0));
  IS(!mantissa_module_text(NULL) && !mantissa_module_name(NULL));
}

static void nullModules(void) {
  mantissa_module *made = module;
  mantissa_step *compiled = step;
  char *json;
  INVALID(mantissa_module_parse(NULL, NULL, &made), "text is null");
  IS(!made);
  INVALID(mantissa_module_parse(kModule, NULL, NULL), "module is null");
  INVALID(mantissa_module_read(NULL, &made), "path is null");
  INVALID(mantissa_module_read("x", NULL), "module is null");
  INVALID(mantissa_module_compile_step(NULL, NULL, &compiled),
          "module is null");
  IS(!compiled);
  INVALID(mantissa_module_compile_step(module, NULL, NULL), "step is null");
  INVALID(mantissa_module_save_step(NULL, "x", NULL), "module is null");
  INVALID(mantissa_module_save_step(module, NULL, NULL), "path is null");
  INVALID(mantissa_module_save_prediction(NULL, "x", NULL), "module is null");
  INVALID(mantissa_module_save_prediction(module, NULL, NULL), "path is null");
  INVALID(mantissa_module_explain(NULL, NULL, &json), "module is null");
  INVALID(mantissa_module_explain(module, NULL, NULL), "json is null");
  INVALID(mantissa_step_options_init(NULL, 1), "options is null");
  INVALID(mantissa_run_options_init(NULL, 1), "options is null");
}

static void nullSteps(void) {
  const mantissa_results *results = NULL;
  mantissa_infos *infos;
  mantissa_type type;
  char *origin;
  mantissa_tensor x = pointsTensor();
  mantissa_step_counters counters = MANTISSA_STEP_COUNTERS_INIT;
  INVALID(mantissa_step_run(NULL, &x, 1, &results), "step is null");
  INVALID(mantissa_step_run(step, NULL, 2, NULL), "inputs is null, and 2");
  INVALID(mantissa_step_predict(NULL, &x, 1, &results), "step is null");
  INVALID(mantissa_step_predict(step, &x, 1, NULL), "results is null");
  INVALID(mantissa_step_predict(step, NULL, 1, &results), "inputs is null");
  INVALID(mantissa_step_find_non_finite(NULL, &x, 1, &origin), "step is null");
  INVALID(mantissa_step_find_non_finite(step, &x, 1, NULL), "origin is null");
  INVALID(mantissa_step_find_non_finite(step, NULL, 1, &origin),
          "inputs is null");
  INVALID(mantissa_step_inputs(NULL, &infos), "step is null");
  INVALID(mantissa_step_inputs(step, NULL), "inputs is null");
  INVALID(mantissa_step_predict_inputs(NULL, 0, &infos), "step is null");
  INVALID(mantissa_step_predict_inputs(step, 0, NULL), "inputs is null");
  INVALID(mantissa_step_set_learning_rate(NULL, 1), "step is null");
  INVALID(mantissa_step_scale_learning_rate(NULL, 1), "step is null");
  INVALID(mantissa_step_reset_learning_rate(NULL), "step is null");
  INVALID(mantissa_step_variables(NULL, &infos), "step is null");
  INVALID(mantissa_step_variables(step, NULL), "infos is null");
  INVALID(mantissa_step_type_of(NULL, "w", &type), "step is null");
  INVALID(mantissa_step_type_of(step, NULL, &type), "variable is null");
  INVALID(mantissa_step_type_of(step, "w", NULL), "type is null");
  INVALID(mantissa_step_read(NULL, "w", MANTISSA_F32, points, 48),
          "step is null");
  INVALID(mantissa_step_read(step, NULL, MANTISSA_F32, points, 48),
          "variable is null");
  INVALID(mantissa_step_read(step, "w", MANTISSA_F32, NULL, 48),
          "data is null");
  INVALID(mantissa_step_write(NULL, &x), "step is null");
  INVALID(mantissa_step_write(step, NULL), "tensor is null");
  INVALID(mantissa_step_initialize(NULL, 0), "step is null");
  INVALID(mantissa_step_save(NULL, "x"), "step is null");
  INVALID(mantissa_step_save(step, NULL), "path is null");
  INVALID(mantissa_step_load(NULL, "x"), "step is null");
  INVALID(mantissa_step_load(step, NULL), "path is null");
  INVALID(mantissa_step_load_weights(NULL, "x"), "step is null");
  INVALID(mantissa_step_load_weights(step, NULL), "path is null");
  INVALID(mantissa_step_get_counters(NULL, &counters), "step is null");
  INVALID(mantissa_step_get_counters(step, NULL), "counters is null");
}

static void nullResults(void) {
  const mantissa_results *results = runRight();
  mantissa_tensor tensor;
  mantissa_step_facts facts = MANTISSA_STEP_FACTS_INIT;
  size_t count;
  const void *data;
  double number;
  float loss;
  INVALID(mantissa_results_count(NULL, &count), "results is null");
  INVALID(mantissa_results_count(results, NULL), "count is null");
  INVALID(mantissa_results_get(NULL, 0, &tensor), "results is null");
  INVALID(mantissa_results_get(results, 0, NULL), "tensor is null");
  INVALID(mantissa_results_find(NULL, "loss", &tensor), "results is null");
  INVALID(mantissa_results_find(results, NULL, &tensor), "name is null");
  INVALID(mantissa_results_find(results, "loss", NULL), "tensor is null");
  INVALID(mantissa_results_read(NULL, "loss", MANTISSA_F32, &data, &count),
          "results is null");
  INVALID(mantissa_results_read(results, NULL, MANTISSA_F32, &data, &count),
          "name is null");
  INVALID(mantissa_results_read(results, "loss", MANTISSA_F32, NULL, &count),
          "data is null");
  INVALID(mantissa_results_read(results, "loss", MANTISSA_F32, &data, NULL),
          "count is null");
  INVALID(mantissa_results_floats(NULL, "loss", &loss, 1), "results is null");
  INVALID(mantissa_results_floats(results, NULL, &loss, 1), "name is null");
  INVALID(mantissa_results_floats(results, "loss", NULL, 1), "floats is null");
  INVALID(mantissa_results_number(NULL, "loss", &number), "results is null");
  INVALID(mantissa_results_number(results, NULL, &number), "name is null");
  INVALID(mantissa_results_number(results, "loss", NULL), "number is null");
  INVALID(mantissa_results_get_facts(NULL, &facts), "results is null");
  INVALID(mantissa_results_get_facts(results, NULL), "facts is null");
}

static void nullNames(void) {
  mantissa_precision precision;
  mantissa_scaler scaler;
  INVALID(mantissa_precision_parse(NULL, &precision), "name is null");
  INVALID(mantissa_precision_parse("bf16", NULL), "precision is null");
  INVALID(mantissa_scaler_parse(NULL, &scaler), "name is null");
  INVALID(mantissa_scaler_parse("torch", NULL), "scaler is null");
}

int main(void) {
  static void (*const groups[])(void) = {nullHandlesAreDestroyed, nullModules,
                                         nullSteps, nullResults, nullNames};
  return runGroups(groups, sizeof groups / sizeof *groups);
}
