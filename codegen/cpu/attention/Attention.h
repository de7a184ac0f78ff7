//===- Attention.h - generated attention on the CPU -------------*- C++ -*-===//
//
// Scores exist for a block of queries and keys at a time, in scratch. Operands
// are read from where projections left their heads, and converted to the
// accumulator's type as they are packed. Sums are in f32 (f64 for f64).
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_ATTENTION_ATTENTION_H
#define MP_CODEGEN_CPU_ATTENTION_ATTENTION_H

#include "codegen/cpu/layout/Layout.h"
#include "codegen/stages/AttentionShape.h"

namespace mp::cpu {

/// Operands that say which keys are looked at, and which weights are kept.
struct AttentionMasks {
  std::optional<LayoutTensor> mask, lengths, slopes, dropoutKey;
};

struct AttentionTensors {
  LayoutTensor query, key, value;
  AttentionMasks masks;
  std::optional<LayoutTensor> result, logSumExp; ///< those that are used
};

/// A work item is a head with some of its queries. Keys are taken in blocks,
/// with the largest score so far, so the result does not depend on how queries
/// are shared out to `workers`.
mlir::LogicalResult emitAttention(const AttentionShape &shape,
                                  const AttentionTensors &tensors,
                                  unsigned workers, ObjectCompiler &compiler,
                                  EmittedKernel &kernel);

struct AttentionGradientTensors {
  LayoutTensor gradient, query, key, value, logSumExp, delta;
  AttentionMasks masks;
  std::optional<LayoutTensor> queryGradient, keyGradient, valueGradient;
};

/// A work item is a group with all of its heads, whose gradients it sums in
/// scratch in one pass over blocks of keys.
mlir::LogicalResult
emitAttentionGradient(const AttentionShape &shape,
                      const AttentionGradientTensors &tensors,
                      ObjectCompiler &compiler, EmittedKernel &kernel);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_ATTENTION_ATTENTION_H
