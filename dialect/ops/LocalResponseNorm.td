//===- LocalResponseNorm.td - norm over channels -----------*- tablegen -*-===//
#ifndef MP_OPS_LOCALRESPONSENORM_TD
#define MP_OPS_LOCALRESPONSENORM_TD

include "dialect/PoolingRules.td"

def Mp_LocalResponseNormOp : Mp_PureOp<"local_response_norm",
    [DeclareOpInterfaceMethods<AnchorOpInterface, ["buildWithoutLoop"]>]> {
  let numericClass = "normalization";
  let summary = "each channel divided by a power of the squares of its neighbours";
  let description = [{
    The op is `torch.nn.functional.local_response_norm` with channels last: x / (k + alpha / size * s)^beta, where s is
    the sum of the squares of the `size` channels from `size / 2` before a channel on. Channels that do not exist are
    zero. The op is computed in the compute type and rounded once. It becomes mp.window_sum between elementwise ops;
    the powers 0.5, 0.75 and 1 are products of square roots.

    Example: `%y = mp.local_response_norm %x size(5) {alpha = 1.0e-4, beta = 0.75, k = 2.0} : tensor<?x27x27x96xf32>`
  }];
  let torch = "local_response_norm"; let tensorflow = "LRN"; let relay = "nn.lrn";
  let arguments = (ins Mp_FloatTensor:$input, I64Attr:$size, DefaultValuedAttr<F64Attr, "1e-4">:$alpha,
    DefaultValuedAttr<F64Attr, "0.75">:$beta, DefaultValuedAttr<F64Attr, "1.0">:$k);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$input `size` `(` $size `)` attr-dict `:` type($input)";
  let typeRule = Mp_InferFirst;
  let hasVerifier = 1;
  let extraDeclarations = [{
    static bool takesEpilogue() { return false; }
  }];
}

def Mp_WindowSumOp : Mp_ImageLoopOp<"window_sum"> {
  let summary = "sum over a window that slides along the last dimension";
  let description = [{
    Element i of the result is the sum of the `size` elements from `i - low` on; those that do not exist are zero.
    16-bit elements accumulate in f32, and the sum is rounded once. The order of additions is that of the elements.

    Example: `%y = mp.window_sum %x size(5) low(2) : tensor<?x27x27x96xf32>`
  }];
  let arguments = (ins Mp_FloatTensor:$input, I64Attr:$size, I64Attr:$low);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$input `size` `(` $size `)` `low` `(` $low `)` attr-dict `:` type($input)";
}

#endif // MP_OPS_LOCALRESPONSENORM_TD
