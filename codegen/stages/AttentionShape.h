//===- AttentionShape.h - attention, for any target -------------*- C++ -*-===//
#ifndef MP_CODEGEN_STAGES_ATTENTIONSHAPE_H
#define MP_CODEGEN_STAGES_ATTENTIONSHAPE_H

#include "dialect/ops/Attention.h"

namespace mp {

/// The sizes of an attention, and which keys its queries look at.
struct AttentionShape {
  int64_t batch, tokens, heads, depth; ///< of the query
  int64_t keys, groups, width;         ///< of key and value
  double scale;
  int64_t offset; ///< query i is at the place of key `i + offset`
  bool causal;
  std::optional<int64_t> window;
  /// Distances of neighbours in the mask, in elements: of batch, head, token
  /// and key; 0 where it is broadcast.
  std::optional<std::array<int64_t, 4>> mask;
  std::optional<double> dropout; ///< the probability that a weight is dropped

  int64_t headsInGroup() const { return heads / groups; }
  /// A query at place p, which is its index plus `offset`, looks at keys from
  /// `p - reachBack()` on, and at none after `p + reachAhead()`. Nothing where
  /// there is no such bound.
  std::optional<int64_t> reachBack() const {
    return window ? std::optional(*window - 1) : std::nullopt;
  }
  std::optional<int64_t> reachAhead() const {
    return causal ? std::optional<int64_t>(0) : reachBack();
  }
  /// Floating-point operations of `products` products of scores and values;
  /// pairs that no query looks at are not counted.
  uint64_t flops(unsigned products) const;
};

AttentionShape shapeOf(ScaledDotProductAttentionOp op);
AttentionShape shapeOf(ScaledDotProductAttentionBackwardOp op);

} // namespace mp

#endif // MP_CODEGEN_STAGES_ATTENTIONSHAPE_H
