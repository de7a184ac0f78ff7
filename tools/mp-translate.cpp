//===- mp-translate.cpp - modules to other forms --------------------------===//
#include "codegen/Translate.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "tools/Tools.h"
#include "tools/common/Version.h"

int mp::tool::translateMain(int argc, char **argv) {
  setVersionOf("mp-translate");
  mp::registerTranslations();
  return failed(
      mlir::mlirTranslateMain(argc, argv, "Mantissa's translations\n"));
}
