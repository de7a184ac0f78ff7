//===- PermutedCopy.h - tensors with dimensions reordered -------*- C++ -*-===//
#ifndef MP_RUNTIME_DATA_PERMUTEDCOPY_H
#define MP_RUNTIME_DATA_PERMUTEDCOPY_H

#include "program/Program.h"
#include "llvm/ADT/SmallVector.h"

namespace mp {

/// Copies dense tensors of one type so that their dimensions are in another
/// order. Memory is read and written a cache line at a time, whatever the
/// order.
class PermutedCopy {
public:
  /// The tensors are of `type`. Dimension i of a copy is their dimension
  /// `dims[i]`; without `dims` the order stays.
  PermutedCopy(const TensorType &type, llvm::ArrayRef<int64_t> dims);

  /// Copies one tensor. The two do not overlap, and need not be aligned.
  void operator()(const char *from, char *to) const;

private:
  /// A dimension of the copy, with distances in bytes.
  struct Loop {
    int64_t size, fromStride, toStride;
  };
  void copyInner(const char *from, char *to) const;

  unsigned width;          ///< bytes of an element
  uint64_t contiguous = 0; ///< bytes that stay together; 0: single elements
  /// If elements move singly: the last dimension of the tensors, and that of
  /// the copy.
  Loop across = {}, along = {};
  llvm::SmallVector<Loop, 6> outer; ///< all others
  bool isEmpty = false;
};

/// Copies a tensor of `type`, whose bytes are `from`, to `to`.
void copyPermuted(const TensorType &type, llvm::ArrayRef<int64_t> dims,
                  llvm::ArrayRef<char> from, llvm::MutableArrayRef<char> to);

} // namespace mp

#endif // MP_RUNTIME_DATA_PERMUTEDCOPY_H
