//===- mp-lsp-server.cpp - a language server for .mlir files --------------===//
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/Register.h"
#include "tools/Tools.h"
#include "tools/common/Plugins.h"
#include "tools/common/Version.h"
#include "tools/lsp-server/DocumentFilter.h"

int mp::tool::lspserverMain(int argc, char **argv) {
  setVersionOf("mp-lsp-server");
  mlir::DialectRegistry registry;
  mp::registerAll(registry);
  auto words = takePlugins(argc, argv, registry);
  if (!words)
    return 1;
  filterDocuments(*words);
  return mlir::failed(mlir::MlirLspServerMain(static_cast<int>(words->size()),
                                              words->data(), registry));
}
