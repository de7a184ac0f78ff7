//===- Limits.h - how large a run and its module may be -------------------===//
#ifndef MP_PROGRAM_LIMITS_H
#define MP_PROGRAM_LIMITS_H

#include <cstddef>
#include <cstdint>

namespace mp {

/// The largest number of samples in a batch, of micro-batches, of epochs and
/// the like: far above what is used, and small enough that the product of two
/// does not overflow.
inline constexpr int64_t kMostCount = 1'000'000'000;

/// The largest number of elements of a tensor, above any memory, and of its
/// dimensions. Products of it with the bytes of an element do not overflow.
inline constexpr int64_t kMostElements = int64_t(1) << 48;
inline constexpr int64_t kMostRank = 32;

/// The most loops around a step. What runs them recurses.
inline constexpr size_t kMostLoops = 4;

/// The largest height and width that pictures are scaled to.
inline constexpr int64_t kMostSide = 1 << 13;

/// The longest text of a module, also with its aliases written out.
inline constexpr size_t kMostModuleBytes = size_t(256) << 20;

/// The deepest nesting of brackets in the text of a module, and the most
/// operators in one affine expression. MLIR's parser, verifier and printer
/// recurse: on a stack of 1 MiB they overflow from 480 modules, 257 regions of
/// generic ops (two brackets each) or 840 lists that nest.
inline constexpr unsigned kMostNesting = 256;

} // namespace mp

#endif // MP_PROGRAM_LIMITS_H
