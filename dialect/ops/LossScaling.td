//===- LossScaling.td - loss scaling -----------------------*- tablegen -*-===//
#ifndef MP_OPS_LOSSSCALING_TD
#define MP_OPS_LOSSSCALING_TD

include "dialect/MpBase.td"

def Mp_SeedOp : Mp_Op<"seed", [Pure, DeclareOpInterfaceMethods<ScalarOpInterface>]> {
  let summary = "derivative of a loss with respect to itself: one";
  let description = [{
    The backward pass of a step begins with this op, and loss scaling multiplies it. `mp.gradient` begins with
    a constant instead, because its result is a value of the forward graph.

    Example: `%s = mp.seed : tensor<f32>`
  }];
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Mp_ScaleOp : Mp_ElementwiseOp<"scale"> {
  let typeRule = Mp_InferFirst;
  let summary = "product with the loss scale";
  let description = [{
    Example: `%r = mp.scale %seed, %scale : tensor<f32>, tensor<f32>`
  }];
  let arguments = (ins Mp_FloatTensor:$input, Mp_ScalarOf<F32>:$scale);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$input `,` $scale attr-dict `:` type($input) `,` type($scale)";
}

def Mp_UnscaleAndCheckOp : Mp_CompositeOp<"unscale_and_check"> {
  let summary = "gradient divided by the loss scale in f32, and whether any element is not finite";
  let description = [{
    As in PyTorch's GradScaler, every element is multiplied by float32(1 / float64(scale)). The check examines
    the product. It is not finite if the gradient is not finite, or if the division by a scale below 1
    overflows.

    Example: `%g, %bad = mp.unscale_and_check %h, %scale : tensor<4xf16>, tensor<f32>`
  }];
  let notDifferentiable = "it is the end of backward";
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_ScalarOf<F32>:$scale);
  let results = (outs RankedTensorOf<[F32, F64]>:$unscaled, Mp_ScalarOf<I1>:$found_inf);
  let assemblyFormat = "$gradient `,` $scale attr-dict `:` type($gradient) `,` type($scale)";
}

def Mp_InverseScaleOp : Mp_ElementwiseOp<"inverse_scale"> {
  let typeRule = Mp_InferFirst;
  let summary = "float32(1 / float64(scale))";
  let description = [{Example: `%i = mp.inverse_scale %scale : tensor<f32>`}];
  let notDifferentiable = "it is the end of backward";
  let arguments = (ins Mp_ScalarOf<F32>:$scale);
  let results = (outs Mp_ScalarOf<F32>:$result);
  let assemblyFormat = "$scale attr-dict `:` type($scale)";
}

def Mp_ScaleGradientOp : Mp_ElementwiseOp<"scale_gradient"> {
  let typeRule = Mp_InferFirst;
  let summary = "identity whose gradient is multiplied by a power of two";
  let description = [{
    `mp-synthesize-scales` uses the op to give a gradient a scale of its own. The gradient that arrives is
    multiplied by 2^`exponent`, which is exact unless it overflows or underflows. mp-autodiff removes the op
    and leaves an `mp.scale` in the backward graph.

    Example: `%r = mp.scale_gradient %x by 3 : tensor<4xf16>`
  }];
  let arguments = (ins Mp_FloatTensor:$input, I64Attr:$exponent);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$input `by` $exponent attr-dict `:` type($input)";
  let hasVerifier = 1;
}

#endif // MP_OPS_LOSSSCALING_TD
