//===- MemoryPlan.h - checks that a plan fits into this machine -----------===//
#ifndef MP_RUNTIME_MEMORYPLAN_H
#define MP_RUNTIME_MEMORYPLAN_H

#include "program/Program.h"

namespace mp {

/// The bytes that can be used, and why it is not more: "this machine has 24.0
/// GiB".
struct UsableMemory {
  uint64_t bytes;
  std::string reason;
};

/// Returns what this process can use: physical memory, or less if a control
/// group or a limit of the process restricts it. A limit of the process also
/// counts what it has mapped so far, of which the `held` bytes are for the
/// caller's use.
UsableMemory usableMemory(uint64_t held = 0);

/// Fails if the variables, of `variableBytes`, and all else that the Program
/// plans for a device or for `workers` of the CPU take more than what is usable
/// together. The error has the table of the plan, and names the largest values
/// with their locations.
llvm::Error checkFits(const Program &program, uint64_t variableBytes,
                      unsigned workers, const UsableMemory &usable);

} // namespace mp

#endif // MP_RUNTIME_MEMORYPLAN_H
