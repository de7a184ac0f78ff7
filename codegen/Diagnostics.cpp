//===- Diagnostics.cpp - diagnostics as text ------------------------------===//
#include "codegen/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "support/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mp;

static constexpr size_t kMostLines = 10;
/// The most bytes of a line: a module may be one line of megabytes.
static constexpr size_t kMostColumns = 1000;

/// Returns the text as a terminal may show it, each line cut.
static std::string shown(StringRef text) {
  std::string lines;
  for (StringRef line : llvm::split(text, '\n')) {
    lines += withoutControls(line.take_front(kMostColumns));
    lines += line.size() > kMostColumns ? "...\n" : "\n";
  }
  lines.pop_back();
  return lines;
}

DiagnosticText::DiagnosticText(MLIRContext &context, llvm::SourceMgr &sources,
                               OnWarning onWarning)
    : onWarning(std::move(onWarning)), stream(text),
      printer(sources, &context, stream),
      handler(&context, [this](Diagnostic &diagnostic) {
        add(diagnostic);
        return success();
      }) {
  // An error takes two lines; the IR of its op could take a thousand.
  context.printOpOnDiagnostic(false);
}

void DiagnosticText::add(Diagnostic &diagnostic) {
  std::lock_guard lock(mutex);
  size_t before = text.size();
  printer.emitDiagnostic(diagnostic);
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
    return;
  std::string other = text.substr(before);
  text.resize(before);
  if (onWarning && diagnostic.getSeverity() == DiagnosticSeverity::Warning)
    onWarning(shown(StringRef(other).rtrim('\n')));
}

std::string DiagnosticText::take() {
  std::lock_guard lock(mutex);
  SmallVector<StringRef> lines;
  StringRef(text).rtrim('\n').split(lines, '\n');
  if (lines.size() > kMostLines) {
    lines.resize(kMostLines - 1);
    lines.push_back("... and more errors");
  }
  return shown(llvm::join(lines, "\n"));
}
