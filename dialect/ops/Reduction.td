//===- Reduction.td - sums, products, extremes -------------*- tablegen -*-===//
#ifndef MP_OPS_REDUCTION_TD
#define MP_OPS_REDUCTION_TD

include "dialect/ReductionRules.td"

def Mp_SumOp : Mp_ReductionOp<"sum"> {
  let summary = "sum over dimensions";
  let description = [{
    16-bit operands accumulate in f32, and the result is rounded once.

    Example: `%r = mp.sum %x dims[1] keepdim : tensor<4x3xf32>`
  }];
  let torch = "sum"; let tensorflow = "Sum"; let relay = "sum"; let relax = "sum";
  let hasFolder = 1;
}

def Mp_ProdOp : Mp_ReductionOp<"prod"> {
  let summary = "product over dimensions";
  let description = [{
    16-bit operands accumulate in f32, and the result is rounded once. The gradient of an element is the
    product of the others, even if some of them are zero.

    Example: `%r = mp.prod %x dims[1] : tensor<4x3xf32>`
  }];
  let torch = "prod"; let tensorflow = "Prod"; let relax = "prod";
  let hasFolder = 1;
}

def Mp_ProdBackwardOp : Mp_ReductionBackwardOp<"prod_backward">;

/// An empty dimension has a sum, but no largest element.
defvar Mp_InferExtreme = [{
      if (failed(inferReduction(location, adaptor.getInput(), adaptor.getDims(), adaptor.getKeepdim(), types)))
        return ::mlir::failure();
      return checkNotEmpty(location, adaptor.getInput(), adaptor.getDims());}];

def Mp_MaxOp : Mp_ReductionOp<"max"> {
  let typeRule = Mp_InferExtreme;
  let summary = "largest element over dimensions, or NaN";
  let description = [{
    The op is `torch.amax`. If one of the elements is NaN, the result is NaN. The gradient is shared evenly
    among equal elements. A reduced dimension of size zero is an error, because it has no largest element.

    Example: `%r = mp.max %x dims[1] : tensor<4x3xf32>`
  }];
  let torch = "amax"; let tensorflow = "Max"; let relay = "max"; let relax = "max";
}

def Mp_MinOp : Mp_ReductionOp<"min"> {
  let typeRule = Mp_InferExtreme;
  let summary = "smallest element over dimensions, or NaN";
  let description = [{
    The op is `torch.amin`. If one of the elements is NaN, the result is NaN. The gradient is shared evenly
    among equal elements. A reduced dimension of size zero is an error, because it has no smallest element.

    Example: `%r = mp.min %x dims[1] : tensor<4x3xf32>`
  }];
  let torch = "amin"; let tensorflow = "Min"; let relay = "min"; let relax = "min";
}

def Mp_AnyOp : Mp_ReductionOp<"any"> {
  let summary = "whether a flag is set anywhere along dimensions";
  let description = [{Example: `%r = mp.any %f dims[0] : tensor<4xi1>`}];
  let notDifferentiable = "the result is a flag";
}

def Mp_MeanOp : Mp_CompositeOp<"mean"> {
  let typeRule = Mp_InferReduction;
  let numericClass = "reduction";
  let summary = "mean over dimensions";
  let description = [{
    The mean is the sum divided by the count, in the compute type. The mean of no element is NaN.

    Example: `%r = mp.mean %x dims[0] : tensor<4xf32>`
  }];
  let torch = "mean"; let tensorflow = "Mean"; let relay = "mean"; let relax = "mean";
  let arguments = (ins Mp_FloatTensor:$input, DenseI64ArrayAttr:$dims, UnitAttr:$keepdim);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = Mp_ReductionFormat;
}

def Mp_ArgmaxOp : Mp_CompositeOp<"argmax"> {
  let numericClass = "reduction";
  let summary = "index of the largest element along a dimension";
  let description = [{
    The op is `torch.argmax`. If elements are equal, the first one counts, and NaN is larger than any number.
    A dimension of size zero is an error. The result is i64, or i32 with `dtype`.

    Example: `%i = mp.argmax %x dim(1) {dtype = i32} : tensor<4x10xf32>`
  }];
  let torch = "argmax"; let tensorflow = "ArgMax"; let relay = "argmax";
  let notDifferentiable = "the result is an index";
  let arguments = (ins Mp_NumberTensor:$input, I64Attr:$dim, UnitAttr:$keepdim,
    OptionalAttr<TypeAttrOf<AnyTypeOf<[I32, I64]>>>:$dtype);
  let results = (outs RankedTensorOf<[I32, I64]>:$result);
  let assemblyFormat = "$input `dim` `(` $dim `)` (`keepdim` $keepdim^)? attr-dict `:` type($input)";
}

#endif // MP_OPS_REDUCTION_TD
