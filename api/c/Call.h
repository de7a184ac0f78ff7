//===- Call.h - calls from C and their status -------------------*- C++ -*-===//
//
// A function of mantissa-c.h is a call of the C++ interface: what is here looks
// at its pointers, and makes a status of its error.
//
//===----------------------------------------------------------------------===//
#ifndef MP_API_C_CALL_H
#define MP_API_C_CALL_H

#include "mantissa-c.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include <initializer_list>
#include <string>
#include <vector>

namespace mantissa::c {

/// An error with a code; any other one has MANTISSA_FAILED.
llvm::Error codedError(mantissa_code code, std::string message);

/// An argument that breaks a rule of the header.
template <typename... Ts>
llvm::Error argumentError(const char *format, Ts &&...values) {
  return codedError(MANTISSA_INVALID_ARGUMENT,
                    llvm::formatv(format, std::forward<Ts>(values)...).str());
}

/// Null for success.
mantissa_status *statusOf(llvm::Error error);

/// An argument that has to be there.
struct Needed {
  const char *name;
  const void *pointer;
};

/// Runs the body of a function if no argument is null that has to be there.
mantissa_status *call(std::initializer_list<Needed> needed,
                      llvm::function_ref<llvm::Error()> body);

/// Makes what an Expected holds a handle of the caller's.
template <typename Handle, typename T>
llvm::Error make(llvm::Expected<T> value, Handle **made) {
  if (!value)
    return value.takeError();
  *made = new Handle{std::move(*value)};
  return llvm::Error::success();
}

/// The length of a list that nothing real has: a caller's -1 is one.
inline constexpr size_t kMostElements = 1 << 16;

/// Copies a list of strings; errors call it `name`.
llvm::Error takeStrings(const char *name, const char *const *strings,
                        size_t count, std::vector<std::string> &taken);

inline std::string textOf(const char *string) { return string ? string : ""; }
/// A string that mantissa_string_destroy frees.
char *newString(llvm::StringRef string);

} // namespace mantissa::c

#endif // MP_API_C_CALL_H
