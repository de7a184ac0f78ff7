//===- Poison.h - memory that nothing has written shows -------------------===//
#ifndef MP_RUNTIME_CPU_POISON_H
#define MP_RUNTIME_CPU_POISON_H

#include "program/Program.h"
#include "llvm/ADT/ArrayRef.h"

namespace mp {

/// What poisoned bytes hold: of any float type a NaN, of integers -1.
inline constexpr unsigned char kPoison = 0xFF;

/// Whether memory that a run has not written yet is to be poisoned, so that a
/// kernel that reads it does not find what some other value left there: in
/// builds with assertions, and where MP_POISON says so (1, or 0 for no).
bool poisonsMemory();

/// The buffers whose lives begin at each step of an entry point; empty where
/// memory is not to be poisoned.
std::vector<std::vector<Buffer>> buffersToPoison(const Entry &entry);

} // namespace mp

#endif // MP_RUNTIME_CPU_POISON_H
