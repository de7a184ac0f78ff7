//===- Work.h - a module while passes run on it ---------------------------===//
#ifndef MP_PRECISION_COMPARE_WORK_H
#define MP_PRECISION_COMPARE_WORK_H

#include "codegen/Diagnostics.h"
#include "codegen/Plugins.h"
#include "dialect/Dialects.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "passes/Passes.h"
#include "precision/compare/Variant.h"
#include "program/ModuleText.h"

namespace mp::precision {

/// A module while passes run on it.
class Work {
public:
  Work(llvm::StringRef text, llvm::StringRef filename,
       std::function<void(llvm::StringRef)> onWarning)
      : context(dialects()) {
    context.loadAllAvailableDialects();
    if (llvm::Error error = checkModuleText(text, filename)) {
      refused = toString(std::move(error));
      return;
    }
    sources.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(text, filename), {});
    diagnostics.emplace(context, sources, std::move(onWarning));
    module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  }

  /// Returns the errors of the diagnostics.
  llvm::Error failed() {
    return llvm::createStringError(refused.empty() ? diagnostics->take()
                                                   : refused);
  }

  template <typename... Passes> llvm::Error run(Passes... passes) {
    mlir::PassManager manager(&context);
    (add(manager, std::move(passes)), ...);
    if (mlir::failed(manager.run(*module)))
      return failed();
    return llvm::Error::success();
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;

private:
  static mlir::DialectRegistry dialects() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    PassRegistryAccess().registerDialects(registry);
    return registry;
  }
  static void add(mlir::PassManager &manager,
                  std::unique_ptr<mlir::Pass> pass) {
    if (pass->getOpName() == mlir::func::FuncOp::getOperationName())
      manager.addNestedPass<mlir::func::FuncOp>(std::move(pass));
    else
      manager.addPass(std::move(pass));
  }

  std::string refused; ///< why the text was not parsed
  llvm::SourceMgr sources;
  std::optional<DiagnosticText> diagnostics;
};

/// Returns the subject's function, alone with its recipe, in training, with its
/// shapes known and its ops numbered.
llvm::Expected<mlir::func::FuncOp> prepare(Work &work, const Subject &subject);

/// Returns the number of an op; 0: it has none.
int64_t numberOf(mlir::Operation *op);

} // namespace mp::precision

#endif // MP_PRECISION_COMPARE_WORK_H
