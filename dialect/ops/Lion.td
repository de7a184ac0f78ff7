//===- Lion.td - Lion --------------------------------------*- tablegen -*-===//
#ifndef MP_OPS_LION_TD
#define MP_OPS_LION_TD

include "dialect/UpdateRules.td"

def Mp_LionAttr : Mp_OptimizerAttr<"Lion", "lion", (ins Mp_NotNegative<"1e-4">:$lr, Mp_Fraction<"0.9">:$beta1,
    Mp_Fraction<"0.99">:$beta2, Mp_NotNegative<"0">:$weight_decay), Mp_Bounded> {
  let summary = "Lion (Chen et al., arXiv 2302.06675, algorithm 2)";
  let description = [{
    `betas = (b1, b2)` is short for `beta1 = b1, beta2 = b2`.

    Example: `#mp.lion<lr = 1.0e-4, betas = (0.95, 0.98), weight_decay = 1.0e-2>`
  }];
}

def Mp_LionOp : Mp_OptimizerOp<"lion", Mp_LionAttr,
    (ins Mp_StateTensor:$parameter, Mp_StateTensor:$gradient, Mp_StateTensor:$exp_avg),
    (ins Mp_ScalarOf<F32>:$learning_rate)> {
  let summary = "one step of Lion";
  let description = [{
    Every element moves by the learning rate, against the sign of an average of gradient and momentum. The
    sign of zero and of NaN is zero, as in `torch.sign`. Weight decay is applied separately. The results are
    the new parameter and the new momentum.

    Example:
    ```mlir
    %p1, %m1 = mp.lion<weight_decay = 1.0e-2> %p, %g, %m, %lr
        : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>
    ```
  }];
  let results = (outs Mp_StateTensor:$new_parameter, Mp_StateTensor:$new_exp_avg);
}

#endif // MP_OPS_LION_TD
