//===- InputCheck.h - checks the inputs of a run --------------------------===//
//
// Kernels read as many bytes as the entry point declares, and do not check the
// indices that they find in inputs. So inputs are checked here before a run.
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

/// Fails unless there are as many inputs as the entry point takes, each with
/// its type and size. The error names the input, what it is and what is
/// expected.
llvm::Error checkSizes(const Entry &entry, llvm::ArrayRef<TensorView> inputs);

/// Fails if an element lies outside its input's range. Sizes must have been
/// checked before.
llvm::Error checkRanges(const Entry &entry, llvm::ArrayRef<TensorView> inputs);

} // namespace mp

#endif // MP_RUNTIME_INPUTCHECK_H
