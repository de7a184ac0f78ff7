//===- MemoryPlan.h - whether a plan fits into this machine ---------------===//
#ifndef MP_RUNTIME_MEMORYPLAN_H
#define MP_RUNTIME_MEMORYPLAN_H

#include "program/Program.h"

namespace mp {

/// Bytes this process can hope for: physical memory, or less where a control
/// group or a limit of the process says so.
uint64_t usableMemory();

/// Fails where the program's hungriest entry point, its constants and
/// `variableBytes` take more than `usable` bytes together. The message says
/// what takes how much and names the largest values, with where they were
/// written.
llvm::Error checkFits(const Program &program, uint64_t variableBytes,
                      uint64_t usable);

} // namespace mp

#endif // MP_RUNTIME_MEMORYPLAN_H
