//===- Diagnostics.h - diagnostics as text --------------------------------===//
#ifndef MP_CODEGEN_DIAGNOSTICS_H
#define MP_CODEGEN_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <mutex>
#include <string>

namespace mp {

/// Collects a context's errors as located text with the source line and a
/// caret, from any thread, as long as it lives. Passes each warning to
/// `onWarning`, as such a text.
class DiagnosticText {
public:
  using OnWarning = std::function<void(llvm::StringRef)>;
  DiagnosticText(mlir::MLIRContext &context, llvm::SourceMgr &sources,
                 OnWarning onWarning = {});
  /// The errors so far, at most ten lines of them.
  std::string take();

private:
  void add(mlir::Diagnostic &diagnostic);

  OnWarning onWarning;
  /// The mutex is recursive, as a pass that crashes in `onWarning` may be
  /// survived, and then reported.
  std::recursive_mutex mutex;
  std::string text;
  llvm::raw_string_ostream stream;
  /// Upstream's printer, which only the handler calls.
  struct Printer : mlir::SourceMgrDiagnosticHandler {
    using SourceMgrDiagnosticHandler::emitDiagnostic;
    using SourceMgrDiagnosticHandler::SourceMgrDiagnosticHandler;
  } printer;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace mp

#endif // MP_CODEGEN_DIAGNOSTICS_H
