//===- Constants.h - the numbers of a constant ----------------------------===//
#ifndef MP_PASSES_ANALYSIS_CONSTANTS_H
#define MP_PASSES_ANALYSIS_CONSTANTS_H

#include "dialect/Mp.h"

namespace mp {

/// The constant with one element where all are the same, of which there may be
/// more than can be visited.
inline mlir::DenseElementsAttr withoutCopies(mlir::DenseElementsAttr elements) {
  if (!elements || elements.empty() || !elements.isSplat())
    return elements;
  return elements.resizeSplat(elements.getType().clone({1}));
}

/// Why a constant cannot be cast to `type`: it has an element that would become
/// infinite or zero. "" where it can, or `value` is no constant.
std::string whyNotExact(mlir::Value value, mlir::FloatType type);

} // namespace mp

#endif // MP_PASSES_ANALYSIS_CONSTANTS_H
