//===- Comparison.h - several runs side by side -----------------*- C++ -*-===//
#ifndef MP_RUNTIME_REPORT_COMPARISON_H
#define MP_RUNTIME_REPORT_COMPARISON_H

#include "runtime/report/RunFiles.h"
#include "llvm/Support/raw_ostream.h"

namespace mp {

/// One fact of all runs: a cell for each, "" if the run does not say it.
struct ComparedRow {
  std::string name;
  std::vector<std::string> cells;
};

/// Returns the facts that at least one of the runs has.
std::vector<ComparedRow> compareRuns(llvm::ArrayRef<RunFiles> runs);

/// Writes a table with a column for each run, then the notes of the runs.
void writeComparisonText(llvm::raw_ostream &os, llvm::ArrayRef<RunFiles> runs);

/// Writes a page with the same table and the losses in one chart. Like the page
/// of a run, it needs no other file, no script and no network.
void writeComparisonPage(llvm::raw_ostream &os, llvm::ArrayRef<RunFiles> runs);

} // namespace mp

#endif // MP_RUNTIME_REPORT_COMPARISON_H
