//===- Lossless.h - which float types contain which -------------*- C++ -*-===//
#ifndef MP_DIALECT_LOSSLESS_H
#define MP_DIALECT_LOSSLESS_H

#include "mlir/IR/Types.h"

namespace mp {

/// Whether both are floats and every value of `from` is a value of `to`.
bool isLossless(mlir::Type from, mlir::Type to);

} // namespace mp

#endif // MP_DIALECT_LOSSLESS_H
