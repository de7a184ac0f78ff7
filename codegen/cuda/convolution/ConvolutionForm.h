//===- ConvolutionForm.h - a convolution as a product -----------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_CONVOLUTION_CONVOLUTIONFORM_H
#define MP_CODEGEN_CUDA_CONVOLUTION_CONVOLUTIONFORM_H

#include "codegen/cuda/contraction/ContractionSource.h"
#include "codegen/stages/ContractionSpec.h"
#include "dialect/WindowRules.h"

namespace mp::cuda {

/// A convolution's window and sizes, whichever of the three ops computes it.
class ConvolutionForm {
public:
  enum class Kind { Forward, BackwardInput, BackwardWeight };

  explicit ConvolutionForm(mlir::Operation *anchor);

  /// Whether the product's operands and result are the tensors themselves.
  bool isProduct() const;
  /// Whether rows of the product's result are not rows of its tensor: then no
  /// column of theirs is in one block.
  bool wrapsColumns() const { return kind == Kind::BackwardWeight; }
  /// Whether every channel is a group: kernels sum channel by channel then
  /// (conv-depthwise.cuh).
  bool isDepthwise() const { return groups > 1 && inputs == 1 && outputs == 1; }
  /// Returns the product for each group, and in the gradient of the input, for
  /// each phase of the stride. A depthwise convolution has the channels as its
  /// columns.
  ContractionSpec product() const;
  /// Returns how a depthwise convolution is cut up.
  GemmConfig depthwiseConfig() const;
  /// Returns how the kernels see it. `shape` is that of `product`.
  ProductForm form(const GemmShape &shape) const;
  /// The multiplications and additions, those with padding too.
  uint64_t flops() const;
  /// Returns a size or number that kernels cannot count to; 0 if there is none.
  int64_t beyondKernels() const;

private:
  /// Pixels of the input, by the remainder when divided by the stride.
  int64_t phases(int dim) const;
  /// The most taps that reach a phase.
  int64_t tapsOfPhase(int dim) const;

  Kind kind;
  Window window;
  int64_t images;
  std::array<int64_t, 2> input, output; ///< height and width
  int64_t groups, inputs, outputs;      ///< channels of one group
  bool tf32;
  mlir::Type type, resultType;
  std::optional<mlir::Type> bias;
};

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_CONVOLUTION_CONVOLUTIONFORM_H
