//===- Tensors.h - inputs and results of mp-run run -----------------------===//
#ifndef MP_TOOLS_RUN_TENSORS_H
#define MP_TOOLS_RUN_TENSORS_H

#include "runtime/data/Array.h"
#include "llvm/Support/raw_ostream.h"

namespace mp::tool {

/// Returns the format of a file by its name; npy if that gives none.
llvm::StringRef formatOf(llvm::StringRef path);

/// Binds the inputs of an entry point to the arrays or, for an input without an
/// array, to the number that `given` spells. Errors: another count, type or
/// shape; a value out of range.
llvm::Expected<std::vector<Array>>
bindInputs(const Entry &entry, llvm::ArrayRef<std::string> given,
           llvm::ArrayRef<std::optional<Array>> arrays);

/// Prints "name: 2x3xf32 = [[1, 2, 3], [4, 5, 6]]", or only the beginning of a
/// large tensor.
void printTensor(llvm::raw_ostream &os, llvm::StringRef name,
                 const TensorType &type, llvm::ArrayRef<char> bytes);

} // namespace mp::tool

#endif // MP_TOOLS_RUN_TENSORS_H
