//===- PoolingShape.h - pools, for any target -------------------*- C++ -*-===//
//
// The ops of dialect/ops/Pooling.td as loops. Images are dense: [images,
// height, width, channels].
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_STAGES_POOLINGSHAPE_H
#define MP_CODEGEN_STAGES_POOLINGSHAPE_H

#include "dialect/PoolingRules.h"
#include "dialect/ops/Pooling.h"

namespace mp {

struct Pool {
  /// What a loop makes of the elements of a place, or, in the gradients, of the
  /// places of an element.
  enum class Loop {
    Max,      ///< the largest element
    Index,    ///< its number
    At,       ///< the element of a given number
    Mean,     ///< the mean
    MaxBack,  ///< the gradients of places whose number is the element's
    MeanBack, ///< the parts of the gradients of places
  };
  Loop loop;
  int64_t images, channels;
  PoolDims dims; ///< height and width
  bool countsPadding = true;

  bool isBackward() const {
    return loop == Loop::MaxBack || loop == Loop::MeanBack;
  }
  /// Whether the second operand is an index.
  bool takesIndex() const { return loop == Loop::At || loop == Loop::MaxBack; }
  /// Whether numbers of taps are compared or kept.
  bool numbersTaps() const { return takesIndex() || loop == Loop::Index; }
  /// How many elements each place's mean counts, or 0 if they differ.
  int64_t countedByAll() const {
    return dims[0].countedByAll(countsPadding) *
           dims[1].countedByAll(countsPadding);
  }
};

/// The pool of an op of the family.
Pool poolOf(mlir::Operation *op);

} // namespace mp

#endif // MP_CODEGEN_STAGES_POOLINGSHAPE_H
