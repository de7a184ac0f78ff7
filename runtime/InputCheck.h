//===- InputCheck.h - whether a run can be given its inputs ---------------===//
//
// Kernels read as many bytes as the entry point declares, and what indexes into
// a row does so unasked: whoever hands inputs over is checked here first.
// Nothing here allocates unless there is an error.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_INPUTCHECK_H
#define MP_RUNTIME_INPUTCHECK_H

#include "runtime/TensorView.h"
#include "llvm/Support/Error.h"

namespace mp {

/// The first element outside of input.range that is not input.exempt.
std::optional<int64_t> firstOutside(const Input &input, const TensorView &view);

/// "0 to 9 or -100": what `input.range` allows.
std::string rangeText(const Input &input);

/// An error unless the inputs are as many as the entry point takes, and each
/// has its type and size. It names the input, what it is and what is expected.
llvm::Error checkSizes(const Entry &entry, llvm::ArrayRef<TensorView> inputs);

/// An error where an element is outside of its input's range. The sizes are
/// right.
llvm::Error checkRanges(const Entry &entry, llvm::ArrayRef<TensorView> inputs);

} // namespace mp

#endif // MP_RUNTIME_INPUTCHECK_H
