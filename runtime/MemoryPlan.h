//===- MemoryPlan.h - checks that a plan fits into this machine -----------===//
#ifndef MP_RUNTIME_MEMORYPLAN_H
#define MP_RUNTIME_MEMORYPLAN_H

#include "program/Program.h"

namespace mp {

/// Returns the bytes that this process can use: physical memory, or less if a
/// control group or a limit of the process restricts it.
uint64_t usableMemory();

/// Fails if the entry point that needs most memory, the constants and
/// `variableBytes` take more than `usable` bytes together. The error says what
/// takes how much and names the largest values with their locations.
llvm::Error checkFits(const Program &program, uint64_t variableBytes,
                      uint64_t usable);

} // namespace mp

#endif // MP_RUNTIME_MEMORYPLAN_H
