//===- Contraction.h - generated matrix products on the CPU -----*- C++ -*-===//
//
// Matrix products of any size, type and transposition as two launches: one
// packs B into panels of a few registers' width, in the type of the
// accumulator, once for all; the other computes. A work item of the second is a
// block of C: it copies its rows of A into scratch, sums register tiles over
// blocks of k, and rounds.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_CONTRACTION_H
#define MP_CODEGEN_CPU_CONTRACTION_H

#include "codegen/cpu/Emit.h"
#include <optional>

namespace mp::cpu {

/// c = relu?(a b + bias), for each index of the batch dimensions. Tensors are
/// dense and row-major:
///   a [batch, m, k] ([batch, k, m] with transposeA), b [batch, k, n] ([batch,
///   n, k] with transposeB), bias [n], c [batch, m, n].
/// All sizes are at least 1. Elements are floats of up to 64 bits or integers
/// of up to 64, signless or unsigned; a and b are both floats or both integers.
struct ContractionSpec {
  llvm::SmallVector<int64_t> batch;
  int64_t m = 1, n = 1, k = 1;
  mlir::Type a, b, c;
  std::optional<mlir::Type> bias;
  bool transposeA = false, transposeB = false;
  bool broadcastA = false,
       broadcastB = false; ///< one matrix for the whole batch
  bool relu = false;
};

/// Emits a contraction over the kernel arguments a, b, [bias] and the result c.
///
/// The sum runs in f32 where a, b are floats of at most 32 bits, in f64 for
/// f64, in i32 for integers (i64 where one is of 64 bits); bias and relu are
/// applied there; then one rounding to c's type. Each element is summed from 0
/// with k in order, a step fused (`math.fma`) where the target has the
/// instruction, so the bits are the same on all such targets, for any number of
/// threads and any split of a launch. Fails with a diagnostic at an unknown
/// location for types it does not take.
mlir::FailureOr<EmittedKernel> emitContraction(mlir::MLIRContext *context,
                                               const ContractionSpec &spec,
                                               ObjectCompiler &compiler);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONTRACTION_H
