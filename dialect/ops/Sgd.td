//===- Sgd.td - stochastic gradient descent ---------------*- tablegen -*-===//
#ifndef MP_OPS_SGD_TD
#define MP_OPS_SGD_TD

include "dialect/UpdateRules.td"

def Mp_SgdAttr : Mp_OptimizerAttr<"Sgd", "sgd", (ins "::mp::Number":$lr, "::mp::Number":$momentum,
    "::mp::Number":$dampening, "::mp::Number":$weight_decay, "bool":$nesterov), Mp_Bounded> {
  let summary = "stochastic gradient descent, with torch.optim.SGD's arguments";
  let description = [{Example: `#mp.sgd<lr = 1.0e-1, momentum = 9.0e-1, nesterov = true>`}];
}

def Mp_SgdOp : Mp_UpdateOp<"sgd"> {
  let summary = "one step of stochastic gradient descent";
  let description = [{
    The op is `torch.optim.SGD`. Weight decay is added to the gradient. The first step (`step` = 1) sets the
    momentum buffer to the gradient. The results are the new parameter and the new buffer. Without momentum
    there is no buffer.

    Example:
    ```mlir
    %p1, %m1 = mp.sgd %p, %g, %lr, %step, %m {momentum = 9.0e-1}
        : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Mp_StateTensor:$parameter, Mp_StateTensor:$gradient, Mp_ScalarOf<F32>:$learning_rate,
    Mp_ScalarOf<I64>:$step, Optional<Mp_StateTensor>:$buffer,
    DefaultValuedAttr<F64Attr, "0.0">:$momentum, DefaultValuedAttr<F64Attr, "0.0">:$dampening,
    DefaultValuedAttr<F64Attr, "0.0">:$weight_decay, UnitAttr:$nesterov);
  let results = (outs Mp_StateTensor:$new_parameter, Optional<Mp_StateTensor>:$new_buffer);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $learning_rate `,` $step (`,` $buffer^)? attr-dict `:`
    type($parameter) `,` type($gradient) `,` type($learning_rate) `,` type($step) (`,` type($buffer)^)?
  }];
  let hasVerifier = 1;
}

#endif // MP_OPS_SGD_TD
