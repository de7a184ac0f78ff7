//===- Sections.h - the parts of a run's page -------------------*- C++ -*-===//
#ifndef MP_RUNTIME_REPORT_SECTIONS_H
#define MP_RUNTIME_REPORT_SECTIONS_H

#include "runtime/report/Html.h"
#include "runtime/report/RunFiles.h"

namespace mp {

/// Which run it was and how it ended.
void writeFacts(Html &html, const RunFiles &run);
/// Loss, scale and what else metrics.jsonl has, over the steps.
void writeSteps(Html &html, const RunFiles &run);
/// Where numbers stopped being finite.
void writeFindings(Html &html, const RunFiles &run);
/// Ranges of all values of one step.
void writeValues(Html &html, const RunFiles &run);
/// How large gradients are, and what f16 makes of them.
void writeGradients(Html &html, const RunFiles &run);
/// Which op runs in which type, and why.
void writeCasts(Html &html, const RunFiles &run);
/// What takes how much memory.
void writeMemory(Html &html, const RunFiles &run);

/// A picture of one series over the steps.
void drawSeries(Html &html, const Timeline &steps, llvm::StringRef name);

/// "mp-run train net.mlir --data DIR --out runs/a --ledger 100", and what that
/// would show.
void writeMissing(Html &html, const RunFiles &run, llvm::StringRef file,
                  llvm::StringRef what, llvm::StringRef flags);

/// "net.mlir:7:8", with the whole path where it is pointed at.
void writeSource(Html &html, llvm::StringRef source);

/// What a kernel computes, by its first op and its heaviest, where that is
/// another: "linear + 3 ops" or "compare ... softmax + 1 op", with all of them
/// where it is pointed at.
void writeKernel(Html &html, llvm::StringRef ops);

/// A word of a colour that stands for a precision: "f16".
void writePrecision(Html &html, llvm::StringRef type);
/// The class of the style sheet for the precision.
llvm::StringLiteral classOfPrecision(llvm::StringRef type);

/// Colours and what they stand for.
struct LegendEntry {
  llvm::StringLiteral kind; ///< class of the style sheet
  llvm::StringRef text;
};
void writeLegend(Html &html, llvm::ArrayRef<LegendEntry> entries);

void openSection(Html &html, llvm::StringLiteral id, const llvm::Twine &title);
struct TableColumn {
  llvm::StringRef name;
  bool isNumber = false; ///< and stands on the right
};
/// A table with these columns, in a box that scrolls; rows follow.
void openTable(Html &html, llvm::ArrayRef<TableColumn> columns,
               const llvm::Twine &caption);
void closeTable(Html &html);

} // namespace mp

#endif // MP_RUNTIME_REPORT_SECTIONS_H
