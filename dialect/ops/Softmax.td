//===- Softmax.td - softmax and its logarithm --------------*- tablegen -*-===//
#ifndef MP_OPS_SOFTMAX_TD
#define MP_OPS_SOFTMAX_TD

include "dialect/MpBase.td"

defvar Mp_InferAlongDim = [{
      auto type = inferElementwise(location, adaptor.getOperands());
      if (failed(type))
        return ::mlir::failure();
      int64_t dim = adaptor.getDim(), rank = type->getRank();
      if (dim < 0 || dim >= rank)
        return ::mlir::emitOptionalError(location, "dimension ", dim, " is outside of rank ", rank);
      types.push_back(*type);
      return ::mlir::success();}];

class Mp_SoftmaxFamilyOp<string mnemonic> : Mp_CompositeOp<mnemonic> {
  let numericClass = "function";
  let typeRule = Mp_InferAlongDim;
  let arguments = (ins Mp_FloatTensor:$input, I64Attr:$dim);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$input `dim` `(` $dim `)` attr-dict `:` type($input)";
}

class Mp_SoftmaxBackwardFamilyOp<string mnemonic> : Mp_CompositeOp<mnemonic> {
  let numericClass = "function";
  let typeRule = Mp_InferAlongDim;
  let summary = "gradient of mp." # !subst("_backward", "", mnemonic) # " from its result";
  let description = "Example: `%d = mp." # mnemonic # " %g, %y dim(1) : tensor<4x10xf32>, tensor<4x10xf32>`";
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$saved, I64Attr:$dim);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$gradient `,` $saved `dim` `(` $dim `)` attr-dict `:` type($gradient) `,` type($saved)";
}

def Mp_SoftmaxOp : Mp_SoftmaxFamilyOp<"softmax"> {
  let summary = "exponentials that sum to one along a dimension";
  let description = [{
    The largest element is subtracted first, so nothing overflows.

    Example: `%p = mp.softmax %x dim(1) : tensor<4x10xf32>`
  }];
  let torch = "softmax"; let tensorflow = "Softmax"; let relay = "nn.softmax"; let relax = "nn.softmax";
}
def Mp_SoftmaxBackwardOp : Mp_SoftmaxBackwardFamilyOp<"softmax_backward">;

def Mp_LogSoftmaxOp : Mp_SoftmaxFamilyOp<"log_softmax"> {
  let summary = "logarithm of the softmax along a dimension";
  let description = [{Example: `%p = mp.log_softmax %x dim(1) : tensor<4x10xf32>`}];
  let torch = "log_softmax"; let tensorflow = "LogSoftmax"; let relax = "nn.log_softmax";
}
def Mp_LogSoftmaxBackwardOp : Mp_SoftmaxBackwardFamilyOp<"log_softmax_backward">;

#endif // MP_OPS_SOFTMAX_TD
