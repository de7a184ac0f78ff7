//===- CStep.h - a step to make mistakes with, in C ---------------*- C -*-===//
#ifndef MP_TEST_UNIT_API_CSTEP_H
#define MP_TEST_UNIT_API_CSTEP_H

#include "api/CChecks.h"

static const char *const kModule =
    "module @small {\n"
    "  mp.variable @w : tensor<3x4xf32> = #mp.init<kaiming_uniform>\n"
    "  func.func @loss(%x: tensor<?x4xf32> {mp.name = \"x\"},\n"
    "                  %label: tensor<?xui8> {mp.name = \"label\"})\n"
    "      -> (tensor<f32> {mp.name = \"loss\"}) {\n"
    "    %w = mp.read @w : tensor<3x4xf32>\n"
    "    %logits = mp.linear %x, %w : tensor<?x4xf32>, tensor<3x4xf32>\n"
    "    %loss = mp.cross_entropy %logits, %label\n"
    "        : tensor<?x3xf32>, tensor<?xui8>\n"
    "    return %loss : tensor<f32>\n"
    "  }\n"
    "  mp.train @step of @loss {\n"
    "    mp.minimize result(0) {params = [\"*\"],\n"
    "                           optimizer = #mp.sgd<lr = 0.5>}\n"
    "  }\n"
    "}\n";
static const char *const kLogits = "value:%logits";

static mantissa_module *module;
static mantissa_step *step;
static float points[25] = {1, 2, 3, 4, 5, 6, 7, 8};
static unsigned char labels[6] = {0, 1, 2, 0, 1, 2};

static mantissa_tensor pointsTensor(void) {
  mantissa_tensor x = {"x", MANTISSA_F32, 2, {6, 4}, NULL, NULL};
  x.data = points;
  return x;
}
static mantissa_tensor labelsTensor(void) {
  mantissa_tensor label = {"label", MANTISSA_U8, 1, {6}, NULL, NULL};
  label.data = labels;
  return label;
}
static mantissa_step_options usualOptions(void) {
  mantissa_step_options options = MANTISSA_STEP_OPTIONS_INIT;
  options.batch = 6;
  options.threads = 1;
  options.predictions = &kLogits;
  options.prediction_count = 1;
  return options;
}

/// A run without a mistake.
static const mantissa_results *runRight(void) {
  mantissa_tensor inputs[2];
  const mantissa_results *results;
  inputs[0] = pointsTensor();
  inputs[1] = labelsTensor();
  OK(mantissa_step_run(step, inputs, 2, &results));
  return results;
}

/// Runs groups of checks on a step, which has to run after each of them.
static int runGroups(void (*const *groups)(void), size_t count) {
  mantissa_step_options usual = usualOptions();
  size_t i;
  OK(mantissa_module_parse(kModule, "small", &module));
  OK(mantissa_module_compile_step(module, &usual, &step));
  for (i = 0; i < count; ++i) {
    groups[i]();
    runRight();
  }
  mantissa_step_destroy(step);
  mantissa_module_destroy(module);
  printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}

#endif // MP_TEST_UNIT_API_CSTEP_H
