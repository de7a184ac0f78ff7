//===- ThreadRanks.h - ranks that are threads of one process --------------===//
#ifndef MP_RUNTIME_RANKS_THREADRANKS_H
#define MP_RUNTIME_RANKS_THREADRANKS_H

#include "runtime/ranks/Communicator.h"

namespace mp {

/// Makes a group whose ranks are in this process, each used by a thread of its
/// own. A collective is done by the thread that is the last to start it. The
/// group fails if ranks start different collectives, or if one is destroyed
/// before it has started a collective that others have; a rank may take any
/// time. Destroying a rank waits for what it has started.
std::vector<std::unique_ptr<Communicator>> createThreadRanks(int64_t size);

} // namespace mp

#endif // MP_RUNTIME_RANKS_THREADRANKS_H
