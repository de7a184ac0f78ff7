//===- SiluForRelu.cpp - a pass as a plugin -------------------------------===//
//
// A pass of one's own, as a plugin: mp.relu becomes mp.silu. docs/own-passes.md
// builds it, tries it on a module and trains with it.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Activation.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;

namespace {
struct SiluForRelu
    : PassWrapper<SiluForRelu, OperationPass<mlir::func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SiluForRelu)

  SiluForRelu() = default;
  SiluForRelu(const SiluForRelu &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "silu-for-relu"; }
  StringRef getDescription() const final {
    return "replace mp.relu by mp.silu";
  }

  void runOnOperation() override {
    // In regions of mp.autocast too.
    SmallVector<mp::ReluOp> found;
    getOperation().walk([&](mp::ReluOp relu) { found.push_back(relu); });
    for (mp::ReluOp relu :
         llvm::drop_begin(found, std::min<size_t>(found.size(), keep))) {
      OpBuilder builder(relu);
      relu.replaceAllUsesWith(
          mp::SiluOp::create(builder, relu.getLoc(), relu.getInput())
              .getResult());
      relu.erase();
    }
  }

  Option<int64_t> keep{*this, "keep",
                       llvm::cl::desc("leave the first of them as they are"),
                       llvm::cl::init(0)};
};
} // namespace

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "own-pass", LLVM_VERSION_STRING,
          [] { PassRegistration<SiluForRelu>(); }};
}
