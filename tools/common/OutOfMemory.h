//===- OutOfMemory.h - an error where there is no memory left ---*- C++ -*-===//
#ifndef MP_TOOLS_COMMON_OUTOFMEMORY_H
#define MP_TOOLS_COMMON_OUTOFMEMORY_H

namespace mp::tool {

/// Makes an allocation that fails, on any thread and in any library, an error
/// of one line that names the limit, and ends the process with 1. Without
/// exceptions, nothing could go on from there.
void reportOutOfMemory();

/// Prints that error and ends the process.
[[noreturn]] void exitOutOfMemory();

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_OUTOFMEMORY_H
