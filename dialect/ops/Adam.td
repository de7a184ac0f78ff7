//===- Adam.td - Adam and AdamW ---------------------------*- tablegen -*-===//
#ifndef MP_OPS_ADAM_TD
#define MP_OPS_ADAM_TD

include "dialect/UpdateRules.td"

class Mp_AdamFamilyAttr<string name, string mnemonic>
    : Mp_OptimizerAttr<name, mnemonic, (ins "::mp::Number":$lr, "::mp::Number":$beta1, "::mp::Number":$beta2,
        "::mp::Number":$eps, "::mp::Number":$weight_decay, "bool":$amsgrad), Mp_Bounded>;

def Mp_AdamAttr : Mp_AdamFamilyAttr<"Adam", "adam"> {
  let summary = "Adam, with torch.optim.Adam's arguments: weight decay is part of the gradient";
  let description = [{
    `betas = (b1, b2)` is short for `beta1 = b1, beta2 = b2`.

    Example: `#mp.adam<lr = 1.0e-3, betas = (0.9, 0.98), amsgrad = true>`
  }];
}

def Mp_AdamWAttr : Mp_AdamFamilyAttr<"AdamW", "adamw"> {
  let summary = "AdamW, with torch.optim.AdamW's arguments: weight decay is a separate step";
  let description = [{
    `betas = (b1, b2)` is short for `beta1 = b1, beta2 = b2`.

    Example: `#mp.adamw<lr = 1.0e-3, weight_decay = 1.0e-2>`
  }];
}

class Mp_AdamFamilyOp<string mnemonic, string decay> : Mp_UpdateOp<mnemonic> {
  let arguments = (ins Mp_StateTensor:$parameter, Mp_StateTensor:$gradient,
    Mp_StateTensor:$exp_avg, Mp_StateTensor:$exp_avg_sq, Mp_ScalarOf<F32>:$learning_rate,
    Mp_ScalarOf<F32>:$correction1, Mp_ScalarOf<F32>:$correction2, Optional<Mp_StateTensor>:$max_exp_avg_sq,
    DefaultValuedAttr<F64Attr, "0.9">:$beta1, DefaultValuedAttr<F64Attr, "0.999">:$beta2,
    DefaultValuedAttr<F64Attr, "1e-8">:$eps, DefaultValuedAttr<F64Attr, decay>:$weight_decay);
  let results = (outs Mp_StateTensor:$new_parameter, Mp_StateTensor:$new_exp_avg, Mp_StateTensor:$new_exp_avg_sq,
    Optional<Mp_StateTensor>:$new_max_exp_avg_sq);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $exp_avg `,` $exp_avg_sq `,` $learning_rate `,` $correction1 `,`
    $correction2 (`,` $max_exp_avg_sq^)? attr-dict `:` type($parameter) `,` type($gradient) `,`
    type($exp_avg) `,` type($exp_avg_sq) `,` type($learning_rate) `,` type($correction1) `,`
    type($correction2) (`,` type($max_exp_avg_sq)^)?
  }];
}

def Mp_AdamOp : Mp_AdamFamilyOp<"adam", "0.0"> {
  let summary = "one step of Adam";
  let description = [{
    The op is `torch.optim.Adam` (Kingma and Ba, arXiv 1412.6980). Weight decay is added to the gradient.
    Operands and results are those of `mp.adamw`.

    Example:
    ```mlir
    %p1, %m1, %v1 = mp.adam %p, %g, %m, %v, %lr, %c1, %c2 {weight_decay = 1.0e-4}
        : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>
    ```
  }];
}

def Mp_AdamWOp : Mp_AdamFamilyOp<"adamw", "1e-2"> {
  let summary = "one step of AdamW";
  let description = [{
    The op is `torch.optim.AdamW` (Loshchilov and Hutter, arXiv 1711.05101). `correction1` and `correction2`
    are 1 - beta^step. The results are the new parameter and both moments. With `max_exp_avg_sq` the op is
    AMSGrad, which divides by the largest second moment so far. This moment is then a result too.

    Example:
    ```mlir
    %p1, %m1, %v1 = mp.adamw %p, %g, %m, %v, %lr, %c1, %c2 {weight_decay = 1.0e-2}
        : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>
    ```
  }];
}

#endif // MP_OPS_ADAM_TD
