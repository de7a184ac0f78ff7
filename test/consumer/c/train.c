//===- train.c - trains the example network from C ------------------------===//
//
// train mlp.mlir FOLDER
//
// Trains on generated pictures, predicts, saves and loads, writes Programs for
// resume.c into the folder, and prints the errors of some mistakes.
//
//===----------------------------------------------------------------------===//
#include "pictures.h"
#include <mantissa-c.h>
#include <stdio.h>
#include <stdlib.h>

/// Ends the program with the message of a failure.
static void check(mantissa_status *status) {
  if (!status)
    return;
  fprintf(stderr, "train: %s\n", mantissa_status_message(status));
  exit(1);
}

/// Prints the message of a mistake.
static void mistake(mantissa_status *status) {
  printf("error %d: %s\n", (int)mantissa_status_code(status),
         mantissa_status_message(status));
  mantissa_status_destroy(status);
}

static const mantissa_tensor inputs[] = {
    {"image", MANTISSA_U8, 3, {BATCH, SIDE, SIDE}, image, NULL},
    {"label", MANTISSA_U8, 1, {BATCH}, label, NULL}};

/// What the step predicts: a value of the module's function.
static const char *const kLogits = "value:%logits";

static mantissa_step_facts train(mantissa_step *step, uint32_t *state) {
  const mantissa_results *results;
  mantissa_step_facts facts = MANTISSA_STEP_FACTS_INIT;
  draw(state);
  check(mantissa_step_run(step, inputs, 2, &results));
  check(mantissa_results_get_facts(results, &facts));
  return facts;
}

/// The share of a new batch that is recognised.
static double accuracy(mantissa_step *step, uint32_t *state) {
  const mantissa_results *results;
  const void *data;
  const float *logits;
  size_t count;
  int i, k, right = 0;
  draw(state);
  check(mantissa_step_predict(step, inputs, 1, &results));
  check(mantissa_results_read(results, kLogits, MANTISSA_F32, &data, &count));
  logits = (const float *)data;
  for (i = 0; i < BATCH; ++i, logits += CLASSES) {
    int best = 0;
    for (k = 1; k < CLASSES; ++k)
      best = logits[k] > logits[best] ? k : best;
    right += best == label[i];
  }
  return (double)right / BATCH;
}

static void makeMistakes(const mantissa_module *module, mantissa_step *step) {
  mantissa_step_options options = MANTISSA_STEP_OPTIONS_INIT;
  mantissa_step *none;
  mantissa_tensor wrong[2];
  memcpy(wrong, inputs, sizeof wrong);
  wrong[0].element = MANTISSA_F32;
  mistake(mantissa_step_run(step, wrong, 2, NULL));
  wrong[0] = inputs[0], wrong[0].shape[0] = 64;
  mistake(mantissa_step_run(step, wrong, 2, NULL));
  wrong[0] = inputs[0], wrong[0].name = "picture";
  mistake(mantissa_step_run(step, wrong, 2, NULL));
  wrong[0] = inputs[0], wrong[0].data = NULL;
  mistake(mantissa_step_run(step, wrong, 2, NULL));
  mistake(mantissa_step_run(NULL, inputs, 2, NULL));
  options.precision = 77;
  mistake(mantissa_module_compile_step(module, &options, &none));
  mistake(mantissa_step_set_learning_rate(step, -1));
  mistake(mantissa_step_load(step, "nothing.safetensors"));
}

int main(int argc, char **argv) {
  mantissa_module *module;
  mantissa_step *step, *second;
  mantissa_step_options options = MANTISSA_STEP_OPTIONS_INIT;
  mantissa_step_counters counters = MANTISSA_STEP_COUNTERS_INIT;
  mantissa_step_facts facts = MANTISSA_STEP_FACTS_INIT;
  uint32_t state = 1;
  int i;
  if (argc != 3)
    return fprintf(stderr, "usage: train FILE.mlir FOLDER\n"), 2;
  check(mantissa_module_read(argv[1], &module));
  options.batch = BATCH;
  options.precision = MANTISSA_PRECISION_BF16;
  options.total_steps = 60;
  options.predictions = &kLogits;
  options.prediction_count = 1;
  check(mantissa_module_compile_step(module, &options, &step));
  check(mantissa_module_compile_step(module, &options, &second));
  check(mantissa_module_save_step(module, argv[2], &options));

  for (i = 0; i < 40; ++i) {
    facts = train(step, &state);
    if (i == 0 || i == 39)
      printf("step %d loss %.4f\n", (int)facts.step, facts.loss);
  }
  check(mantissa_step_scale_learning_rate(step, 0.5));
  printf("learning rate %.4g, then %.4g\n", facts.learning_rate,
         train(step, &state).learning_rate);
  printf("accuracy %.2f\n", accuracy(step, &state));

  check(mantissa_step_save(step, "state.safetensors"));
  check(mantissa_step_load(second, "state.safetensors"));
  {
    uint32_t same = state;
    facts = train(step, &state);
    printf("continued: %s\n", facts.loss == train(second, &same).loss
                                  ? "the same bits"
                                  : "other bits");
  }
  makeMistakes(module, step);
  check(mantissa_step_get_counters(step, &counters));
  printf("%d steps, %d skipped, on %s\n", (int)counters.steps,
         (int)counters.skipped, counters.device);
  mantissa_step_destroy(second);
  mantissa_step_destroy(step);
  mantissa_module_destroy(module);
  return 0;
}
