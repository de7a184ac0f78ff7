//===- Sgd.td - stochastic gradient descent ----------------*- tablegen -*-===//
#ifndef MP_OPS_SGD_TD
#define MP_OPS_SGD_TD

include "dialect/UpdateRules.td"

def Mp_SgdAttr : Mp_OptimizerAttr<"Sgd", "sgd", (ins Mp_NotNegative<"1e-3">:$lr, Mp_NotNegative<"0">:$momentum,
    Mp_AnyNumber<"0">:$dampening, Mp_NotNegative<"0">:$weight_decay, Mp_Switch:$nesterov, Mp_Switch:$sparse),
    Mp_Bounded> {
  let summary = "stochastic gradient descent, with torch.optim.SGD's arguments";
  let description = [{
    With `sparse`, only the rows of a table that a batch gathers are updated: see mp-sparse-gradients.

    Example: `#mp.sgd<lr = 1.0e-1, momentum = 9.0e-1, nesterov = true>`, `#mp.sgd<lr = 1.0e-1, sparse = true>`
  }];
  let invariant = [{
      if (nesterov && (double(momentum) <= 0 || double(dampening) != 0))
        return emitError() << "nesterov needs a momentum and no dampening";
      if (sparse && (double(momentum) != 0 || double(weight_decay) != 0))
        return emitError() << "sparse has neither momentum nor weight_decay, which change rows that a batch does not "
                              "use";}];
}

def Mp_SgdOp : Mp_OptimizerOp<"sgd", Mp_SgdAttr, (ins Mp_StateTensor:$parameter, Mp_StateTensor:$gradient),
    (ins Mp_ScalarOf<F32>:$learning_rate, Mp_ScalarOf<I64>:$step), (ins), (ins Optional<Mp_StateTensor>:$buffer)> {
  let summary = "one step of stochastic gradient descent";
  let description = [{
    The op is `torch.optim.SGD`. Weight decay is added to the gradient. The first step (`step` = 1) sets the
    momentum buffer to the gradient. The results are the new parameter and the new buffer. Without momentum
    there is no buffer.

    Example:
    ```mlir
    %p1, %m1 = mp.sgd<momentum = 9.0e-1> %p, %g, %lr, %step, %m
        : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<4xf32>
    ```
  }];
  let results = (outs Mp_StateTensor:$new_parameter, Optional<Mp_StateTensor>:$new_buffer);
}

#endif // MP_OPS_SGD_TD
