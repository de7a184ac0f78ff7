//===- Lamb.td - LAMB -------------------------------------*- tablegen -*-===//
#ifndef MP_OPS_LAMB_TD
#define MP_OPS_LAMB_TD

include "dialect/UpdateRules.td"

def Mp_LambAttr : Mp_OptimizerAttr<"Lamb", "lamb", (ins "::mp::Number":$lr, "::mp::Number":$beta1,
    "::mp::Number":$beta2, "::mp::Number":$eps, "::mp::Number":$weight_decay)> {
  let summary = "LAMB (You et al., arXiv 1904.00962, algorithm 2)";
  let description = [{
    Each tensor moves in the direction of `mp.lamb_direction`, by the learning rate times the norm of the
    tensor. If the norm of the tensor or of the direction is zero, it moves by the learning rate times the
    direction. The norm is not bounded: the paper's phi is the identity.

    `betas = (b1, b2)` is short for `beta1 = b1, beta2 = b2`.

    Example: `#mp.lamb<lr = 2.0e-3, weight_decay = 1.0e-2>`
  }];
}

def Mp_LambDirectionOp : Mp_UpdateOp<"lamb_direction"> {
  let summary = "direction of a step of LAMB, before it is scaled to its length";
  let description = [{
    The direction is Adam's step, bias-corrected and without learning rate, plus weight decay times the
    parameter. `correction1` and `correction2` are 1 - beta^step. The results are the direction and both new
    moments.

    Example:
    ```mlir
    %u, %m1, %v1 = mp.lamb_direction %p, %g, %m, %v, %c1, %c2 {weight_decay = 1.0e-2}
        : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>
    ```
  }];
  let arguments = (ins Mp_StateTensor:$parameter, Mp_StateTensor:$gradient,
    Mp_StateTensor:$exp_avg, Mp_StateTensor:$exp_avg_sq,
    Mp_ScalarOf<F32>:$correction1, Mp_ScalarOf<F32>:$correction2,
    DefaultValuedAttr<F64Attr, "0.9">:$beta1, DefaultValuedAttr<F64Attr, "0.999">:$beta2,
    DefaultValuedAttr<F64Attr, "1e-6">:$eps, DefaultValuedAttr<F64Attr, "1e-2">:$weight_decay);
  let results = (outs Mp_StateTensor:$direction, Mp_StateTensor:$new_exp_avg, Mp_StateTensor:$new_exp_avg_sq);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $exp_avg `,` $exp_avg_sq `,` $correction1 `,` $correction2 attr-dict `:`
    type($parameter) `,` type($gradient) `,` type($exp_avg) `,` type($exp_avg_sq) `,`
    type($correction1) `,` type($correction2)
  }];
}

#endif // MP_OPS_LAMB_TD
