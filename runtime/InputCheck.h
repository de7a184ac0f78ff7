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

/// Returns the first element outside of input.range that is not input.exempt.
std::optional<int64_t> firstOutside(const Input &input, const TensorView &view);

/// Formats the values that `input.range` allows: "0 to 9 or -100".
std::string rangeText(const Input &input);

/// Fails unless the number, types and sizes of the inputs are those that the
/// entry point takes. The error names the input, what it is and what is
/// expected.
llvm::Error checkSizes(const Entry &entry, llvm::ArrayRef<TensorView> inputs);

/// Fails if an element is outside of the range of its input. The sizes must be
/// right.
llvm::Error checkRanges(const Entry &entry, llvm::ArrayRef<TensorView> inputs);

} // namespace mp

#endif // MP_RUNTIME_INPUTCHECK_H
