//===- Sized.h - structures of callers of other versions --------*- C++ -*-===//
//
// A structure that begins with its size gets new fields at its end. The caller
// may have been compiled with fewer of them than the library has, or with more.
//
//===----------------------------------------------------------------------===//
#ifndef MP_API_C_SIZED_H
#define MP_API_C_SIZED_H

#include "api/c/Call.h"
#include <algorithm>
#include <cstring>

namespace mantissa::c {

/// The size of each structure in ABI 1, which no caller goes below.
template <typename Struct> inline constexpr size_t kFirstSize = 0;
template <> inline constexpr size_t kFirstSize<mantissa_step_options> = 192;
template <> inline constexpr size_t kFirstSize<mantissa_run_options> = 48;
template <> inline constexpr size_t kFirstSize<mantissa_step_facts> = 56;
template <> inline constexpr size_t kFirstSize<mantissa_step_counters> = 40;
template <> inline constexpr size_t kFirstSize<mantissa_sampling_options> = 72;
template <> inline constexpr size_t kFirstSize<mantissa_generator_facts> = 48;

/// A size beyond this is memory that nobody initialised.
inline constexpr size_t kMostBytes = 4096;

template <typename Struct>
llvm::Error checkSize(const char *name, size_t structSize) {
  // An older caller's structure must not end in bytes that are no field, or a
  // part of one.
  static_assert(sizeof(Struct) >= kFirstSize<Struct>);
  if (structSize >= kFirstSize<Struct> && structSize <= kMostBytes &&
      structSize % alignof(Struct) == 0)
    return llvm::Error::success();
  return argumentError("{0}->struct_size is {1}, expected {2}: begin with the "
                       "INIT macro of the structure",
                       name, structSize, sizeof(Struct));
}

/// Copies a caller's structure over the defaults of this version. Fails if it
/// sets a field that this library does not know.
template <typename Struct>
llvm::Error takeSized(const char *name, const Struct &given, Struct &taken) {
  if (auto error = checkSize<Struct>(name, given.struct_size))
    return error;
  const char *bytes = reinterpret_cast<const char *>(&given);
  for (size_t i = sizeof(Struct); i < given.struct_size; ++i)
    if (bytes[i])
      return argumentError("{0} sets a field at byte {1}, which this library, "
                           "version {2}, does not have",
                           name, i, mantissa_version());
  std::memcpy(&taken, bytes, std::min(sizeof(Struct), given.struct_size));
  return llvm::Error::success();
}

/// Copies to a caller's structure the fields that it knows.
template <typename Struct>
llvm::Error giveSized(const char *name, const Struct &value, Struct *given) {
  size_t size = given->struct_size;
  if (auto error = checkSize<Struct>(name, size))
    return error;
  std::memcpy(static_cast<void *>(given), &value,
              std::min(sizeof(Struct), size));
  given->struct_size = size;
  return llvm::Error::success();
}

/// Fills the part of a structure that its caller knows.
template <typename Struct>
llvm::Error initializeSized(const char *name, Struct first, Struct *given,
                            size_t structSize) {
  if (auto error = checkSize<Struct>(name, structSize))
    return error;
  std::memset(static_cast<void *>(given), 0, structSize);
  given->struct_size = structSize;
  return giveSized(name, first, given);
}

} // namespace mantissa::c

#endif // MP_API_C_SIZED_H
