//===- VectorNorm.td - norms, and the logarithm of a sum ---*- tablegen -*-===//
#ifndef MP_OPS_VECTORNORM_TD
#define MP_OPS_VECTORNORM_TD

include "dialect/ReductionRules.td"

def Mp_LogSumExpOp : Mp_CompositeOp<"logsumexp"> {
  let typeRule = Mp_InferReduction;
  let numericClass = "reduction";
  let summary = "logarithm of the sum of exponentials over dimensions";
  let description = [{
    The op is `torch.logsumexp`. The largest element is subtracted first, so nothing overflows. If all
    elements are -inf, or if there is no element, the result is -inf.

    Example: `%r = mp.logsumexp %x dims[1] : tensor<4x10xf32>`
  }];
  let torch = "logsumexp"; let tensorflow = "Max+Sub+Exp+Sum+Log+AddV2";
  let arguments = (ins Mp_FloatTensor:$input, DenseI64ArrayAttr:$dims, UnitAttr:$keepdim);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = Mp_ReductionFormat;
}
def Mp_LogSumExpBackwardOp : Mp_ReductionBackwardOp<"logsumexp_backward">;

defvar Mp_NormOrder = DefaultValuedAttr<F64Attr, "2.0">;
/// Parses and prints the exponent, as in `p(2)` or `p(inf)`. An infinite attribute is spelled in hexadecimal.
defvar Mp_NormDeclarations = [{
  static ::mlir::ParseResult parseOrder(::mlir::OpAsmParser &parser, ::mlir::FloatAttr &order);
  static void printOrder(::mlir::OpAsmPrinter &printer, ::mlir::Operation *op, ::mlir::FloatAttr order);
}];

def Mp_NormOp : Mp_CompositeOp<"norm"> {
  let numericClass = "reduction";
  let summary = "p-norm of vectors along dimensions";
  let description = [{
    The op is `torch.linalg.vector_norm`: (sum |x|^p)^(1/p). The result is the largest |x| for `p(inf)`, the
    smallest for `p(-inf)`, and the number of non-zero elements for `p(0)`. Where a norm with p >= 1 is zero,
    so is its gradient. Over a dimension of size zero the result is 0, or an error if p is infinite or
    negative.

    Example: `%r = mp.norm %x dims[1] p(inf) : tensor<4x10xf32>`
  }];
  let torch = "linalg_vector_norm"; let tensorflow = "Square+Sum+Sqrt";
  let arguments = (ins Mp_FloatTensor:$input, DenseI64ArrayAttr:$dims, UnitAttr:$keepdim, Mp_NormOrder:$p);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = [{
    $input `dims` `` $dims (`keepdim` $keepdim^)? (`p` `` `(` custom<Order>($p)^ `)`)? attr-dict `:` type($input)
  }];
  let extraDeclarations = Mp_NormDeclarations;
}
def Mp_NormBackwardOp : Mp_ReductionBackwardOp<"norm_backward"> {
  let typeRule = "";
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$input, DenseI64ArrayAttr:$dims, UnitAttr:$keepdim,
    Mp_NormOrder:$p);
  let assemblyFormat = [{
    $gradient `,` $input `dims` `` $dims (`keepdim` $keepdim^)? (`p` `` `(` custom<Order>($p)^ `)`)? attr-dict `:`
    type($gradient) `,` type($input)
  }];
  let extraDeclarations = Mp_NormDeclarations;
}

#endif // MP_OPS_VECTORNORM_TD
