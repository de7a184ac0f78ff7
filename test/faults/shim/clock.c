//===- clock.c - clocks that jump backwards -------------------------------===//
#include "Rules.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

/// Seconds to take away now: none in nine looks of ten.
static long jump(void) {
  static atomic_long looks;
  const char *seconds = getenv("FAULTS_CLOCK");
  return seconds && atomic_fetch_add(&looks, 1) % 10 == 9 ? atol(seconds) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int (*next)(clockid_t, struct timespec *) = original("clock_gettime");
  int code = next(clock, time);
  // Linux promises that this one never goes back.
  if (code == 0 && clock != CLOCK_MONOTONIC)
    time->tv_sec -= jump();
  return code;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  int (*next)(struct timeval *, void *) = original("gettimeofday");
  int code = next(time, zone);
  if (code == 0)
    time->tv_sec -= jump();
  return code;
}

time_t time(time_t *to) {
  time_t (*next)(time_t *) = original("time");
  time_t now = next(NULL) - jump();
  if (to)
    *to = now;
  return now;
}
