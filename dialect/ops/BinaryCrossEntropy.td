//===- BinaryCrossEntropy.td - of probabilities and logits -*- tablegen -*-===//
#ifndef MP_OPS_BINARYCROSSENTROPY_TD
#define MP_OPS_BINARYCROSSENTROPY_TD

include "dialect/LossRules.td"

//===----------------------------------------------------------------------===//
// Probabilities
//===----------------------------------------------------------------------===//

def Mp_BinaryCrossEntropyOp : Mp_CompositeOp<"binary_cross_entropy"> {
  let numericClass = "loss";
  let summary = "cross-entropy of probabilities of one class against another";
  let description = [{
    The op is `torch.nn.functional.binary_cross_entropy`: -w (y log x + (1 - y) log(1 - x)) for probabilities
    x in [0, 1], with logarithms of at least -100. `weight` w is broadcast. An x outside of [0, 1] gives NaN.
    As in PyTorch, the gradient for x is (x - y) / max(x (1 - x), 1e-12), and the gradient for y has no such
    bounds. Weights have a gradient too, which they do not have in PyTorch.

    Example: `%l = mp.binary_cross_entropy %x, %y weight(%w : tensor<4xf32>) : tensor<?x4xf32>, tensor<?x4xf32>`
  }];
  let torch = "binary_cross_entropy"; let tensorflow = "Log+Mul+Mean";
  let arguments = (ins Mp_FloatTensor:$input, Mp_FloatTensor:$target, Optional<Mp_FloatTensor>:$weight,
    Mp_ReductionOfLoss:$reduction);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $target (`weight` `(` $weight^ `:` type($weight) `)`)? (`reduction` `` $reduction^)? attr-dict `:`
    type($input) `,` type($target)
  }];
  let hasVerifier = 1;
}

def Mp_BinaryCrossEntropyBackwardOp : Mp_CompositeOp<"binary_cross_entropy_backward"> {
  let numericClass = "loss";
  let summary = "gradient of mp.binary_cross_entropy with respect to the input";
  let description = [{
    Example: `%d = mp.binary_cross_entropy_backward %g, %x, %y : tensor<f32>, tensor<8x4xf32>, tensor<8x4xf32>`
  }];
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$input, Mp_FloatTensor:$target,
    Optional<Mp_FloatTensor>:$weight, Mp_ReductionOfLoss:$reduction);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = [{
    $gradient `,` $input `,` $target (`weight` `(` $weight^ `:` type($weight) `)`)?
    (`reduction` `` $reduction^)? attr-dict `:`
    type($gradient) `,` type($input) `,` type($target)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Logits
//===----------------------------------------------------------------------===//

def Mp_BinaryCrossEntropyWithLogitsOp
    : Mp_CompositeOp<"binary_cross_entropy_with_logits", [AttrSizedOperandSegments]> {
  let numericClass = "loss";
  let summary = "cross-entropy of logits of one class against another";
  let description = [{
    The op is `torch.nn.functional.binary_cross_entropy_with_logits`: the cross-entropy of the logistic
    function of x, computed so that it is safe for any x. `weight` multiplies the loss of an element, and
    `pos_weight` multiplies its part for y. Both are broadcast and have gradients, which they do not have in
    PyTorch.

    Example:
    ```mlir
    %l = mp.binary_cross_entropy_with_logits %x, %y pos_weight(%p : tensor<4xf32>)
      : tensor<?x4xf32>, tensor<?x4xf32>
    ```
  }];
  let torch = "binary_cross_entropy_with_logits"; let tensorflow = "Exp+Log1p+Mean";
  let arguments = (ins Mp_FloatTensor:$input, Mp_FloatTensor:$target, Optional<Mp_FloatTensor>:$weight,
    Optional<Mp_FloatTensor>:$pos_weight, Mp_ReductionOfLoss:$reduction);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $target (`weight` `(` $weight^ `:` type($weight) `)`)?
    (`pos_weight` `(` $pos_weight^ `:` type($pos_weight) `)`)?
    (`reduction` `` $reduction^)? attr-dict `:`
    type($input) `,` type($target)
  }];
  let hasVerifier = 1;
}

def Mp_BinaryCrossEntropyWithLogitsBackwardOp
    : Mp_CompositeOp<"binary_cross_entropy_with_logits_backward", [AttrSizedOperandSegments]> {
  let summary = "gradient of mp.binary_cross_entropy_with_logits with respect to the logits";
  let description = [{
    Example:
    ```mlir
    %d = mp.binary_cross_entropy_with_logits_backward %g, %x, %y
      : tensor<f32>, tensor<8x4xf32>, tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$input, Mp_FloatTensor:$target,
    Optional<Mp_FloatTensor>:$weight, Optional<Mp_FloatTensor>:$pos_weight, Mp_ReductionOfLoss:$reduction);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = [{
    $gradient `,` $input `,` $target (`weight` `(` $weight^ `:` type($weight) `)`)?
    (`pos_weight` `(` $pos_weight^ `:` type($pos_weight) `)`)?
    (`reduction` `` $reduction^)? attr-dict `:`
    type($gradient) `,` type($input) `,` type($target)
  }];
  let hasVerifier = 1;
}

#endif // MP_OPS_BINARYCROSSENTROPY_TD
