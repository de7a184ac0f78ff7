//===- Contraction.h - matrix products on CUDA ------------------*- C++ -*-===//
//
// A product is one kernel: its sums, the stages after it that Epilogue takes
// in, and the block's parts of reductions. If several blocks share k, a second
// kernel adds the shares and has the stages; if several blocks have a part of a
// reduction, one more combines them. The GemmConfig and the shape decide every
// order of additions.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CUDA_CONTRACTION_CONTRACTION_H
#define MP_CODEGEN_CUDA_CONTRACTION_CONTRACTION_H

#include "codegen/cuda/KernelModel.h"
#include "codegen/stages/ContractionSpec.h"

namespace mp::cuda {

/// Returns how many of the stages after an anchor that is `spec` go into its
/// kernel.
///
/// cuBLASLt gets none: its ReLU turns a NaN into zero, by which an overflow
/// would go unseen, and it keeps no value from before an activation.
unsigned acceptedStages(mlir::Operation *anchor, StageList stages,
                        const ContractionSpec &spec,
                        const EmitOptions &options);

/// Emits an anchor that is `spec`, over the kernel arguments that are its
/// operands a, b, [bias], and the stages after it, all of them accepted.
///
/// Sums are in f32 where elements are floats of at most 32 bits, in f64 for
/// f64, and wrap for integers, in i32 or i64; the bias is added there; then one
/// rounding to c's type, and stages see the rounded value. The call of cuBLASLt
/// does the same; it is chosen if the plan says so, the library is there, and
/// the bias, if any, has c's type. Fails with a diagnostic for types that no
/// kernel takes.
llvm::FailureOr<EmittedKernel> emitContraction(mlir::Operation *anchor,
                                               StageList stages,
                                               const ContractionSpec &spec,
                                               const EmitOptions &options,
                                               KernelStore &store);

/// Returns the type of elements in a Program, or nothing if it cannot hold them
/// or they are booleans.
std::optional<ElementType> elementOf(mlir::Type type);

/// Returns the shape under which a plan knows a product, or nothing if a
/// Program cannot hold the type. One matrix B for a batch makes the batch rows
/// of A.
std::optional<GemmShape> gemmShapeOf(const ContractionSpec &spec);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_CONTRACTION_CONTRACTION_H
