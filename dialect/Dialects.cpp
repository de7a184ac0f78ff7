//===- Dialects.cpp - dialects that graphs use ----------------------------===//
#include "dialect/Dialects.h"
#include "dialect/Mp.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

void mp::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<MpDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                  mlir::tensor::TensorDialect>();
  mlir::func::registerAllExtensions(registry);
}
