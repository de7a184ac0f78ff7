//===- Rows.h - named fields of JSON lines and CSV ------------------------===//
#ifndef MP_RUNTIME_TEXT_ROWS_H
#define MP_RUNTIME_TEXT_ROWS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mp::tokenizers {

/// What is done with a row: `values` has that of each field that was asked for.
using RowReader = llvm::function_ref<llvm::Error(
    llvm::ArrayRef<std::string> values, size_t line)>;

enum class RowFormat { JsonLines, Csv, Tsv };

/// Reads the rows of a text. An error begins with the line: "line 3: ...".
llvm::Error parseRows(llvm::StringRef text, RowFormat format,
                      llvm::ArrayRef<std::string> fields, RowReader row);

/// Reads the rows of a file: an object in each line, or, if the file's name
/// ends with .csv or .tsv, values with commas or tabs between them (RFC 4180)
/// below a line of their names. A value is a string or a number, which is given
/// as it is written. Errors name the file and the line; those of `row` are
/// given both.
llvm::Error readRows(llvm::StringRef path, llvm::ArrayRef<std::string> fields,
                     RowReader row);

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_ROWS_H
