//===- Plugin.cpp - the dialect and its passes for a stock mlir-opt -------===//
//
//   mlir-opt --load-dialect-plugin=MantissaPlugin.so
//     --load-pass-plugin=MantissaPlugin.so
//     --pass-pipeline="builtin.module(mp-train-pipeline{batch=8})" FILE
//
//===----------------------------------------------------------------------===//
#include "dialect/Dialects.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "passes/Passes.h"
#include "llvm/Config/llvm-config.h"

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Mantissa", LLVM_VERSION_STRING, [] {
            mp::registerMpPasses();
            mp::registerPipelines();
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {
      MLIR_PLUGIN_API_VERSION, "Mantissa", LLVM_VERSION_STRING,
      [](mlir::DialectRegistry *registry) { mp::registerDialects(*registry); }};
}
