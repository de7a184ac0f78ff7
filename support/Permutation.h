//===- Permutation.h - dimensions in another order --------------*- C++ -*-===//
//
// A permutation lists dimensions: number i of the result is number dims[i] of
// what is permuted, as in torch.permute and mp.transpose.
//
//===----------------------------------------------------------------------===//
#ifndef MP_SUPPORT_PERMUTATION_H
#define MP_SUPPORT_PERMUTATION_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mp {

/// Returns why `dims` does not permute so many dimensions, for a message that
/// begins with their name; "" if it does.
std::string whyNotPermutation(llvm::ArrayRef<int64_t> dims, int64_t rank);

/// Whether the permutation leaves everything where it is.
bool isIdentity(llvm::ArrayRef<int64_t> dims);

/// Returns `sizes` in the order of the permutation. No `dims` at all leave the
/// order as it is.
std::vector<int64_t> permuted(llvm::ArrayRef<int64_t> sizes,
                              llvm::ArrayRef<int64_t> dims);

/// Returns the permutation that undoes this one.
std::vector<int64_t> inverse(llvm::ArrayRef<int64_t> dims);

/// Returns "[0, 3, 1, 2]".
std::string dimsText(llvm::ArrayRef<int64_t> dims);

} // namespace mp

#endif // MP_SUPPORT_PERMUTATION_H
