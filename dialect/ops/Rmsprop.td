//===- Rmsprop.td - RMSprop -------------------------------*- tablegen -*-===//
#ifndef MP_OPS_RMSPROP_TD
#define MP_OPS_RMSPROP_TD

include "dialect/UpdateRules.td"

def Mp_RmspropAttr : Mp_OptimizerAttr<"Rmsprop", "rmsprop", (ins "::mp::Number":$lr, "::mp::Number":$alpha,
    "::mp::Number":$eps, "::mp::Number":$weight_decay, "::mp::Number":$momentum, "bool":$centered), Mp_Bounded> {
  let summary = "RMSprop, with torch.optim.RMSprop's arguments";
  let description = [{Example: `#mp.rmsprop<lr = 1.0e-2, momentum = 9.0e-1, centered = true>`}];
}

def Mp_RmspropOp : Mp_UpdateOp<"rmsprop"> {
  let summary = "one step of RMSprop";
  let description = [{
    The op is `torch.optim.RMSprop`. It divides the gradient by the square root of the mean of its squares or,
    if `centered`, of its variance. `slots` are square_avg, then grad_avg if centered, then momentum_buffer if
    there is momentum. The results are the new parameter and the new slots.

    Example:
    ```mlir
    %p1, %s1 = mp.rmsprop %p, %g, %lr, %s {alpha = 9.0e-1}
        : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Mp_StateTensor:$parameter, Mp_StateTensor:$gradient, Mp_ScalarOf<F32>:$learning_rate,
    Variadic<Mp_StateTensor>:$slots, DefaultValuedAttr<F64Attr, "0.99">:$alpha,
    DefaultValuedAttr<F64Attr, "1e-8">:$eps, DefaultValuedAttr<F64Attr, "0.0">:$weight_decay,
    DefaultValuedAttr<F64Attr, "0.0">:$momentum, UnitAttr:$centered);
  let results = (outs Mp_StateTensor:$new_parameter, Variadic<Mp_StateTensor>:$new_slots);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $learning_rate `,` $slots attr-dict `:`
    type($parameter) `,` type($gradient) `,` type($learning_rate) `,` type($slots)
  }];
  let hasVerifier = 1;
}

#endif // MP_OPS_RMSPROP_TD
