//===- MemoryPlan.h - checks that a plan fits into this machine -----------===//
#ifndef MP_RUNTIME_MEMORYPLAN_H
#define MP_RUNTIME_MEMORYPLAN_H

#include "program/Program.h"

namespace mp {

/// The bytes that this process may use: physical memory, or less if a control
/// group or a resource limit says so.
uint64_t usableMemory();

/// Fails if the arena of the program's largest entry point, its constants and
/// `variableBytes` exceed `usable` bytes together. The message says how much
/// each takes and names the largest values with their source locations.
llvm::Error checkFits(const Program &program, uint64_t variableBytes,
                      uint64_t usable);

} // namespace mp

#endif // MP_RUNTIME_MEMORYPLAN_H
