//===- PairedLanes.h - bf16 in pairs ----------------------------*- C++ -*-===//
//
// A word of 32 bits holds two neighbours of bf16. To widen them in place takes
// a shift for the one and a mask for the other, half of what it takes to spread
// them. The lanes of f32 are then first the even and then the odd elements,
// which matters to nothing if all that a nest has in memory is bf16.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_NEST_PAIREDLANES_H
#define MP_CODEGEN_CPU_NEST_PAIREDLANES_H

#include "codegen/stages/StageGroup.h"

namespace mp::cpu {

/// On conversions between vectors of f32 and bf16: lanes of f32 are first the
/// even and then the odd elements.
inline constexpr llvm::StringLiteral kPairedLanesAttr = "mp.paired_lanes";

/// Whether the order of the lanes in f32 matters to nothing in a group.
bool canPairLanes(const StageGroup &group);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_NEST_PAIREDLANES_H
