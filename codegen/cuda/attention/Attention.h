//===- Attention.h - attention on CUDA --------------------------*- C++ -*-===//
//
// For f16 and bf16 up to a depth and a width of 128, instances of
// kernels/attention-wgmma.cuh on sm_90, unless heads are narrow, and of
// kernels/attention-half.cuh. For all else, of kernels/attention-any.cuh.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CUDA_ATTENTION_ATTENTION_H
#define MP_CODEGEN_CUDA_ATTENTION_ATTENTION_H

#include "codegen/cuda/Arch.h"
#include "codegen/cuda/layout/Layout.h"
#include "codegen/stages/AttentionShape.h"

namespace mp::cuda {

/// Operands that say which keys are looked at, and which weights are kept.
struct AttentionMasks {
  std::optional<LayoutTensor> mask, lengths, slopes, dropoutKey;
};

struct AttentionTensors {
  LayoutTensor query, key, value;
  AttentionMasks masks;
  std::optional<LayoutTensor> result, logSumExp; ///< those that are used
};

void emitAttention(const AttentionShape &shape, const AttentionTensors &tensors,
                   const Arch &arch, KernelStore &store, EmittedKernel &kernel);

struct AttentionGradientTensors {
  LayoutTensor gradient, query, key, value, logSumExp, delta;
  AttentionMasks masks;
  std::optional<LayoutTensor> queryGradient, keyGradient, valueGradient;
};

/// Emits a launch for the gradient of the query, and one for those of key and
/// value, or for each of them where heads are deep: each sums in an order of
/// its own, with nothing added atomically.
void emitAttentionGradient(const AttentionShape &shape,
                           const AttentionGradientTensors &tensors,
                           const Arch &arch, KernelStore &store,
                           EmittedKernel &kernel);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_ATTENTION_ATTENTION_H
