//===- Call.h - one call of the emulated libraries --------------*- C++ -*-===//
//
// Every exported function goes through `enter`: it takes the library's lock,
// logs the call and returns the error that the user asked for.
//
//===----------------------------------------------------------------------===//
#ifndef MP_EMULATOR_CALL_H
#define MP_EMULATOR_CALL_H

#include <mutex>
#include <string>

namespace mp::emulator {

/// printf into a string.
std::string format(const char *pattern, ...)
    __attribute__((format(printf, 1, 2)));

/// Returns the text of an environment variable as a number; `otherwise` if it
/// is unset (null) or not a number.
long long setting(const char *text, long long otherwise);

/// Returns an environment variable that is not a switch of the emulator; empty
/// if it is unset.
std::string environment(const char *name);

/// Appends a line to the file that MP_EMULATOR_LOG names, if it is set.
void log(const std::string &line);

/// The lock held while a call runs: calls are made one after the other.
std::recursive_mutex &lock();

/// Logs `name details` and counts the call. Returns the error that
/// MP_EMULATOR_FAIL selects for it, else 0. A version suffix (_v2) of `name` is
/// left out. The switches are read again whenever they change; that restarts
/// the count.
int enter(const char *name, const std::string &details = {});

} // namespace mp::emulator

#endif // MP_EMULATOR_CALL_H
