//===- ReferenceSums.h - elements of products, summed in double -----------===//
#ifndef MP_TOOLS_RUN_REFERENCESUMS_H
#define MP_TOOLS_RUN_REFERENCESUMS_H

#include "codegen/cuda/contraction/TunePlan.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mp::tool {

/// Returns an element of an operand, by its place in memory.
using Elements = llvm::function_ref<double(int64_t)>;

/// Returns the element of the result at `place` in memory, from its definition
/// (codegen/cuda/contraction/TuneModules.h says which operands a and b are).
double referenceAt(const cuda::TunedShape &shape, int64_t place, Elements a,
                   Elements b);

} // namespace mp::tool

#endif // MP_TOOLS_RUN_REFERENCESUMS_H
