//===- Plugin.cpp - a pass, and what a plugin offers ----------------------===//
#include "Own.h"
#include "dialect/ops/Activation.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {
struct SoftsignForRelu
    : PassWrapper<SoftsignForRelu, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SoftsignForRelu)

  StringRef getArgument() const final { return "softsign-for-relu"; }
  StringRef getDescription() const final {
    return "replace mp.relu by own.softsign";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<own::OwnDialect>();
  }

  void runOnOperation() final {
    getOperation().walk([](mp::ReluOp relu) {
      OpBuilder builder(relu);
      auto softsign =
          own::SoftsignOp::create(builder, relu.getLoc(), relu.getInput());
      relu.replaceAllUsesWith(softsign.getResult());
      relu.erase();
    });
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "own", "0.1",
          [] { PassRegistration<SoftsignForRelu>(); }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "own", "0.1", [](DialectRegistry *registry) {
            registry->insert<own::OwnDialect>();
          }};
}
