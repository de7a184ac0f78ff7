//===- mantissa-exceptions.h - errors as exceptions -------------*- C++ -*-===//
//
// For programs with exceptions: `check` returns the value of an llvm::Expected,
// or throws mantissa::Error with the whole message.
//
//===----------------------------------------------------------------------===//
#ifndef MANTISSA_EXCEPTIONS_H
#define MANTISSA_EXCEPTIONS_H

#include "mantissa.h"
#include <stdexcept>

namespace mantissa {

/// A failure of the library.
class Error : public std::runtime_error {
public:
  explicit Error(llvm::Error error)
      : std::runtime_error(llvm::toString(std::move(error))) {}
};

template <typename T> T check(llvm::Expected<T> value) {
  if (!value)
    throw Error(value.takeError());
  return std::move(*value);
}

inline void check(llvm::Error error) {
  if (error)
    throw Error(std::move(error));
}

} // namespace mantissa

#endif // MANTISSA_EXCEPTIONS_H
