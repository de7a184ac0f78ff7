//===- Csv.h - metrics and evaluations as one table -------------*- C++ -*-===//
#ifndef MP_RUNTIME_REPORT_CSV_H
#define MP_RUNTIME_REPORT_CSV_H

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace mp {

/// Writes a row for each step of metrics.jsonl in the run folder, with its
/// numbers and those of the evaluation after it, as "test_loss", under their
/// names; RFC 4180, so that spreadsheets and data frames read it. A cell is
/// empty where there is no number, as for one that is not finite. Errors: no
/// metrics.jsonl, or a line that is not JSON.
llvm::Error writeCsv(llvm::raw_ostream &os, llvm::StringRef folder);

} // namespace mp

#endif // MP_RUNTIME_REPORT_CSV_H
