//===- ConvolutionForm.h - a convolution as a product -----------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_CONVOLUTION_CONVOLUTIONFORM_H
#define MP_CODEGEN_CUDA_CONVOLUTION_CONVOLUTIONFORM_H

#include "codegen/cuda/contraction/ContractionSource.h"
#include "codegen/cuda/convolution/ConvolutionSizes.h"
#include "codegen/stages/ContractionSpec.h"

namespace mp::cuda {

/// A convolution's sizes and types, whichever of the three ops computes it.
class ConvolutionForm {
public:
  explicit ConvolutionForm(mlir::Operation *anchor);

  /// Their type is f32 if a Program cannot hold that of the operands.
  const ConvolutionSizes &sizes() const { return convolution; }
  /// Returns `sizes().product()` with the op's types.
  ContractionSpec product() const;
  /// Returns how the kernels see it. `shape` is that of `product`.
  ProductForm form(const GemmShape &shape) const;
  /// Returns a size or number that kernels cannot count to; 0 if there is none.
  int64_t beyondKernels() const;

private:
  ConvolutionSizes convolution;
  mlir::Type type, resultType;
  std::optional<mlir::Type> bias;
};

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_CONVOLUTION_CONVOLUTIONFORM_H
