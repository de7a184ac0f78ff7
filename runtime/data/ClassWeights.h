//===- ClassWeights.h - weights that balance classes ----------------------===//
#ifndef MP_RUNTIME_DATA_CLASSWEIGHTS_H
#define MP_RUNTIME_DATA_CLASSWEIGHTS_H

#include "runtime/data/Array.h"
#include <vector>

namespace mp {

/// Counts the labels of each class below `classes`, or up to the largest label
/// if that is 0. -100, which losses leave out, is not counted. Fails if another
/// label is no class, or the labels are not integers.
llvm::Expected<std::vector<int64_t>> countClasses(const Array &labels,
                                                  int64_t classes);

/// Returns the weights that give every class the same share of a loss, as
/// scikit-learn's "balanced" does: labels / (classes * labels of the class). A
/// class without labels gets 0, and does not count as one.
std::vector<float> balancedWeights(llvm::ArrayRef<int64_t> counts);

} // namespace mp

#endif // MP_RUNTIME_DATA_CLASSWEIGHTS_H
