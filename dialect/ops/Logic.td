//===- Logic.td - flags and selection ----------------------*- tablegen -*-===//
#ifndef MP_OPS_LOGIC_TD
#define MP_OPS_LOGIC_TD

include "dialect/MpBase.td"

def Mp_Comparison : Mp_Enum<"Comparison", "relation of a comparison", [
  I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
  I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>,
]>;
def Mp_ComparisonAttr : EnumAttr<Mp_Dialect, Mp_Comparison, "comparison">;

def Mp_CompareOp : Mp_ElementwiseOp<"compare"> {
  let typeRule = Mp_InferFlags;
  let torch = "eq"; let tensorflow = "Equal"; let relay = "less"; let relax = "equal";
  let summary = "whether a relation holds, element by element";
  let description = [{
    If one of the elements is NaN, every relation except `ne` is false.

    Example: `%r = mp.compare gt %x, %y : tensor<4xf32>, tensor<f32>`
  }];
  let notDifferentiable = "the result is a flag";
  let arguments = (ins Mp_ComparisonAttr:$relation, Mp_NumberTensor:$lhs, Mp_NumberTensor:$rhs);
  let results = (outs Mp_FlagTensor:$result);
  let assemblyFormat = "$relation $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def Mp_SelectOp : Mp_ElementwiseOp<"select"> {
  let typeRule = "";
  let numericClass = "movement";
  let summary = "one of two, element by element";
  let description = [{
    The op is `torch.where(f, x, y)`. All three operands are broadcast. The operand that is not chosen gets a
    gradient of zero.

    Example: `%r = mp.select %f, %x, %y : tensor<4xi1>, tensor<4xf32>, tensor<f32>`
  }];
  let torch = "where"; let tensorflow = "SelectV2"; let relay = "where";
  let arguments = (ins Mp_FlagTensor:$condition, Mp_NumberTensor:$lhs, Mp_NumberTensor:$rhs);
  let results = (outs Mp_NumberTensor:$result);
  let assemblyFormat = "$condition `,` $lhs `,` $rhs attr-dict `:` type($condition) `,` type($lhs) `,` type($rhs)";
  let extraDeclarations = [{ static bool copiesElements() { return true; } }];
}

class Mp_FlagBinaryOp<string mnemonic> : Mp_ElementwiseOp<mnemonic, [Commutative]> {
  let typeRule = Mp_InferFlags;
  let notDifferentiable = "the result is a flag";
  let arguments = (ins Mp_FlagTensor:$lhs, Mp_FlagTensor:$rhs);
  let results = (outs Mp_FlagTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def Mp_OrOp : Mp_FlagBinaryOp<"or"> {
  let summary = "whether one of two flags is set";
  let description = [{Example: `%r = mp.or %f, %g : tensor<i1>, tensor<i1>`}];
}

def Mp_AndOp : Mp_FlagBinaryOp<"and"> {
  let summary = "whether both flags are set";
  let description = [{Example: `%r = mp.and %f, %g : tensor<i1>, tensor<i1>`}];
}

def Mp_NotOp : Mp_ElementwiseOp<"not"> {
  let typeRule = Mp_InferFlags;
  let summary = "whether a flag is clear";
  let description = [{Example: `%r = mp.not %f : tensor<i1>`}];
  let notDifferentiable = "the result is a flag";
  let arguments = (ins Mp_FlagTensor:$input);
  let results = (outs Mp_FlagTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasFolder = 1;
}

def Mp_IsFiniteOp : Mp_ElementwiseOp<"is_finite"> {
  let typeRule = Mp_InferFlags;
  let summary = "whether an element is neither infinite nor NaN";
  let description = [{Example: `%r = mp.is_finite %x : tensor<4xf16>`}];
  let torch = "isfinite"; let tensorflow = "IsFinite"; let relax = "isfinite";
  let notDifferentiable = "the result is a flag";
  let arguments = (ins Mp_FloatTensor:$input);
  let results = (outs Mp_FlagTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Mp_MagnitudeOp : Mp_ElementwiseOp<"magnitude"> {
  let typeRule = "";
  let summary = "the bits of an element's absolute value in f32";
  let description = [{
    As integers, these bits have the order of the magnitudes: a finite element is less than 0x7F800000,
    infinity is equal to it, and NaN is more. The largest magnitude of a tensor therefore shows whether all
    elements are finite, and how far the largest is from overflow.

    Example: `%r = mp.magnitude %x : tensor<4xf16>`
  }];
  let notDifferentiable = "the result is an integer";
  let arguments = (ins RankedTensorOf<[F32, F16, BF16, F8E4M3FN, F8E5M2]>:$input);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

#endif // MP_OPS_LOGIC_TD
