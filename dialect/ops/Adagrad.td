//===- Adagrad.td - Adagrad --------------------------------*- tablegen -*-===//
#ifndef MP_OPS_ADAGRAD_TD
#define MP_OPS_ADAGRAD_TD

include "dialect/UpdateRules.td"

def Mp_AdagradAttr : Mp_OptimizerAttr<"Adagrad", "adagrad", (ins Mp_NotNegative<"1e-2">:$lr,
    Mp_NotNegative<"0">:$lr_decay, Mp_NotNegative<"0">:$weight_decay,
    Mp_NotNegative<"0">:$initial_accumulator_value, Mp_NotNegative<"1e-10">:$eps,
    Mp_Switch:$sparse), Mp_Bounded> {
  let summary = "Adagrad, with torch.optim.Adagrad's arguments";
  let description = [{
    With `sparse`, only the rows of a table that a batch gathers are updated: see mp-sparse-gradients.

    Example: `#mp.adagrad<lr = 1.0e-2, initial_accumulator_value = 1.0e-1>`, `#mp.adagrad<sparse = true>`
  }];
  let invariant = [{
      if (sparse && double(weight_decay) != 0)
        return emitError() << "sparse has no weight_decay, which changes rows that a batch does not use";}];
}

def Mp_AdagradOp : Mp_OptimizerOp<"adagrad", Mp_AdagradAttr,
    (ins Mp_StateTensor:$parameter, Mp_StateTensor:$gradient), (ins Mp_ScalarOf<F32>:$learning_rate),
    (ins Mp_StateTensor:$sum)> {
  let summary = "one step of Adagrad";
  let description = [{
    The op is `torch.optim.Adagrad` (Duchi, Hazan and Singer, JMLR 12). It divides the gradient by the square
    root of the sum of all its squares so far. The results are the new parameter and the new sum.

    Example:
    ```mlir
    %p1, %s1 = mp.adagrad<weight_decay = 1.0e-4> %p, %g, %lr, %s
        : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
    ```
  }];
  let results = (outs Mp_StateTensor:$new_parameter, Mp_StateTensor:$new_sum);
}

#endif // MP_OPS_ADAGRAD_TD
