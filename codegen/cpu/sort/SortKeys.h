//===- SortKeys.h - integers in the order of elements -----------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_SORT_SORTKEYS_H
#define MP_CODEGEN_CPU_SORT_SORTKEYS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mp::cpu {

/// Turns the bits of elements, scalars or vectors, into keys of the same width:
/// integers that are in the order of the elements when compared without a sign.
/// Zeros have one key, and NaNs have that of the largest number.
mlir::Value sortKeysOf(mlir::ImplicitLocOpBuilder &builder, mlir::Value bits,
                       mlir::Type element, bool descending);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_SORT_SORTKEYS_H
