//===- Rmsprop.td - RMSprop --------------------------------*- tablegen -*-===//
#ifndef MP_OPS_RMSPROP_TD
#define MP_OPS_RMSPROP_TD

include "dialect/UpdateRules.td"

def Mp_RmspropAttr : Mp_OptimizerAttr<"Rmsprop", "rmsprop", (ins Mp_NotNegative<"1e-2">:$lr,
    Mp_NotNegative<"0.99">:$alpha, Mp_NotNegative<"1e-8">:$eps, Mp_NotNegative<"0">:$weight_decay,
    Mp_NotNegative<"0">:$momentum, Mp_Switch:$centered), Mp_Bounded> {
  let summary = "RMSprop, with torch.optim.RMSprop's arguments";
  let description = [{Example: `#mp.rmsprop<lr = 1.0e-2, momentum = 9.0e-1, centered = true>`}];
}

def Mp_RmspropOp : Mp_OptimizerOp<"rmsprop", Mp_RmspropAttr,
    (ins Mp_StateTensor:$parameter, Mp_StateTensor:$gradient), (ins Mp_ScalarOf<F32>:$learning_rate),
    (ins Variadic<Mp_StateTensor>:$slots)> {
  let summary = "one step of RMSprop";
  let description = [{
    The op is `torch.optim.RMSprop`. It divides the gradient by the square root of the mean of its squares or,
    if `centered`, of its variance. `slots` are square_avg, then grad_avg if centered, then momentum_buffer if
    there is momentum. The results are the new parameter and the new slots.

    Example:
    ```mlir
    %p1, %s1 = mp.rmsprop<alpha = 9.0e-1> %p, %g, %lr, %s
        : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
    ```
  }];
  let results = (outs Mp_StateTensor:$new_parameter, Variadic<Mp_StateTensor>:$new_slots);
}

#endif // MP_OPS_RMSPROP_TD
