//===- Idx.h - the idx files of MNIST and similar data --------------------===//
#ifndef MP_RUNTIME_DATA_IDX_H
#define MP_RUNTIME_DATA_IDX_H

#include "runtime/data/Array.h"

namespace mp {

/// Reads an idx file (http://yann.lecun.com/exdb/mnist, "the IDX file format"),
/// plain or gzipped: u8, i8, i32, f32 and f64 elements of any rank. Errors name
/// the file: missing, not idx, truncated, bytes left over, damaged gzip data,
/// sizes that overflow.
llvm::Expected<Array> readIdx(llvm::StringRef path);

/// Reads only the header.
llvm::Expected<TensorType> peekIdx(llvm::StringRef path);

} // namespace mp

#endif // MP_RUNTIME_DATA_IDX_H
