//===- Adagrad.td - Adagrad -------------------------------*- tablegen -*-===//
#ifndef MP_OPS_ADAGRAD_TD
#define MP_OPS_ADAGRAD_TD

include "dialect/UpdateRules.td"

def Mp_AdagradAttr : Mp_OptimizerAttr<"Adagrad", "adagrad", (ins "::mp::Number":$lr, "::mp::Number":$lr_decay,
    "::mp::Number":$weight_decay, "::mp::Number":$initial_accumulator_value, "::mp::Number":$eps), Mp_Bounded> {
  let summary = "Adagrad, with torch.optim.Adagrad's arguments";
  let description = [{Example: `#mp.adagrad<lr = 1.0e-2, initial_accumulator_value = 1.0e-1>`}];
}

def Mp_AdagradOp : Mp_UpdateOp<"adagrad"> {
  let summary = "one step of Adagrad";
  let description = [{
    The op is `torch.optim.Adagrad` (Duchi, Hazan and Singer, JMLR 12). It divides the gradient by the square
    root of the sum of all its squares so far. The results are the new parameter and the new sum.

    Example:
    ```mlir
    %p1, %s1 = mp.adagrad %p, %g, %lr, %s {weight_decay = 1.0e-4}
        : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Mp_StateTensor:$parameter, Mp_StateTensor:$gradient, Mp_ScalarOf<F32>:$learning_rate,
    Mp_StateTensor:$sum, DefaultValuedAttr<F64Attr, "1e-10">:$eps, DefaultValuedAttr<F64Attr, "0.0">:$weight_decay);
  let results = (outs Mp_StateTensor:$new_parameter, Mp_StateTensor:$new_sum);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $learning_rate `,` $sum attr-dict `:`
    type($parameter) `,` type($gradient) `,` type($learning_rate) `,` type($sum)
  }];
}

#endif // MP_OPS_ADAGRAD_TD
