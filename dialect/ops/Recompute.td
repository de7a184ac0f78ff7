//===- Recompute.td - what backward computes again --------*- tablegen -*-===//
#ifndef MP_OPS_RECOMPUTE_TD
#define MP_OPS_RECOMPUTE_TD

include "dialect/MpBase.td"

def Mp_CheckpointOp : Mp_ElementwiseOp<"checkpoint", [EvaluationOpInterface]> {
  let summary = "the same value, kept for backward while what leads to it is not";
  let description = [{
    Ends a block of activation checkpointing (Chen, Xu, Zhang and Guestrin, "Training Deep
    Nets with Sublinear Memory Cost", 2016): of all that a checkpoint depends on, backward
    finds checkpoints and inputs, and computes the rest again from these. What follows the
    last checkpoint is kept. `mp-recompute` decides and removes the op.

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
  let summary = "the same value, for what runs once backward has come to another value";
  let description = [{
    `mp-recompute` puts it between a value that is kept and the ops that compute others
    from it again, so that these are not merged with the ops of forward, and run in
    kernels behind the one that computes `since`. `mp-fuse` heeds and removes it.

    Example: `%b = mp.recompute_barrier %x since %g : tensor<4x8xf32>, tensor<4x2xf32>`
  }];
  let notDifferentiable = "it is part of backward";
  let arguments = (ins Mp_Tensor:$input, Mp_Tensor:$since);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "$input `since` $since attr-dict `:` type($input) `,` type($since)";
  let extraDeclarations = [{ static bool isAutocastEligible(unsigned) { return false; } }];
}

#endif // MP_OPS_RECOMPUTE_TD
