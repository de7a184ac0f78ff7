//===- Optimizer.td - update rules ------------------------*- tablegen -*-===//
#ifndef MP_OPS_OPTIMIZER_TD
#define MP_OPS_OPTIMIZER_TD

include "dialect/MpBase.td"

class Mp_UpdateOp<string mnemonic> : Mp_ElementwiseOp<mnemonic> {
  let notDifferentiable = "it is the end of a step";
}

def Mp_SgdOp : Mp_UpdateOp<"sgd"> {
  let summary = "one step of stochastic gradient descent";
  let description = [{
    `torch.optim.SGD`: decay is added to the gradient; the first step (`step` = 1) sets the
    momentum buffer to the gradient. Yields the new parameter and the new buffer; without
    momentum there is no buffer.

    Example:
    ```mlir
    %p1, %m1 = mp.sgd %p, %g, %lr, %step, %m {momentum = 9.0e-1}
        : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<4xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64]>:$parameter, RankedTensorOf<[F32, F64]>:$gradient,
    Mp_ScalarOf<F32>:$learning_rate, Mp_ScalarOf<I64>:$step, Optional<RankedTensorOf<[F32, F64]>>:$buffer,
    DefaultValuedAttr<F64Attr, "0.0">:$momentum, DefaultValuedAttr<F64Attr, "0.0">:$dampening,
    DefaultValuedAttr<F64Attr, "0.0">:$weight_decay, UnitAttr:$nesterov);
  let results = (outs RankedTensorOf<[F32, F64]>:$new_parameter, Optional<RankedTensorOf<[F32, F64]>>:$new_buffer);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $learning_rate `,` $step (`,` $buffer^)? attr-dict `:`
    type($parameter) `,` type($gradient) `,` type($learning_rate) `,` type($step) (`,` type($buffer)^)?
  }];
  let hasVerifier = 1;
}

def Mp_BiasCorrectionOp : Mp_UpdateOp<"bias_correction"> {
  let summary = "1 - beta^step, computed in f64";
  let description = [{
    Adam's correction of a moment that started at zero. In f32 the power of a beta near
    one would lose what the subtraction leaves.

    Example: `%c = mp.bias_correction %step {beta = 9.99e-1} : tensor<i64>`
  }];
  let arguments = (ins Mp_ScalarOf<I64>:$step, F64Attr:$beta);
  let results = (outs Mp_ScalarOf<F32>:$result);
  let assemblyFormat = "$step attr-dict `:` type($step)";
}

def Mp_AdamWOp : Mp_UpdateOp<"adamw"> {
  let summary = "one step of AdamW";
  let description = [{
    `torch.optim.AdamW` (Loshchilov and Hutter, arXiv 1711.05101): `correction1` and
    `correction2` are 1 - beta^step. Yields the new parameter and both moments.

    Example:
    ```mlir
    %p1, %m1, %v1 = mp.adamw %p, %g, %m, %v, %lr, %c1, %c2 {weight_decay = 1.0e-2}
        : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64]>:$parameter, RankedTensorOf<[F32, F64]>:$gradient,
    RankedTensorOf<[F32, F64]>:$exp_avg, RankedTensorOf<[F32, F64]>:$exp_avg_sq,
    Mp_ScalarOf<F32>:$learning_rate, Mp_ScalarOf<F32>:$correction1, Mp_ScalarOf<F32>:$correction2,
    DefaultValuedAttr<F64Attr, "0.9">:$beta1, DefaultValuedAttr<F64Attr, "0.999">:$beta2,
    DefaultValuedAttr<F64Attr, "1e-8">:$eps, DefaultValuedAttr<F64Attr, "1e-2">:$weight_decay);
  let results = (outs RankedTensorOf<[F32, F64]>:$new_parameter, RankedTensorOf<[F32, F64]>:$new_exp_avg,
    RankedTensorOf<[F32, F64]>:$new_exp_avg_sq);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $exp_avg `,` $exp_avg_sq `,` $learning_rate `,` $correction1 `,`
    $correction2 attr-dict `:` type($parameter) `,` type($gradient) `,` type($exp_avg) `,`
    type($exp_avg_sq) `,` type($learning_rate) `,` type($correction1) `,` type($correction2)
  }];
}

#endif // MP_OPS_OPTIMIZER_TD
