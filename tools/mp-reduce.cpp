//===- mp-reduce.cpp - the smallest module that still shows a fault -------===//
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "tools/Register.h"
#include "tools/Tools.h"
#include "tools/common/EscapedErrors.h"
#include "tools/common/ModuleInput.h"
#include "tools/common/OutputArgument.h"
#include "tools/common/Plugins.h"
#include "tools/common/Version.h"
#include "llvm/Support/raw_ostream.h"

int mp::tool::reduceMain(int argc, char **argv) {
  setVersionOf("mp-reduce");
  // Upstream would report that it cannot open a file of no name.
  if (argc < 2) {
    llvm::errs()
        << "mp-reduce: error: a module is missing; usage: mp-reduce "
           "FILE --reduction-tree=\"traversal-mode=0 test=SCRIPT\"\n"
           "SCRIPT gets a module's path and returns 1 where the module "
           "still shows the fault. mp-reduce --help says more.\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  mp::registerAll(registry);
  auto words = takePlugins(argc, argv, registry);
  if (!words)
    return 1;
  OutputArgument output(*words);
  static char standardInput[] = "-";
  char **module = moduleWord(*words);
  ModuleInput input = {.path = module ? *module : standardInput};
  if (!acceptModule(input))
    return 1;
  if (module && input.path == standardInput)
    *module = standardInput;
  EscapedErrors escaped(input.hasControls);
  mlir::MLIRContext context(registry);
  return output.finish(mlir::failed(mlir::mlirReduceMain(
      static_cast<int>(words->size()), words->data(), context)));
}
