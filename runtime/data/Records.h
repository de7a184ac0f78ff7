//===- Records.h - files of records of one size ---------------------------===//
#ifndef MP_RUNTIME_DATA_RECORDS_H
#define MP_RUNTIME_DATA_RECORDS_H

#include "program/Program.h"
#include "runtime/data/Array.h"

namespace mp {

/// Returns the type of a column of records, [records of all files, shape...],
/// by the sizes of the files. Errors name the file: missing, empty, or its size
/// is not a multiple of a record's.
llvm::Expected<TensorType> peekRecords(llvm::ArrayRef<std::string> paths,
                                       const DataColumn &column);

/// Reads the files one after another. A record holds a sample as `column.shape`
/// elements of `column.element`, little-endian, from byte
/// `column.recordOffset` on.
llvm::Expected<Array> readRecords(llvm::ArrayRef<std::string> paths,
                                  const DataColumn &column);

} // namespace mp

#endif // MP_RUNTIME_DATA_RECORDS_H
