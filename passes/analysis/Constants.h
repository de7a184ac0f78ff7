//===- Constants.h - the numbers of a constant ----------------------------===//
#ifndef MP_PASSES_ANALYSIS_CONSTANTS_H
#define MP_PASSES_ANALYSIS_CONSTANTS_H

#include "dialect/Mp.h"

namespace mp {

/// Returns the constant with one element if all are equal: it may have more
/// elements than can be visited.
inline mlir::DenseElementsAttr withoutCopies(mlir::DenseElementsAttr elements) {
  if (!elements || elements.empty() || !elements.isSplat())
    return elements;
  return elements.resizeSplat(elements.getType().clone({1}));
}

/// Returns why a constant cannot be cast to `type`: it has an element that
/// would become infinite or zero. Returns "" if it can, or `value` is not a
/// constant.
std::string whyNotExact(mlir::Value value, mlir::FloatType type);

} // namespace mp

#endif // MP_PASSES_ANALYSIS_CONSTANTS_H
