//===- ShapeCheck.h - tensors that can be laid out in memory
//---------------===//
#ifndef MP_CODEGEN_SHAPECHECK_H
#define MP_CODEGEN_SHAPECHECK_H

#include "mlir/IR/BuiltinOps.h"

namespace mp {

/// Fails, with an error at the op, where a value of the module is no tensor
/// that a Program can hold: of another type, without elements, with more bytes
/// than can be addressed, or with a `?` that `batch` (0: none) does not bind.
llvm::LogicalResult checkShapes(mlir::ModuleOp module, int64_t batch);

} // namespace mp

#endif // MP_CODEGEN_SHAPECHECK_H
