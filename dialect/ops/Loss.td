//===- Loss.td - losses and scores ------------------------*- tablegen -*-===//
#ifndef MP_OPS_LOSS_TD
#define MP_OPS_LOSS_TD

include "dialect/MpBase.td"

def Mp_LossReduction : Mp_Enum<"LossReduction", "how rows become one number", [
  I32EnumAttrCase<"mean", 0>, I32EnumAttrCase<"sum", 1>,
]>;
def Mp_LossReductionAttr : EnumAttr<Mp_Dialect, Mp_LossReduction, "loss_reduction"> {
  let assemblyFormat = "`(` $value `)`";
}

def Mp_CrossEntropyOp : Mp_CompositeOp<"cross_entropy", [DeclareOpInterfaceMethods<IndexOperandOpInterface>]> {
  let summary = "cross-entropy of class scores and labels";
  let description = [{
    `torch.nn.functional.cross_entropy`: `logits` [N, C], `labels` [N] in [0, C) or equal
    to `ignore_index`. Rows with `ignore_index` count neither in the sum nor in the mean's
    divisor; a mean over no row is NaN.

    Example: `%l = mp.cross_entropy %x, %y {label_smoothing = 1.0e-1} : tensor<?x10xf32>, tensor<?xui8>`
  }];
  let torch = "nll_loss";
  let tensorflow = "SparseSoftmaxCrossEntropyWithLogits";
  let arguments = (ins Mp_FloatTensor:$logits, Mp_IntTensor:$labels,
    DefaultValuedAttr<Mp_LossReductionAttr, "::mp::LossReduction::mean">:$reduction,
    DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
    DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$logits `,` $labels (`reduction` `` $reduction^)? attr-dict `:` type($logits) `,` type($labels)";
  let hasVerifier = 1;
}

def Mp_CrossEntropyBackwardOp : Mp_CompositeOp<"cross_entropy_backward"> {
  let summary = "gradient of mp.cross_entropy with respect to the logits";
  let description = [{
    Example: `%d = mp.cross_entropy_backward %g, %x, %y : tensor<f32>, tensor<4x10xf32>, tensor<4xui8>`
  }];
  let notDifferentiable = "second derivatives are not built";
  let arguments = (ins 0DTensorOf<[F64, F32, F16, BF16]>:$gradient, Mp_FloatTensor:$logits, Mp_IntTensor:$labels,
    DefaultValuedAttr<Mp_LossReductionAttr, "::mp::LossReduction::mean">:$reduction,
    DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
    DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$gradient `,` $logits `,` $labels (`reduction` `` $reduction^)? attr-dict `:` type($gradient) `,` type($logits) `,` type($labels)";
  let hasVerifier = 1;
}

def Mp_AccuracyOp : Mp_CompositeOp<"accuracy", [DeclareOpInterfaceMethods<IndexOperandOpInterface>]> {
  let summary = "share of rows whose largest score is the label's";
  let description = [{
    `logits` [N, C], `labels` [N]; of equal scores the first counts.

    Example: `%a = mp.accuracy %x, %y : tensor<?x10xf32>, tensor<?xui8>`
  }];
  let notDifferentiable = "it is constant almost everywhere";
  let arguments = (ins Mp_FloatTensor:$logits, Mp_IntTensor:$labels);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` type($logits) `,` type($labels)";
}

#endif // MP_OPS_LOSS_TD
