//===- mp-opt.cpp - runs passes over .mlir files --------------------------===//
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tools/Register.h"
#include "tools/Tools.h"
#include "tools/common/OutputArgument.h"
#include "tools/common/PassHelp.h"
#include "tools/common/Plugins.h"
#include "tools/common/Version.h"
#include "llvm/ADT/STLExtras.h"

/// Adds the flag that keeps an op's text out of diagnostics, unless the user
/// gave that flag.
static std::vector<char *> quietly(std::vector<char *> arguments) {
  static char quiet[] = "--mlir-print-op-on-diagnostic=false";
  auto isAbout = [](llvm::StringRef word) {
    return word.contains("-mlir-print-op-on-diagnostic");
  };
  if (llvm::none_of(arguments, isAbout))
    arguments.push_back(quiet);
  return arguments;
}

int mp::tool::optMain(int argc, char **argv) {
  setVersionOf("mp-opt");
  mlir::DialectRegistry registry;
  mp::registerAll(registry);
  auto words = takePlugins(argc, argv, registry);
  if (!words)
    return 1;
  helpWithPasses(*words, registry);
  std::vector<char *> arguments = quietly(std::move(*words));
  OutputArgument output(arguments);
  return output.finish(mlir::asMainReturnCode(
      mlir::MlirOptMain(static_cast<int>(arguments.size()), arguments.data(),
                        "Mantissa's passes\n", registry)));
}
