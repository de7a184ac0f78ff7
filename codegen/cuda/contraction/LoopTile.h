//===- LoopTile.h - products inside the kernel of a loop --------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_CONTRACTION_LOOPTILE_H
#define MP_CODEGEN_CUDA_CONTRACTION_LOOPTILE_H

#include "codegen/cuda/contraction/Gemm.h"

namespace mp::cuda {

/// How a product of a loop is cut up (kernels/loop.cuh): each block keeps
/// `columns` columns of b.
struct LoopTile {
  static constexpr int threads = 256;

  int columns = 8;
  uint64_t kept = 0;   ///< bytes of shared memory that they take
  uint64_t shared = 0; ///< bytes that sums are staged in

  /// Returns the least tile with which the multiprocessors of an architecture
  /// keep all of b, of whole runs of `width` columns. Returns nothing if they
  /// cannot, or if kernels of loops have no such product.
  static std::optional<LoopTile> choose(const GemmShape &shape, int width,
                                        const Arch &arch);
};

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_CONTRACTION_LOOPTILE_H
