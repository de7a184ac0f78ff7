//===- Composites.h - ops that consist of others ----------------*- C++ -*-===//
#ifndef MP_PASSES_ANALYSIS_COMPOSITES_H
#define MP_PASSES_ANALYSIS_COMPOSITES_H

#include "dialect/Mp.h"

namespace mp {

/// Replaces an op by those that it consists of, which compute in its compute
/// type.
void decomposeInPlace(DecomposableOpInterface op);

/// Replaces an op by results in its compute type, which are rounded to its own.
void replaceByWide(mlir::Operation *op, mlir::ImplicitLocOpBuilder &builder,
                   mlir::ValueRange results);

} // namespace mp

#endif // MP_PASSES_ANALYSIS_COMPOSITES_H
