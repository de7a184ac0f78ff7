//===- mp-translate.cpp - modules to other forms --------------------------===//
#include "codegen/Translate.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "tools/Tools.h"

int mp::tool::translateMain(int argc, char **argv) {
  mp::registerTranslations();
  return failed(
      mlir::mlirTranslateMain(argc, argv, "Mantissa's translations\n"));
}
