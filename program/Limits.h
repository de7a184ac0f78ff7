//===- Limits.h - how large the numbers of a run may be -------------------===//
#ifndef MP_PROGRAM_LIMITS_H
#define MP_PROGRAM_LIMITS_H

#include <cstdint>

namespace mp {

/// The largest number of samples in a batch, of micro-batches, of epochs and
/// the like: far above what is used, and small enough that the product of two
/// does not overflow.
inline constexpr int64_t kMostCount = 1'000'000'000;

} // namespace mp

#endif // MP_PROGRAM_LIMITS_H
