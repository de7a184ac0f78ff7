//===- mp-reduce.cpp - the smallest module that still shows a fault -------===//
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "tools/Register.h"
#include "tools/Tools.h"

int mp::tool::reduceMain(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mp::registerAll(registry);
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
