//===- Conv2dCall.h - the attributes of a "cudnn.conv2d" call -------------===//
#ifndef MP_RUNTIME_CUDA_CONV2DCALL_H
#define MP_RUNTIME_CUDA_CONV2DCALL_H

#include "program/Program.h"

namespace mp {

/// A convolution of images, or its gradient from one of its operands.
///
/// kind: "forward", whose args are input, weight, [bias], output;
///   "backward_input", gradient, weight, input; "backward_weight", gradient,
///   input, weight. A last argument has `workspace` bytes.
/// input = [images, height, width, channels], weight = [channels of the output,
///   height, width, channels of a group of the input], output = [images,
///   height, width, channels]: sizes of dense tensors in this order.
/// strides, low, high, dilations: [height, width]; low and high are padding.
/// type: that of all tensors, "f32", "f16" or "bf16"; compute: "f32" or "tf32";
/// bias: 0 or 1. Sums are in f32, and so is the bias added; then one rounding.
struct Conv2dCall {
  enum class Kind { Forward, BackwardInput, BackwardWeight };
  Kind kind = Kind::Forward;
  std::vector<int64_t> input, weight, output;
  std::vector<int64_t> strides, low, high, dilations;
  ElementType type = ElementType::F32;
  bool tf32 = false, bias = false;
  int64_t workspace = 0;

  int64_t groups() const { return input[3] / weight[3]; }
  /// "forward f16 8x56x56x64 by 64x3x3x64", for messages.
  std::string str() const;
};

/// Reads and checks the attributes and the number of arguments. Errors name the
/// attribute, and what it must be.
llvm::Expected<Conv2dCall> readConv2d(const Call &call);

} // namespace mp

#endif // MP_RUNTIME_CUDA_CONV2DCALL_H
