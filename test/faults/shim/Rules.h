//===- Rules.h - which calls of the system fail, and how ------------------===//
//
// FAULTS_MATCH=PATTERN   only calls on paths that match, as in a shell
// FAULTS_LOG=FILE        appends "CALL PATH" for each of them
// FAULTS_FAIL=CALL:N:HOW the N-th one (0: each) fails with an errno by name, or
//                        is "short" (half of the bytes) or, one time in two,
//                        "EINTR"; "@12" is the 12th of all calls, whatever its
//                        name, and "kill" ends the process there
// FAULTS_ROOM=BYTES      no more than these can be written: then ENOSPC
// FAULTS_CLOCK=SECONDS   every tenth look at a clock is that much earlier
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_FAULTS_SHIM_RULES_H
#define MP_TEST_FAULTS_SHIM_RULES_H

#include <stddef.h>

/// What becomes of a call.
enum Outcome { Passes, Fails, IsShort };

/// Counts and logs the call, and returns its outcome; Fails sets errno.
enum Outcome judge(const char *call, const char *path);
/// The same for a descriptor.
enum Outcome judgeFile(const char *call, int descriptor);
/// How many of the bytes fit onto the disk; fewer than asked is ENOSPC once it
/// is 0. Only a file that matches fills it.
size_t roomFor(int descriptor, size_t bytes);

/// The C library's function of the name.
void *original(const char *name);

#endif // MP_TEST_FAULTS_SHIM_RULES_H
