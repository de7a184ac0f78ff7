//===- CrossEntropy.td - losses and scores of classes ------*- tablegen -*-===//
#ifndef MP_OPS_CROSSENTROPY_TD
#define MP_OPS_CROSSENTROPY_TD

include "dialect/LossRules.td"

/// The dimension of the classes, as PyTorch has it by default.
defvar Mp_DimOfClasses = DefaultValuedAttr<I64Attr, "1">;

//===----------------------------------------------------------------------===//
// cross_entropy
//===----------------------------------------------------------------------===//

def Mp_CrossEntropyOp : Mp_CompositeOp<"cross_entropy", [DeclareOpInterfaceMethods<IndexOperandOpInterface>]> {
  let numericClass = "loss";
  let summary = "cross-entropy of class scores and labels";
  let description = [{
    The op is `torch.nn.functional.cross_entropy`. The classes of `logits` are in dimension `dim`, which is 1
    if it is not given, as in PyTorch: [N, C, ...]. Where channels or words are the last dimension, [N, T, C],
    write `dim(2)`. `labels` has the shape of `logits` without that dimension, and values in [0, C) or equal to
    `ignore_index`. Rows with `ignore_index` count neither in the sum nor in the divisor of the mean, and a
    mean over no row is NaN. `weight` [C] multiplies the loss of each class, and
    the mean then divides by the sum of the labels' weights. `label_smoothing` takes that share of a label and
    distributes it evenly over all classes.

    Labels may also be floats of the logits' shape, which are probabilities of classes. No row is then
    ignored, and the mean divides by the number of rows whatever the weights. Probabilities have a gradient.
    Weights have one too, which PyTorch does not have for weights with integer labels.

    Example:
    ```mlir
    %l = mp.cross_entropy %x, %y weight(%w : tensor<10xf32>) {label_smoothing = 1.0e-1}
      : tensor<?x10xf32>, tensor<?xui8>
    %m = mp.cross_entropy %z, %t dim(2) : tensor<?x16x1000xf32>, tensor<?x16xi32>
    ```
  }];
  let torch = "log_softmax+nll_loss"; let tensorflow = "SparseSoftmaxCrossEntropyWithLogits";
  let relay = "nn.cross_entropy_with_logits"; let relax = "nn.cross_entropy_with_logits";
  let arguments = (ins Mp_FloatTensor:$logits, Mp_NumberTensor:$labels, Optional<Mp_FloatTensor>:$weight,
    Mp_DimOfClasses:$dim, Mp_ReductionOfLoss:$reduction, DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
    DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = [{
    $logits `,` $labels (`weight` `(` $weight^ `:` type($weight) `)`)? (`dim` `(` $dim^ `)`)?
    (`reduction` `` $reduction^)? attr-dict `:` type($logits) `,` type($labels)
  }];
  let hasVerifier = 1;
}

def Mp_CrossEntropyBackwardOp : Mp_CompositeOp<"cross_entropy_backward"> {
  let numericClass = "loss";
  let summary = "gradient of mp.cross_entropy with respect to the logits";
  let description = [{
    `gradient` is one number, or one number for each row with `reduction(none)`.

    Example: `%d = mp.cross_entropy_backward %g, %x, %y : tensor<f32>, tensor<4x10xf32>, tensor<4xui8>`
  }];
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$logits, Mp_NumberTensor:$labels,
    Optional<Mp_FloatTensor>:$weight, Mp_DimOfClasses:$dim, Mp_ReductionOfLoss:$reduction,
    DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
    DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = [{
    $gradient `,` $logits `,` $labels (`weight` `(` $weight^ `:` type($weight) `)`)? (`dim` `(` $dim^ `)`)?
    (`reduction` `` $reduction^)? attr-dict `:` type($gradient) `,` type($logits) `,` type($labels)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// nll_loss
//===----------------------------------------------------------------------===//

def Mp_NllLossOp : Mp_CompositeOp<"nll_loss", [DeclareOpInterfaceMethods<IndexOperandOpInterface>]> {
  let numericClass = "loss";
  let summary = "negative log-likelihood of labels";
  let description = [{
    The op is `torch.nn.functional.nll_loss`. It negates the entries of `input`, which holds logarithms of
    probabilities, at the labels. `dim`, `labels`, `weight`, `reduction` and `ignore_index` have the meaning
    that they have in `mp.cross_entropy`.

    Example: `%l = mp.nll_loss %x, %y reduction(sum) : tensor<?x10xf32>, tensor<?xui8>`
  }];
  let torch = "nll_loss"; let tensorflow = "GatherV2+Mean"; let relay = "nn.cross_entropy"; let relax = "nn.nll_loss";
  let arguments = (ins Mp_FloatTensor:$input, Mp_IntTensor:$labels, Optional<Mp_FloatTensor>:$weight,
    Mp_DimOfClasses:$dim, Mp_ReductionOfLoss:$reduction, DefaultValuedAttr<I64Attr, "-100">:$ignore_index);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $labels (`weight` `(` $weight^ `:` type($weight) `)`)? (`dim` `(` $dim^ `)`)?
    (`reduction` `` $reduction^)? attr-dict `:` type($input) `,` type($labels)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// accuracy
//===----------------------------------------------------------------------===//

def Mp_AccuracyOp : Mp_CompositeOp<"accuracy", [DeclareOpInterfaceMethods<IndexOperandOpInterface>]> {
  let summary = "share of rows in which the label has one of the largest scores";
  let description = [{
    `logits` has the classes in dimension `dim`, as `mp.cross_entropy` has, and `labels` is of its shape without
    that dimension. A row counts if the score of its label is among the `top_k` largest of the row. Of equal
    scores the first is the larger one, and NaN is larger than any number, but a label whose score is NaN does
    not count. `reduction(sum)` is the number of rows that count, and `reduction(none)` has 1 or 0 for each row.

    Example:
    ```mlir
    %a = mp.accuracy %x, %y : tensor<?x10xf32>, tensor<?xui8>
    %5 = mp.accuracy %x, %y {top_k = 5} : tensor<?x10xf32>, tensor<?xui8>
    %t = mp.accuracy %z, %w dim(2) reduction(sum) : tensor<?x16x1000xf32>, tensor<?x16xi32>
    ```
  }];
  let notDifferentiable = "it is constant almost everywhere";
  let arguments = (ins Mp_FloatTensor:$logits, Mp_IntTensor:$labels, Mp_DimOfClasses:$dim,
    Mp_ReductionOfLoss:$reduction, DefaultValuedAttr<I64Attr, "1">:$top_k);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = [{
    $logits `,` $labels (`dim` `(` $dim^ `)`)? (`reduction` `` $reduction^)? attr-dict `:`
    type($logits) `,` type($labels)
  }];
  let hasVerifier = 1;
}

#endif // MP_OPS_CROSSENTROPY_TD
