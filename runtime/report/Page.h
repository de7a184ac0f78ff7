//===- Page.h - a run as one file of HTML -----------------------*- C++ -*-===//
#ifndef MP_RUNTIME_REPORT_PAGE_H
#define MP_RUNTIME_REPORT_PAGE_H

#include "runtime/report/RunFiles.h"
#include "llvm/Support/raw_ostream.h"

namespace mp {

/// Writes a page that needs no other file, no script and no network.
void writePage(llvm::raw_ostream &os, const RunFiles &run);

/// The page's style sheet. Colours carry meaning: each class of a mark, a bar
/// or a word has one, in light and in dark.
extern const llvm::StringLiteral kPageStyle;

} // namespace mp

#endif // MP_RUNTIME_REPORT_PAGE_H
