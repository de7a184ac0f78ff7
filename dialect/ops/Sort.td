//===- Sort.td - sorting and the largest elements ----------*- tablegen -*-===//
#ifndef MP_OPS_SORT_TD
#define MP_OPS_SORT_TD

include "dialect/MpBase.td"

def Mp_SortableTensor : RankedTensorOf<[F64, F32, F16, BF16, I32, I64]>;

def Mp_ArgsortOp : Mp_PureOp<"argsort", [AnchorOpInterface, DeclareOpInterfaceMethods<RowOpInterface>]> {
  let summary = "indices of the elements of the last dimension in sorted order";
  let description = [{
    The op is `torch.argsort(dim=-1, stable=True)`, with indices of i32. Equal elements keep their order, in either
    direction, and zeros of either sign are equal. NaN is larger than any number. With `k`, only the first k indices
    are computed, which takes less time and memory. It is the main loop of mp.sort and mp.top_k, which sort along any
    dimension and give the elements too.

    Example: `%i = mp.argsort %x descending k(5) : tensor<?x1000xf32>`
  }];
  let torch = "argsort"; let tensorflow = "TopKV2"; let relay = "argsort"; let relax = "argsort";
  let notDifferentiable = "the result is an index";
  let arguments = (ins Mp_SortableTensor:$input, UnitAttr:$descending, OptionalAttr<I64Attr>:$k);
  let results = (outs RankedTensorOf<[I32]>:$indices);
  let assemblyFormat = "$input (`descending` $descending^)? (`k` `(` $k^ `)`)? attr-dict `:` type($input)";
  let extraDeclarations = [{
    bool takesEpilogue() { return false; }
  }];
}

/// Elements of a dimension in sorted order, with the indices that they had.
class Mp_SortedOp<string mnemonic> : Mp_CompositeOp<mnemonic> {
  let numericClass = "movement";
  let results = (outs Mp_SortableTensor:$values, RankedTensorOf<[I32]>:$indices);
}

def Mp_SortOp : Mp_SortedOp<"sort"> {
  let summary = "elements along a dimension in sorted order, and their indices";
  let description = [{
    The op is `torch.sort(stable=True)`, with indices of i32. Equal elements keep their order, in either direction, and
    zeros of either sign are equal. NaN is larger than any number. The gradient of each value goes to the element that
    it was.

    Example: `%values, %indices = mp.sort %x dim(1) descending : tensor<?x10xf32>`
  }];
  let torch = "sort"; let tensorflow = "TopKV2"; let relay = "sort"; let relax = "sort";
  let arguments = (ins Mp_SortableTensor:$input, I64Attr:$dim, UnitAttr:$descending);
  let assemblyFormat = "$input `dim` `(` $dim `)` (`descending` $descending^)? attr-dict `:` type($input)";
}

def Mp_TopKOp : Mp_SortedOp<"top_k"> {
  let summary = "the k largest elements along a dimension, and their indices";
  let description = [{
    The op is `torch.topk(sorted=True)`, with indices of i32: the largest element comes first, or the smallest with
    `smallest`. Of equal elements, the one with the lower index comes first, and NaN is larger than any number. PyTorch
    leaves the order of equal elements open. The gradient of each value goes to the element that it was. A small k costs
    one pass over the elements.

    Example: `%values, %indices = mp.top_k %x k(5) dim(1) : tensor<?x1000xf32>`
  }];
  let torch = "topk"; let tensorflow = "TopKV2"; let relay = "topk"; let relax = "topk";
  let arguments = (ins Mp_SortableTensor:$input, I64Attr:$k, I64Attr:$dim, UnitAttr:$smallest);
  let assemblyFormat = [{
    $input `k` `(` $k `)` `dim` `(` $dim `)` (`smallest` $smallest^)? attr-dict `:` type($input)
  }];
}

#endif // MP_OPS_SORT_TD
