//===- Scaling.td - loss scaling --------------------------*- tablegen -*-===//
#ifndef MP_OPS_SCALING_TD
#define MP_OPS_SCALING_TD

include "dialect/MpBase.td"

def Mp_SeedOp : Mp_Op<"seed", [Pure, DeclareOpInterfaceMethods<ScalarOpInterface>]> {
  let summary = "derivative of a loss with respect to itself: one";
  let description = [{
    Where the backward of a step begins. Loss scaling multiplies it; `mp.gradient` begins
    with a constant instead, since its result is a value of the forward graph.

    Example: `%s = mp.seed : tensor<f32>`
  }];
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Mp_ScaleOp : Mp_ElementwiseOp<"scale"> {
  let summary = "times the loss scale";
  let description = [{Example: `%r = mp.scale %seed, %scale : tensor<f32>, tensor<f32>`}];
  let arguments = (ins Mp_FloatTensor:$input, Mp_ScalarOf<F32>:$scale);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$input `,` $scale attr-dict `:` type($input) `,` type($scale)";
}

def Mp_UnscaleAndCheckOp : Mp_CompositeOp<"unscale_and_check"> {
  let summary = "gradient over the loss scale in f32, and whether any of it is not finite";
  let description = [{
    As PyTorch's GradScaler: every element times float32(1 / float64(scale)). The check
    looks at the gradient as it arrived.

    Example: `%g, %bad = mp.unscale_and_check %h, %scale : tensor<4xf16>, tensor<f32>`
  }];
  let notDifferentiable = "it is the end of backward";
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_ScalarOf<F32>:$scale);
  let results = (outs RankedTensorOf<[F32, F64]>:$unscaled, Mp_ScalarOf<I1>:$found_inf);
  let assemblyFormat = "$gradient `,` $scale attr-dict `:` type($gradient) `,` type($scale)";
}

def Mp_InverseScaleOp : Mp_ElementwiseOp<"inverse_scale"> {
  let summary = "float32(1 / float64(scale))";
  let description = [{Example: `%i = mp.inverse_scale %scale : tensor<f32>`}];
  let notDifferentiable = "it is the end of backward";
  let arguments = (ins Mp_ScalarOf<F32>:$scale);
  let results = (outs Mp_ScalarOf<F32>:$result);
  let assemblyFormat = "$scale attr-dict `:` type($scale)";
}

def Mp_UpdateScaleOp : Mp_ElementwiseOp<"update_scale"> {
  let summary = "loss scale and growth tracker after a step";
  let description = [{
    `torch.amp.GradScaler.update`: after an overflow the scale is multiplied by
    `backoff_factor` and the tracker is cleared; after `growth_interval` clean steps in a
    row it is multiplied by `growth_factor`, unless that is not finite. Products are taken
    in f64 and rounded to f32.

    Example:
    ```mlir
    %s, %t = mp.update_scale %scale, %tracker, %found_inf {growth_interval = 100}
        : tensor<f32>, tensor<i32>, tensor<i1>
    ```
  }];
  let notDifferentiable = "it is the end of a step";
  let arguments = (ins Mp_ScalarOf<F32>:$scale, Mp_ScalarOf<I32>:$growth_tracker, Mp_ScalarOf<I1>:$found_inf,
    DefaultValuedAttr<F64Attr, "2.0">:$growth_factor, DefaultValuedAttr<F64Attr, "0.5">:$backoff_factor,
    DefaultValuedAttr<I64Attr, "2000">:$growth_interval);
  let results = (outs Mp_ScalarOf<F32>:$new_scale, Mp_ScalarOf<I32>:$new_growth_tracker);
  let assemblyFormat = "$scale `,` $growth_tracker `,` $found_inf attr-dict `:` type($scale) `,` type($growth_tracker) `,` type($found_inf)";
}

#endif // MP_OPS_SCALING_TD
