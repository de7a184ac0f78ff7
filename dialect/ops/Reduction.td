//===- Reduction.td - sums, means, extremes ---------------*- tablegen -*-===//
#ifndef MP_OPS_REDUCTION_TD
#define MP_OPS_REDUCTION_TD

include "dialect/MpBase.td"

defvar Mp_ReductionArguments = (ins Mp_Tensor:$input, DenseI64ArrayAttr:$dims, UnitAttr:$keepdim);
defvar Mp_ReductionFormat = "$input `dims` `` $dims (`keepdim` $keepdim^)? attr-dict `:` type($input)";

class Mp_ReductionOp<string mnemonic, list<Trait> traits = []>
    : Mp_PureOp<mnemonic, !listconcat(
        [DeclareOpInterfaceMethods<ReductionOpInterface, ["getNeutral", "buildCombiner"]>], traits)> {
  let arguments = Mp_ReductionArguments;
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = Mp_ReductionFormat;
}

def Mp_SumOp : Mp_ReductionOp<"sum"> {
  let summary = "sum over dimensions";
  let description = [{
    16-bit operands accumulate in f32 and the result is rounded once.

    Example: `%r = mp.sum %x dims[1] keepdim : tensor<4x3xf32>`
  }];
  let torch = "sum";
  let tensorflow = "Sum";
  let hasFolder = 1;
}

def Mp_MaxOp : Mp_ReductionOp<"max"> {
  let summary = "largest element over dimensions; NaN wins";
  let description = [{
    `torch.amax`: the gradient is shared evenly among equal elements.

    Example: `%r = mp.max %x dims[1] : tensor<4x3xf32>`
  }];
  let torch = "amax";
  let tensorflow = "Max";
}

def Mp_MinOp : Mp_ReductionOp<"min"> {
  let summary = "smallest element over dimensions; NaN wins";
  let description = [{
    `torch.amin`: the gradient is shared evenly among equal elements.

    Example: `%r = mp.min %x dims[1] : tensor<4x3xf32>`
  }];
  let torch = "amin";
  let tensorflow = "Min";
}

def Mp_AnyOp : Mp_ReductionOp<"any"> {
  let summary = "whether a flag is set anywhere along dimensions";
  let description = [{Example: `%r = mp.any %f dims[0] : tensor<4xi1>`}];
  let notDifferentiable = "the result is a flag";
}

def Mp_MeanOp : Mp_CompositeOp<"mean"> {
  let summary = "mean over dimensions";
  let description = [{
    The sum divided by the count, in the compute type.

    Example: `%r = mp.mean %x dims[0] : tensor<4xf32>`
  }];
  let torch = "mean";
  let tensorflow = "Mean";
  let arguments = (ins Mp_FloatTensor:$input, DenseI64ArrayAttr:$dims, UnitAttr:$keepdim);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = Mp_ReductionFormat;
}

#endif // MP_OPS_REDUCTION_TD
