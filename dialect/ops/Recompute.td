//===- Recompute.td - what backward computes again ---------*- tablegen -*-===//
#ifndef MP_OPS_RECOMPUTE_TD
#define MP_OPS_RECOMPUTE_TD

include "dialect/MpBase.td"

def Mp_CheckpointOp : Mp_ElementwiseOp<"checkpoint", [EvaluationOpInterface]> {
  let typeRule = Mp_InferFirst;
  let summary = "identity that marks a value to keep for the backward pass";
  let description = [{
    The op ends a block of activation checkpointing (Chen, Xu, Zhang and Guestrin, "Training Deep Nets with
    Sublinear Memory Cost", 2016). Only checkpoints and inputs are kept of the values that it depends on, and
    the backward pass computes the rest again from these. Values after the last checkpoint are kept.
    `mp-recompute` decides what to recompute, and removes the op.

    Example: `%k = mp.checkpoint %h : tensor<?x256xf32>`
  }];
  let arguments = (ins Mp_FloatTensor:$input);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let extraDeclarations = [{
    ::llvm::SmallVector<::mlir::Value> buildEvaluation(::mlir::ImplicitLocOpBuilder &) { return {getInput()}; }
  }];
}

def Mp_RecomputeBarrierOp : Mp_PureOp<"recompute_barrier"> {
  let typeRule = Mp_InferFirst;
  let summary = "identity for ops that run only after another value is computed";
  let description = [{
    `mp-recompute` inserts the op between a value that is kept and the ops that recompute others from it, and
    `mp-join-products` between the parts of a loss. The ops that read it are then not merged with the ops before, and
    they run in kernels after the one that computes `since`. `mp-fuse` orders kernels by the op and removes it.

    Example: `%b = mp.recompute_barrier %x since %g : tensor<4x8xf32>, tensor<4x2xf32>`
  }];
  let notDifferentiable = "it is part of backward";
  let arguments = (ins Mp_Tensor:$input, Mp_Tensor:$since);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "$input `since` $since attr-dict `:` type($input) `,` type($since)";
  let extraDeclarations = [{ static bool isAutocastEligible(unsigned) { return false; } }];
}

#endif // MP_OPS_RECOMPUTE_TD
