//===- mp-translate.cpp - modules to other forms --------------------------===//
#include "codegen/Translate.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "tools/Tools.h"
#include "tools/common/OutputArgument.h"
#include "tools/common/Version.h"

int mp::tool::translateMain(int argc, char **argv) {
  setVersionOf("mp-translate");
  mp::registerTranslations();
  std::vector<char *> words(argv, argv + argc);
  OutputArgument output(words);
  return output.finish(failed(mlir::mlirTranslateMain(
      argc, words.data(), "Mantissa's translations\n")));
}
