//===- Philox.h - random bits -----------------------------------*- C++ -*-===//
//
// Random bits are Philox4x32-10 (Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011). The key is the run's seed; the counter is element
// index / 4, stream, attempt and micro-batch, each modulo 2^32, and the
// element's word is the one at index % 4. It is arithmetic on integers, and so
// the same bits everywhere. In time step t of a scan an op draws from its
// stream + 2^16 t.
//
//===----------------------------------------------------------------------===//
#ifndef MP_DIALECT_PHILOX_H
#define MP_DIALECT_PHILOX_H

#include "dialect/Expression.h"

namespace mp {

/// The streams of one time step of a scan. Where a scan draws, all streams are
/// below this, and there are at most as many time steps.
constexpr int64_t kStreamsPerTimeStep = 1 << 16;

/// What bits depend on besides the element's index: scalars, or vectors, of
/// i64.
struct RandomKey {
  Expression seed, stream, attempt, microBatch;
};

/// The words of elements 4 `block` to 4 `block` + 3, as i32. `block` is an i64,
/// or a vector of them, as the key is.
std::array<Expression, 4> randomWords(const RandomKey &key, Expression block);
/// The word of one element, or of each of a vector of them.
Expression randomWord(const RandomKey &key, Expression index);

/// A word below this drops an element, with probability `p`.
double dropoutBound(double p);
/// Zero where a word drops, else 1 / (1 - p), in a float type or a vector of
/// it. For p = 1 it is zero throughout.
Expression dropoutFactor(Expression word, double p, mlir::Type type);

} // namespace mp

#endif // MP_DIALECT_PHILOX_H
