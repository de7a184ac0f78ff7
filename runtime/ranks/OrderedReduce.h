//===- OrderedReduce.h - reduces what all ranks give, in their order ------===//
#ifndef MP_RUNTIME_RANKS_ORDEREDREDUCE_H
#define MP_RUNTIME_RANKS_ORDEREDREDUCE_H

#include "runtime/ranks/Communicator.h"

namespace mp {

/// Whether tensors of the type can be reduced so.
bool canReduce(Collective::Reduction reduction, ElementType element);

/// Reduces `n` elements of each of `contributions`, one for each rank, in the
/// order of ranks:
///
///   sum  ((0 + x0) + x1) + ...; f16 and bf16 in f32, rounded once at the end
///   to
///        nearest, ties to even; integers wrap
///   max  a NaN of any rank wins; of +0 and -0, that of the lower rank
///   or   bits of i1 and ui8
///
/// `to` may be one of `contributions`, and overlaps none otherwise.
void orderedReduce(Collective::Reduction reduction, ElementType element,
                   llvm::ArrayRef<const void *> contributions, int64_t n,
                   void *to);

} // namespace mp

#endif // MP_RUNTIME_RANKS_ORDEREDREDUCE_H
