//===- Tokens.h - files of the tokens of a text ---------------------------===//
#ifndef MP_RUNTIME_DATA_TOKENS_H
#define MP_RUNTIME_DATA_TOKENS_H

#include "program/Program.h"
#include "runtime/data/Array.h"

namespace mp {

/// Returns the type of a column of tokens, [windows, length], by the size of
/// the file. Errors name the file: missing, shorter than a window, or its size
/// is not a multiple of a token's.
llvm::Expected<TensorType> peekTokens(llvm::StringRef path,
                                      const DataColumn &column);

/// Maps the file: `bytes` are all its tokens, and `type` is that of the samples
/// in them, which may overlap.
llvm::Expected<Array> readTokens(llvm::StringRef path,
                                 const DataColumn &column);

} // namespace mp

#endif // MP_RUNTIME_DATA_TOKENS_H
