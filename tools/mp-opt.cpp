//===- mp-opt.cpp - runs passes over .mlir files --------------------------===//
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tools/Register.h"
#include "tools/Tools.h"
#include "tools/common/EscapedErrors.h"
#include "tools/common/ModuleInput.h"
#include "tools/common/OutputArgument.h"
#include "tools/common/PassHelp.h"
#include "tools/common/Plugins.h"
#include "tools/common/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"

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

/// Runs the passes that the options, which are parsed, name.
static int runPasses(std::vector<char *> &arguments, std::string path,
                     llvm::StringRef output, bool trustsBytecode,
                     mlir::DialectRegistry &registry) {
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  mp::tool::ModuleInput input = {
      .path = std::move(path),
      .splitMarker = config.inputSplitMarker().str(),
      .trusted = trustsBytecode ? &registry : nullptr,
      .takesUnknownDialects = config.shouldAllowUnregisteredDialects()};
  bool readsModule = !config.shouldShowDialects() && !config.shouldListPasses();
  if (readsModule && !acceptModule(input))
    return 1;
  mp::tool::EscapedErrors escaped(input.hasControls);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(static_cast<int>(arguments.size()), arguments.data(),
                        input.path, output, registry));
}

int mp::tool::optMain(int argc, char **argv) {
  setVersionOf("mp-opt");
  mlir::DialectRegistry registry;
  mp::registerAll(registry);
  auto words = takePlugins(argc, argv, registry);
  if (!words)
    return 1;
  static llvm::cl::opt<bool> trustsBytecode(
      "trust-bytecode",
      llvm::cl::desc("Read MLIR bytecode, which must come from a source that "
                     "you trust"));
  helpWithPasses(*words, registry);
  std::vector<char *> arguments = quietly(std::move(*words));
  OutputArgument output(arguments);
  auto [input, file] = mlir::registerAndParseCLIOptions(
      static_cast<int>(arguments.size()), arguments.data(),
      "Mantissa's passes\n", registry);
  return output.finish(
      runPasses(arguments, input, file, trustsBytecode, registry));
}
