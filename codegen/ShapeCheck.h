//===- ShapeCheck.h - tensors that fit into memory ------------------------===//
#ifndef MP_CODEGEN_SHAPECHECK_H
#define MP_CODEGEN_SHAPECHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mp {

/// Fails, with an error at the op, if a value of the module is not a tensor
/// that a Program can hold: of another type, without elements, with more bytes
/// than can be addressed, or with a `?` that `batch` (0: none) does not bind.
llvm::LogicalResult checkShapes(mlir::ModuleOp module, int64_t batch);

/// Fails if an argument that data is fed to has a leading dimension other than
/// `?` or `batch`: a batch of another size would be read past its end.
llvm::LogicalResult checkBatch(mlir::func::FuncOp function, int64_t batch);

} // namespace mp

#endif // MP_CODEGEN_SHAPECHECK_H
