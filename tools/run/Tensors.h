//===- Tensors.h - inputs and results of mp-run run -----------------------===//
#ifndef MP_TOOLS_RUN_TENSORS_H
#define MP_TOOLS_RUN_TENSORS_H

#include "runtime/data/Array.h"
#include "llvm/Support/raw_ostream.h"

namespace mp::tool {

/// Returns the format of a file by its name; npy if that gives none.
llvm::StringRef formatOf(llvm::StringRef path);

/// Binds the inputs of an entry point: the arrays, or the number that `given`
/// spells where there is none. Errors: another count, type or shape; a value
/// out of range.
llvm::Expected<std::vector<Array>>
bindInputs(const Entry &entry, llvm::ArrayRef<std::string> given,
           llvm::ArrayRef<std::optional<Array>> arrays);

/// Prints "name: 2x3xf32 = [[1, 2, 3], [4, 5, 6]]"; of a large tensor only the
/// head.
void printTensor(llvm::raw_ostream &os, llvm::StringRef name,
                 const TensorType &type, llvm::ArrayRef<char> bytes);

} // namespace mp::tool

#endif // MP_TOOLS_RUN_TENSORS_H
