//===- Tensors.h - inputs and results of mp-run run -----------------------===//
#ifndef MP_TOOLS_RUN_TENSORS_H
#define MP_TOOLS_RUN_TENSORS_H

#include "runtime/data/Array.h"
#include "llvm/Support/raw_ostream.h"

namespace mp::tool {

/// The format that a file's name stands for; npy where it says nothing.
llvm::StringRef formatOf(llvm::StringRef path);

/// The inputs of an entry point: the arrays, or where there is none the number
/// that `given` spells. Errors: another count, type or shape; a value out of
/// range.
llvm::Expected<std::vector<Array>>
bindInputs(const Entry &entry, llvm::ArrayRef<std::string> given,
           llvm::ArrayRef<std::optional<Array>> arrays);

/// Prints "name: 2x3xf32 = [[1, 2, 3], [4, 5, 6]]"; of a large tensor the head.
void printTensor(llvm::raw_ostream &os, llvm::StringRef name,
                 const TensorType &type, llvm::ArrayRef<char> bytes);

} // namespace mp::tool

#endif // MP_TOOLS_RUN_TENSORS_H
