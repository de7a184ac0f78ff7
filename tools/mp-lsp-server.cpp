//===- mp-lsp-server.cpp - a language server for .mlir files --------------===//
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/Register.h"
#include "tools/Tools.h"
#include "tools/common/Version.h"

int mp::tool::lspserverMain(int argc, char **argv) {
  setVersionOf("mp-lsp-server");
  mlir::DialectRegistry registry;
  mp::registerAll(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
