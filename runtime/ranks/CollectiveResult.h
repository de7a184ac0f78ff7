//===- CollectiveResult.h - what a collective gives -------------*- C++ -*-===//
#ifndef MP_RUNTIME_RANKS_COLLECTIVERESULT_H
#define MP_RUNTIME_RANKS_COLLECTIVERESULT_H

#include "runtime/ranks/Communicator.h"

namespace mp {

/// The tensors of a rank, an address for each.
struct RankTensors {
  llvm::ArrayRef<const void *> from;
  llvm::ArrayRef<void *> to; ///< empty: what this rank gets is not asked for
};

/// Computes what ranks get of a collective, by what Communicator.h says, when
/// all that they give is in one memory: `ranks` has each of them, in order. A
/// rank may give and get at one address where Communicator::start lets it.
void computeCollective(const Collective &collective,
                       llvm::ArrayRef<RankTensors> ranks);

} // namespace mp

#endif // MP_RUNTIME_RANKS_COLLECTIVERESULT_H
