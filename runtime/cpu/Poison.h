//===- Poison.h - fills memory with NaN before it is written --------------===//
#ifndef MP_RUNTIME_CPU_POISON_H
#define MP_RUNTIME_CPU_POISON_H

#include "program/Program.h"
#include "llvm/ADT/ArrayRef.h"

namespace mp {

/// The value of poisoned bytes: NaN in every float type, -1 in integers.
inline constexpr unsigned char kPoison = 0xFF;

/// Whether to poison memory that a run has not written yet, so that a kernel
/// that reads it does not find an old value. MP_POISON decides (1, or 0 for
/// no); if it is unset, builds with assertions poison.
bool poisonsMemory();

/// The buffers whose lifetime begins at each step of an entry point; empty if
/// memory is not to be poisoned.
std::vector<std::vector<Buffer>> buffersToPoison(const Entry &entry);

} // namespace mp

#endif // MP_RUNTIME_CPU_POISON_H
