//===- mp-translate.cpp - modules to other forms --------------------------===//
#include "codegen/Translate.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  mp::registerTranslations();
  return failed(
      mlir::mlirTranslateMain(argc, argv, "Mantissa's translations\n"));
}
