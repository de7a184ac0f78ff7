//===- resume.c - trains on with the runtime alone ------------------------===//
//
// resume PROGRAM CHECKPOINT
//
// Runs the Program that train.c has compiled, from its weights.
//
//===----------------------------------------------------------------------===//
#include "pictures.h"
#include <mantissa-c.h>
#include <stdio.h>

static int train(mantissa_step *step) {
  const mantissa_tensor inputs[] = {
      {"image", MANTISSA_U8, 3, {BATCH, SIDE, SIDE}, image, NULL},
      {"label", MANTISSA_U8, 1, {BATCH}, label, NULL}};
  const mantissa_results *results;
  mantissa_status *status;
  double loss = 0;
  uint32_t state = 77;
  draw(&state);
  status = mantissa_step_run(step, inputs, 2, &results);
  if (!status)
    status = mantissa_results_number(results, "loss", &loss);
  printf("%s loss %.4f\n", mantissa_status_message(status), loss);
  mantissa_status_destroy(status);
  return loss > 0 && loss < 1;
}

int main(int argc, char **argv) {
  mantissa_step *step = NULL;
  mantissa_status *status;
  int isTrained = 0;
  if (argc != 3)
    return fprintf(stderr, "usage: resume PROGRAM CHECKPOINT\n"), 2;
  status = mantissa_step_load_programs((const char *const *)&argv[1], 1, NULL,
                                       &step);
  if (!status)
    status = mantissa_step_load_weights(step, argv[2]);
  if (!status)
    isTrained = train(step);
  else
    fprintf(stderr, "resume: %s\n", mantissa_status_message(status));
  mantissa_status_destroy(status);
  mantissa_step_destroy(step);
  return !isTrained;
}
