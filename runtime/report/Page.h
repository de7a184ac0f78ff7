//===- Page.h - a run as one file of HTML -----------------------*- C++ -*-===//
#ifndef MP_RUNTIME_REPORT_PAGE_H
#define MP_RUNTIME_REPORT_PAGE_H

#include "runtime/report/RunFiles.h"
#include "llvm/Support/raw_ostream.h"

namespace mp {

/// Writes a page that needs no other file, no script and no network.
void writePage(llvm::raw_ostream &os, const RunFiles &run);

/// The style sheet of its charts: each class of a mark, a bar or a word has a
/// colour.
extern const llvm::StringLiteral kReportStyle;

} // namespace mp

#endif // MP_RUNTIME_REPORT_PAGE_H
