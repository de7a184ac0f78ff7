//===- Convolution.h - generated convolutions on the CPU --------*- C++ -*-===//
//
// A convolution is a sum of matrix products over shifted views of the images.
// None of them is unfolded in memory: a tile of neighbouring places, of all
// channels that fit in registers, is summed over the taps, and taps that fall
// into the padding are left out. 16-bit images are widened row by row in
// scratch.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_CONVOLUTION_CONVOLUTION_H
#define MP_CODEGEN_CPU_CONVOLUTION_CONVOLUTION_H

#include "codegen/cpu/layout/Layout.h"
#include "codegen/stages/ConvolutionShape.h"

namespace mp::cpu {

/// The tensors of a convolution, and what is done before the one rounding.
struct ConvolutionTensors {
  LayoutTensor source, weight, result;
  std::optional<LayoutTensor> bias;
  bool relu = false;
};

/// Emits two launches: the first arranges the weight as the second reads it.
mlir::LogicalResult emitConvolution(const SlidingProduct &product,
                                    const ConvolutionTensors &tensors,
                                    unsigned workers, ObjectCompiler &compiler,
                                    EmittedKernel &kernel);

/// The gradient of a weight, from the source and from the gradient of the
/// result. Sums parts of the batch, given by the shape alone, and then these.
mlir::LogicalResult
emitWeightGradient(const SlidingProduct &product, const LayoutTensor &source,
                   const LayoutTensor &gradient, const LayoutTensor &result,
                   ObjectCompiler &compiler, EmittedKernel &kernel);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONVOLUTION_CONVOLUTION_H
