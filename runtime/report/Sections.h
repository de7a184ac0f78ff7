//===- Sections.h - the parts of a run's page -------------------*- C++ -*-===//
#ifndef MP_RUNTIME_REPORT_SECTIONS_H
#define MP_RUNTIME_REPORT_SECTIONS_H

#include "runtime/report/RunFiles.h"
#include "support/Html.h"

namespace mp {

/// Writes which run it was and how it ended.
void writeFacts(Html &html, const RunFiles &run);
/// Writes loss, scale and the other numbers of metrics.jsonl over the steps.
void writeSteps(Html &html, const RunFiles &run);
/// Writes where values stopped being finite.
void writeFindings(Html &html, const RunFiles &run);
/// Writes the ranges of all values of one step.
void writeValues(Html &html, const RunFiles &run);
/// Writes how large gradients are, and how f16 rounds them.
void writeGradients(Html &html, const RunFiles &run);
/// Writes which op runs in which type, and why.
void writeCasts(Html &html, const RunFiles &run);
/// Writes which values take how much memory.
void writeMemory(Html &html, const RunFiles &run);

/// Writes which classes were taken for which, and the surest mistakes.
void writeConfusion(Html &html, const RunFiles &run);

/// A picture of one series over the steps.
void drawSeries(Html &html, const Timeline &steps, llvm::StringRef name);

/// Writes the command that would record a missing file, "mp-run train net.mlir
/// --data DIR --out runs/a --ledger 100", and what that would show.
void writeMissing(Html &html, const RunFiles &run, llvm::StringRef file,
                  llvm::StringRef what, llvm::StringRef flags);

/// Writes "net.mlir:7:8", with the whole path as tooltip.
void writeSource(Html &html, llvm::StringRef source);

/// Writes a kernel by its first op and, if it is another, its most expensive
/// op: "linear + 3 ops" or "compare ... softmax + 1 op", with all of them as
/// tooltip.
void writeKernel(Html &html, llvm::StringRef ops);

/// Writes the name of a type in the colour of its precision: "f16".
void writePrecision(Html &html, llvm::StringRef type);
/// The class of the style sheet for the precision.
llvm::StringLiteral classOfPrecision(llvm::StringRef type);

/// A colour and its meaning.
struct LegendEntry {
  llvm::StringLiteral kind; ///< class of the style sheet
  llvm::StringRef text;
};
void writeLegend(Html &html, llvm::ArrayRef<LegendEntry> entries);

void openSection(Html &html, llvm::StringLiteral id, const llvm::Twine &title);
struct TableColumn {
  llvm::StringRef name;
  bool isNumber = false; ///< numbers are aligned to the right
};
/// Opens a table with these columns, in a box that scrolls; rows follow.
void openTable(Html &html, llvm::ArrayRef<TableColumn> columns,
               const llvm::Twine &caption);
void closeTable(Html &html);

} // namespace mp

#endif // MP_RUNTIME_REPORT_SECTIONS_H
