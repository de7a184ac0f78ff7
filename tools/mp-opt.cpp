//===- mp-opt.cpp - runs passes over .mlir files --------------------------===//
#include "tools/Register.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mp::registerAll(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Mantissa's passes\n", registry));
}
