//===- pictures.h - generated pictures of ten classes -------------*- C -*-===//
#ifndef PICTURES_H
#define PICTURES_H

#include <stdint.h>
#include <string.h>

enum { BATCH = 128, SIDE = 28, CLASSES = 10 };

static uint8_t image[BATCH][SIDE][SIDE];
static uint8_t label[BATCH];

/// Fills a batch: a class is a bright bar at its height, in noise.
static void draw(uint32_t *state) {
  int i, k;
  for (i = 0; i < BATCH; ++i) {
    *state = *state * 1664525u + 1013904223u;
    label[i] = (uint8_t)((*state >> 16) % CLASSES);
    for (k = 0; k < SIDE * SIDE; ++k) {
      *state = *state * 1664525u + 1013904223u;
      image[i][k / SIDE][k % SIDE] = (uint8_t)(*state >> 25);
    }
    memset(image[i][2 * label[i] + 4], 255, SIDE);
  }
}

#endif // PICTURES_H
