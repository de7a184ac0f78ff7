//===- ArenaPlan.h - offsets in the arena ---------------------------------===//
#ifndef MP_CODEGEN_PLAN_ARENAPLAN_H
#define MP_CODEGEN_PLAN_ARENAPLAN_H

#include "program/Program.h"
#include "llvm/ADT/ArrayRef.h"

namespace mp {

/// Gives every buffer an offset, a multiple of 64, so that two whose lifetimes
/// overlap have no common bytes: largest first, each into the smallest gap that
/// holds it. Returns the size of the arena in bytes.
uint64_t planArena(llvm::MutableArrayRef<Buffer> buffers);

} // namespace mp

#endif // MP_CODEGEN_PLAN_ARENAPLAN_H
