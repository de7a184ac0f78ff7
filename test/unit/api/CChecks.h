//===- CChecks.h - what the tests in C share ----------------------*- C -*-===//
//
// Compiled as strict C99. A check says how a call should end: its code, and a
// part of its message.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_UNIT_API_CCHECKS_H
#define MP_TEST_UNIT_API_CCHECKS_H

#include "mantissa-c.h"
#include <stdio.h>
#include <string.h>

static int failures = 0, checks = 0;

static void ended(int line, mantissa_status *status, mantissa_code code,
                  const char *part) {
  const char *message = mantissa_status_message(status);
  ++checks;
  if (mantissa_status_code(status) != code || !strstr(message, part)) {
    printf("line %d: expected code %d and '%s', got %d and '%s'\n", line,
           (int)code, part, (int)mantissa_status_code(status), message);
    ++failures;
  }
  mantissa_status_destroy(status);
}
static void is(int line, int condition, const char *text) {
  ++checks;
  if (condition)
    return;
  printf("line %d: %s\n", line, text);
  ++failures;
}
#define OK(call) ended(__LINE__, call, MANTISSA_OK, "")
#define INVALID(call, part)                                                    \
  ended(__LINE__, call, MANTISSA_INVALID_ARGUMENT, part)
#define FAILS(call, part) ended(__LINE__, call, MANTISSA_FAILED, part)
#define IS(condition) is(__LINE__, condition, #condition)

#endif // MP_TEST_UNIT_API_CCHECKS_H
