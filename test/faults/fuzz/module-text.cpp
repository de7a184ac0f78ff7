//===- module-text.cpp - fuzz target: the text of a module ----------------===//
#include "Target.h"
#include "dialect/Dialects.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "program/ModuleText.h"

using namespace mp;
using namespace mp::fuzz;

/// A context keeps each type and attribute that it has seen, so it is replaced
/// now and then.
static mlir::MLIRContext &freshContext() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 512)
    return *context;
  mlir::DialectRegistry registry;
  registerDialects(registry);
  context = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return *context;
}

/// Whether the fault is at a place of the text, or right behind it.
static bool liesIn(const TextFault &fault, llvm::StringRef text) {
  for (size_t line = 1; line < fault.line; ++line) {
    size_t end = text.find('\n');
    if (end == llvm::StringRef::npos)
      return false;
    text = text.drop_front(end + 1);
  }
  return fault.line >= 1 && fault.column >= 1 &&
         fault.column <= text.split('\n').first.size() + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // MLIR's lexer reads the zero behind a text, which every caller has.
  std::string text = textOf(data, size).str();
  auto fault = findTextFault(text);
  auto ofOneModule = findTextFault(text, "// -----");
  require(fault || !ofOneModule, "a marker between modules makes a fault");
  if (fault) {
    require(!fault->message.empty() && liesIn(*fault, text),
            "a fault without a message or a place");
    return 0;
  }
  // What passes, MLIR's parser and the verifier take without a crash.
  mlir::MLIRContext &context = freshContext();
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) {});
  (void)mlir::parseSourceString<mlir::ModuleOp>(text,
                                                mlir::ParserConfig(&context));
  return 0;
}
