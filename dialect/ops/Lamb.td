//===- Lamb.td - LAMB --------------------------------------*- tablegen -*-===//
#ifndef MP_OPS_LAMB_TD
#define MP_OPS_LAMB_TD

include "dialect/UpdateRules.td"

def Mp_LambAttr : Mp_OptimizerAttr<"Lamb", "lamb", (ins Mp_NotNegative<"1e-3">:$lr, Mp_Fraction<"0.9">:$beta1,
    Mp_Fraction<"0.999">:$beta2, Mp_NotNegative<"1e-6">:$eps, Mp_NotNegative<"1e-2">:$weight_decay)> {
  let summary = "LAMB (You et al., arXiv 1904.00962, algorithm 2)";
  let description = [{
    Each tensor moves in the direction of `mp.lamb_direction`, by the learning rate times the norm of the
    tensor. If the norm of the tensor or of the direction is zero, it moves by the learning rate times the
    direction. The norm is not bounded: the paper's phi is the identity.

    `betas = (b1, b2)` is short for `beta1 = b1, beta2 = b2`.

    Example: `#mp.lamb<lr = 2.0e-3, weight_decay = 1.0e-2>`
  }];
}

def Mp_LambDirectionOp : Mp_OptimizerOp<"lamb_direction", Mp_LambAttr,
    (ins Mp_StateTensor:$parameter, Mp_StateTensor:$gradient, Mp_StateTensor:$exp_avg, Mp_StateTensor:$exp_avg_sq),
    (ins Mp_ScalarOf<F32>:$correction1, Mp_ScalarOf<F32>:$correction2)> {
  let summary = "direction of a step of LAMB, before it is scaled to its length";
  let description = [{
    The direction is Adam's step, bias-corrected and without learning rate, plus weight decay times the
    parameter. `correction1` and `correction2` are 1 - beta^step. The results are the direction and both new
    moments.

    Example:
    ```mlir
    %u, %m1, %v1 = mp.lamb_direction<weight_decay = 0> %p, %g, %m, %v, %c1, %c2
        : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>
    ```
  }];
  let results = (outs Mp_StateTensor:$direction, Mp_StateTensor:$new_exp_avg, Mp_StateTensor:$new_exp_avg_sq);
}

#endif // MP_OPS_LAMB_TD
