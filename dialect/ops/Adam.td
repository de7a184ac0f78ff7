//===- Adam.td - Adam and AdamW ----------------------------*- tablegen -*-===//
#ifndef MP_OPS_ADAM_TD
#define MP_OPS_ADAM_TD

include "dialect/UpdateRules.td"

class Mp_AdamFamilyAttr<string name, string mnemonic, string decay, dag others = (ins)>
    : Mp_OptimizerAttr<name, mnemonic, !con((ins Mp_NotNegative<"1e-3">:$lr, Mp_Fraction<"0.9">:$beta1,
        Mp_Fraction<"0.999">:$beta2, Mp_NotNegative<"1e-8">:$eps, Mp_NotNegative<decay>:$weight_decay,
        Mp_Switch:$amsgrad), others), Mp_Bounded>;

def Mp_AdamAttr : Mp_AdamFamilyAttr<"Adam", "adam", "0", (ins Mp_Switch:$sparse)> {
  let summary = "Adam, with torch.optim.Adam's arguments: weight decay is part of the gradient";
  let description = [{
    `betas = (b1, b2)` is short for `beta1 = b1, beta2 = b2`. With `sparse`, it is `torch.optim.SparseAdam`: only the
    rows of a table that a batch gathers are updated, with their moments (see mp-sparse-gradients), and `eps` is added
    before the correction of the second moment.

    Example: `#mp.adam<lr = 1.0e-3, betas = (0.9, 0.98), amsgrad = true>`, `#mp.adam<lr = 1.0e-3, sparse = true>`
  }];
  let invariant = [{
      if (sparse && (double(weight_decay) != 0 || amsgrad))
        return emitError() << "sparse, as torch.optim.SparseAdam, has neither weight_decay nor amsgrad";}];
}

def Mp_AdamWAttr : Mp_AdamFamilyAttr<"AdamW", "adamw", "1e-2"> {
  let summary = "AdamW, with torch.optim.AdamW's arguments: weight decay is a separate step";
  let description = [{
    `betas = (b1, b2)` is short for `beta1 = b1, beta2 = b2`.

    Example: `#mp.adamw<lr = 1.0e-3, weight_decay = 1.0e-2>`
  }];
}

class Mp_AdamFamilyOp<string mnemonic, Attr attribute>
    : Mp_OptimizerOp<mnemonic, attribute,
        (ins Mp_StateTensor:$parameter, Mp_StateTensor:$gradient, Mp_StateTensor:$exp_avg, Mp_StateTensor:$exp_avg_sq),
        (ins Mp_ScalarOf<F32>:$learning_rate, Mp_ScalarOf<F32>:$correction1, Mp_ScalarOf<F32>:$correction2),
        (ins), (ins Optional<Mp_StateTensor>:$max_exp_avg_sq)> {
  let results = (outs Mp_StateTensor:$new_parameter, Mp_StateTensor:$new_exp_avg, Mp_StateTensor:$new_exp_avg_sq,
    Optional<Mp_StateTensor>:$new_max_exp_avg_sq);
}

def Mp_AdamOp : Mp_AdamFamilyOp<"adam", Mp_AdamAttr> {
  let summary = "one step of Adam";
  let description = [{
    The op is `torch.optim.Adam` (Kingma and Ba, arXiv 1412.6980). Weight decay is added to the gradient.
    Operands and results are those of `mp.adamw`.

    Example:
    ```mlir
    %p1, %m1, %v1 = mp.adam<weight_decay = 1.0e-4> %p, %g, %m, %v, %lr, %c1, %c2
        : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>
    ```
  }];
}

def Mp_AdamWOp : Mp_AdamFamilyOp<"adamw", Mp_AdamWAttr> {
  let summary = "one step of AdamW";
  let description = [{
    The op is `torch.optim.AdamW` (Loshchilov and Hutter, arXiv 1711.05101). `correction1` and `correction2`
    are 1 - beta^step. The results are the new parameter and both moments. With `max_exp_avg_sq` the op is
    AMSGrad, which divides by the largest second moment so far. This moment is then a result too.

    Example:
    ```mlir
    %p1, %m1, %v1 = mp.adamw<weight_decay = 0> %p, %g, %m, %v, %lr, %c1, %c2
        : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>
    ```
  }];
}

#endif // MP_OPS_ADAM_TD
