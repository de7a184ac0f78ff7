//===- Register.cpp - the one list of what exists -------------------------===//
#include "tools/Register.h"
#include "dialect/Mp.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

void mp::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<MpDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                  mlir::tensor::TensorDialect>();
  mlir::func::registerAllExtensions(registry);
}

void mp::registerAll(mlir::DialectRegistry &registry) {
  registerDialects(registry);
  mlir::registerTransformsPasses();
  registerMpPasses();
  registerPipelines();
}
