//===- Collective.td - exchanges between ranks -------------*- tablegen -*-===//
#ifndef MP_OPS_COLLECTIVE_TD
#define MP_OPS_COLLECTIVE_TD

include "dialect/MpBase.td"

def Mp_CollectiveTensor : RankedTensorOf<[F64, F32, F16, BF16, I32, I64, I1]>;

def Mp_RankReduction : Mp_Enum<"RankReduction", "how the tensors of ranks are combined", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"logicalOr", 2, "or">,
]>;
def Mp_RankReductionAttr : EnumAttr<Mp_Dialect, Mp_RankReduction, "rank_reduction">;

def Mp_RankOp : Mp_PureOp<"rank", [AnchorOpInterface]> {
  let summary = "number of this rank, counted from 0";
  let description = [{
    Ranks are processes that train one model together (docs/scaling.md). A session without a communicator is rank 0.

    Example: `%r = mp.rank`
  }];
  let numericClass = "movement";
  let notDifferentiable = "it has no operand";
  let typeRule = [{
      types.push_back(::mlir::RankedTensorType::get({}, ::mlir::IntegerType::get(context, 64)));
      return ::mlir::success();}];
  let results = (outs Mp_ScalarOf<I64>:$result);
  let assemblyFormat = "attr-dict";
  let extraDeclarations = [{ bool takesEpilogue() { return false; } }];
}

/// An exchange in which every rank takes part. All ranks run the same ops in the same order, so that they meet. The
/// sizes of its tensors are known, and it does not stand in a branch.
class Mp_CollectiveOp<string mnemonic> : Mp_PureOp<mnemonic, [AnchorOpInterface]> {
  let numericClass = "movement";
  let extraDeclarations = [{ bool takesEpilogue() { return false; } }];
}

/// One whose results may take the places of its operands.
class Mp_InPlaceCollectiveOp<string mnemonic> : Mp_CollectiveOp<mnemonic> {
  let extraDeclarations = [{
    bool takesEpilogue() { return false; }
    bool mayReplace(unsigned operand, unsigned result) { return operand == result; }
  }];
}

def Mp_AllReduceOp : Mp_InPlaceCollectiveOp<"all_reduce"> {
  let summary = "sum, maximum or disjunction of the tensors of all ranks, on every rank";
  let description = [{
    The operands have one element type and are exchanged together. A sum is ((0 + x0) + x1) + ... in the order of
    ranks, so that all ranks have its bits in every run; 16-bit floats are added in f32 and rounded once. NaN is the
    largest number. `or` is for i1. The gradient of a sum is the sum of the gradients, as in `jax.lax.psum`.

    Example: `%r:2 = mp.all_reduce sum %a, %b : tensor<4xf32>, tensor<f32>`
  }];
  let arguments = (ins Mp_RankReductionAttr:$reduction, Variadic<Mp_CollectiveTensor>:$inputs);
  let results = (outs Variadic<Mp_CollectiveTensor>:$outputs);
  let assemblyFormat = "$reduction $inputs attr-dict `:` type($inputs)";
}

def Mp_AllGatherOp : Mp_CollectiveOp<"all_gather"> {
  let summary = "tensors of all ranks, stacked in their order, on every rank";
  let description = [{
    Each result has a first dimension of `ranks` more than its operand, as in `jax.lax.all_gather`.

    Example: `%g = mp.all_gather %x ranks(4) : tensor<2x3xf32>`
  }];
  let arguments = (ins Variadic<Mp_CollectiveTensor>:$inputs, I64Attr:$ranks);
  let results = (outs Variadic<Mp_CollectiveTensor>:$outputs);
  let assemblyFormat = "$inputs `ranks` `(` $ranks `)` attr-dict `:` type($inputs)";
}

def Mp_ReduceScatterOp : Mp_CollectiveOp<"reduce_scatter"> {
  let summary = "sum, maximum or disjunction of the tensors of all ranks, of which each rank gets a part";
  let description = [{
    The first dimension of every operand is the number of ranks. Rank r gets element r of it, combined as
    `mp.all_reduce` combines: the bits of an all_reduce and a slice.

    Example: `%r = mp.reduce_scatter sum %x : tensor<4x2xf32>`
  }];
  let arguments = (ins Mp_RankReductionAttr:$reduction, Variadic<Mp_CollectiveTensor>:$inputs);
  let results = (outs Variadic<Mp_CollectiveTensor>:$outputs);
  let assemblyFormat = "$reduction $inputs attr-dict `:` type($inputs)";
}

def Mp_BroadcastFromOp : Mp_InPlaceCollectiveOp<"broadcast_from"> {
  let summary = "tensors of one rank, on every rank";
  let description = [{
    The gradient is the sum of the gradients of all ranks, for the rank that the tensors come from, and zero for others.

    Example: `%r = mp.broadcast_from %x rank(0) : tensor<2x3xf32>`
  }];
  let arguments = (ins Variadic<Mp_CollectiveTensor>:$inputs, I64Attr:$root);
  let results = (outs Variadic<Mp_CollectiveTensor>:$outputs);
  let assemblyFormat = "$inputs `rank` `(` $root `)` attr-dict `:` type($inputs)";
}

#endif // MP_OPS_COLLECTIVE_TD
