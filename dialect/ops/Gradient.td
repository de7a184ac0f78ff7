//===- Gradient.td - gradients as values -------------------*- tablegen -*-===//
#ifndef MP_OPS_GRADIENT_TD
#define MP_OPS_GRADIENT_TD

include "dialect/MpBase.td"

def Mp_GradientOp : Mp_PureOp<"gradient", [DeclareOpInterfaceMethods<BatchOpInterface>]> {
  let summary = "derivative of a number with respect to values that it is computed from";
  let description = [{
    The op is `torch.autograd.grad` with `create_graph`. The result is a value like any other, and a loss may
    be computed from it and minimised (a gradient penalty). `mp-autodiff` replaces the op by the backward ops,
    innermost first. In evaluation, where a step has no backward pass, `mp-expand-gradients` does this. The
    derivative is with respect to values, not variables: two reads of a variable are two values.

    The backward pass of this op begins with one, not with the loss scale. In f16, small derivatives are
    therefore lost. To avoid this, multiply the number by a constant and divide the result by it.

    Example:
    ```mlir
    %dx = mp.gradient %critic of %x : tensor<f32>, tensor<8x3xf32>
    %da, %db = mp.gradient %loss of %a, %b : tensor<f32>, tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let notDifferentiable = "mp-autodiff or mp-expand-gradients replaces it first";
  let extraDeclarations = [{ static bool isAutocastEligible(unsigned) { return false; } }];
  let arguments = (ins 0DTensorOf<[F64, F32, F16, BF16]>:$number, Variadic<Mp_FloatTensor>:$sources);
  let results = (outs Variadic<Mp_FloatTensor>:$gradients);
  let assemblyFormat = "$number `of` $sources attr-dict `:` type($number) `,` type($sources)";
  let hasVerifier = 1;
}

#endif // MP_OPS_GRADIENT_TD
