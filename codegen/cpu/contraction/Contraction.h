//===- Contraction.h - generated matrix products on the CPU -----*- C++ -*-===//
//
// Matrix products of any size, type and transposition. A work item is a block
// of C. For each part of k it copies its rows of A and its columns of B into
// scratch, converted to the accumulator's type and B in panels of a few
// registers' width, and adds register tiles to its sums; then it rounds.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_CONTRACTION_CONTRACTION_H
#define MP_CODEGEN_CPU_CONTRACTION_CONTRACTION_H

#include "codegen/cpu/Emit.h"
#include "codegen/stages/ContractionSpec.h"

namespace mp::cpu {

using mp::ContractionSpec;

/// Emits a contraction over the kernel arguments a, b, [bias] and the result c.
///
/// The sum runs in f32 where a, b are floats of at most 32 bits, in f64 for
/// f64, in i32 for integers (i64 where one is of 64 bits); bias and relu are
/// applied there; then one rounding to c's type. Each element is the sum, in
/// order, of parts of at most 128 steps of k, each summed from 0 in order:
/// rounding errors grow with a part's length and with the number of parts, not
/// with k. Where there is a unit for tiles (MatrixTiles.h), products of bf16
/// are sums of pairs, or of the even and the odd elements of 32 steps. A few
/// rows times lines of B are summed as they lie (RowProduct.h). A step is an
/// fma if the target has the instruction, so the bits are the same on all such
/// targets, for any number of threads and any split of a launch. `workers` is
/// the expected number of threads that share the work. A b that is kept between
/// products is prepared by a launch of its own. Fails with a diagnostic at an
/// unknown location for types it does not take.
mlir::FailureOr<EmittedKernel> emitContraction(mlir::MLIRContext *context,
                                               const ContractionSpec &spec,
                                               unsigned workers,
                                               ObjectCompiler &compiler);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONTRACTION_CONTRACTION_H
