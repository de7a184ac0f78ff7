//===- Optimizer.td - what all optimizers share ------------*- tablegen -*-===//
#ifndef MP_OPS_OPTIMIZER_TD
#define MP_OPS_OPTIMIZER_TD

include "dialect/UpdateRules.td"

def Mp_BiasCorrectionOp : Mp_UpdateOp<"bias_correction"> {
  let typeRule = "";
  let summary = "1 - beta^step, computed in f64";
  let description = [{
    The result is Adam's correction of a moment that started at zero. In f32, the power of a beta near one
    would be rounded too much for the subtraction.

    Example: `%c = mp.bias_correction %step {beta = 9.99e-1} : tensor<i64>`
  }];
  let arguments = (ins Mp_ScalarOf<I64>:$step, F64Attr:$beta);
  let results = (outs Mp_ScalarOf<F32>:$result);
  let assemblyFormat = "$step attr-dict `:` type($step)";
}

def Mp_EmaOp : Mp_UpdateOp<"ema"> {
  let typeRule = "";
  let summary = "one step of an exponential moving average";
  let description = [{
    The result is decay * average + (1 - decay) * value, as for `torch.optim.swa_utils.AveragedModel` with
    `get_ema_avg_fn(decay)`. In the first step (`step` = 1) it is the value itself.

    Example: `%a1 = mp.ema %a, %p, %step {decay = 9.99e-1} : tensor<4xf32>, tensor<4xf32>, tensor<i64>`
  }];
  let arguments = (ins Mp_StateTensor:$average, Mp_StateTensor:$value, Mp_ScalarOf<I64>:$step, F64Attr:$decay);
  let results = (outs Mp_StateTensor:$result);
  let assemblyFormat = "$average `,` $value `,` $step attr-dict `:` type($average) `,` type($value) `,` type($step)";
}

def Mp_ClipFactorOp : Mp_UpdateOp<"clip_factor"> {
  let typeRule = Mp_InferFirst;
  let summary = "factor that limits the norm of gradients";
  let description = [{
    The result is min(1, max_norm / (norm + 1e-6)), as in `torch.nn.utils.clip_grad_norm_`. For a norm of NaN
    it is NaN.

    Example: `%f = mp.clip_factor %norm {max_norm = 1.0} : tensor<f32>`
  }];
  let arguments = (ins Mp_ScalarOf<F32>:$norm, F64Attr:$max_norm);
  let results = (outs Mp_ScalarOf<F32>:$result);
  let assemblyFormat = "$norm attr-dict `:` type($norm)";
}

#endif // MP_OPS_OPTIMIZER_TD
