//===- Constants.h - the numbers of a constant ----------------------------===//
#ifndef MP_PASSES_CONSTANTS_H
#define MP_PASSES_CONSTANTS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace mp {

/// The constant with one element where all are the same, of which there may be
/// more than can be visited.
inline mlir::DenseElementsAttr withoutCopies(mlir::DenseElementsAttr elements) {
  if (!elements || elements.empty() || !elements.isSplat())
    return elements;
  return elements.resizeSplat(elements.getType().clone({1}));
}

} // namespace mp

#endif // MP_PASSES_CONSTANTS_H
