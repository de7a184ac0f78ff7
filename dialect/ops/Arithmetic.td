//===- Arithmetic.td - constants and arithmetic ------------*- tablegen -*-===//
#ifndef MP_OPS_ARITHMETIC_TD
#define MP_OPS_ARITHMETIC_TD

include "dialect/MpBase.td"

//===----------------------------------------------------------------------===//
// Ops without operands
//===----------------------------------------------------------------------===//

def Mp_ConstantOp : Mp_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a tensor known at compile time";
  let description = [{Example: `%c = mp.constant dense<2.0> : tensor<f32>`}];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let builders = [OpBuilder<(ins "::mlir::RankedTensorType":$type, "double":$value)>];
  let hasFolder = 1;
}

def Mp_IotaOp : Mp_Op<"iota", [Pure]> {
  let summary = "index of every element along one dimension";
  let description = [{
    Example: `%i = mp.iota dim(1) : tensor<4x10xi32>`
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = "`dim` `(` $dim `)` attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

class Mp_BinaryOp<string mnemonic, list<Trait> traits = []> : Mp_ElementwiseOp<mnemonic, traits> {
  let numericClass = "arithmetic";
  let arguments = (ins Mp_NumberTensor:$lhs, Mp_NumberTensor:$rhs);
  let results = (outs Mp_NumberTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def Mp_AddOp : Mp_BinaryOp<"add", [Commutative]> {
  let summary = "sum, element by element";
  let description = [{Example: `%r = mp.add %x, %y : tensor<4x3xf32>, tensor<3xf32>`}];
  let torch = "add"; let tensorflow = "AddV2"; let relay = "add"; let relax = "add";
  let hasFolder = 1;
}

def Mp_SubOp : Mp_BinaryOp<"sub"> {
  let summary = "difference, element by element";
  let description = [{Example: `%r = mp.sub %x, %y : tensor<4x3xf32>, tensor<4x1xf32>`}];
  let torch = "sub"; let tensorflow = "Sub"; let relay = "subtract"; let relax = "subtract";
  let hasFolder = 1;
}

def Mp_MulOp : Mp_BinaryOp<"mul", [Commutative]> {
  let summary = "product, element by element";
  let description = [{Example: `%r = mp.mul %x, %y : tensor<4x3xf32>, tensor<f32>`}];
  let torch = "mul"; let tensorflow = "Mul"; let relay = "multiply"; let relax = "multiply";
  let hasFolder = 1;
}

def Mp_DivOp : Mp_BinaryOp<"div"> {
  let summary = "quotient, element by element";
  let description = [{
    Integers are divided towards zero. Division by an integer zero is undefined.

    Example: `%r = mp.div %x, %y : tensor<4x3xf32>, tensor<4x3xf32>`
  }];
  let torch = "div"; let tensorflow = "RealDiv"; let relay = "divide"; let relax = "divide";
  let hasFolder = 1;
}

def Mp_MaximumOp : Mp_BinaryOp<"maximum", [Commutative]> {
  let summary = "larger of two, element by element, or NaN";
  let description = [{
    If one of the elements is NaN, the result is NaN. Where both are equal, each gets half of the gradient,
    and where one is NaN, each gets all of it, as in PyTorch.

    Example: `%r = mp.maximum %x, %y : tensor<4xf32>, tensor<4xf32>`
  }];
  let torch = "maximum"; let tensorflow = "Maximum"; let relay = "maximum"; let relax = "maximum";
}

def Mp_MinimumOp : Mp_BinaryOp<"minimum", [Commutative]> {
  let summary = "smaller of two, element by element, or NaN";
  let description = [{
    If one of the elements is NaN, the result is NaN. Where both are equal, each gets half of the gradient,
    and where one is NaN, each gets all of it, as in PyTorch.

    Example: `%r = mp.minimum %x, %y : tensor<4xf32>, tensor<4xf32>`
  }];
  let torch = "minimum"; let tensorflow = "Minimum"; let relay = "minimum"; let relax = "minimum";
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

class Mp_UnaryOp<string mnemonic, list<Trait> traits = []> : Mp_ElementwiseOp<mnemonic, traits> {
  let numericClass = "arithmetic";
  let arguments = (ins Mp_FloatTensor:$input);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Mp_NegOp : Mp_UnaryOp<"neg"> {
  let summary = "negation";
  let description = [{Example: `%r = mp.neg %x : tensor<4xf32>`}];
  let torch = "neg"; let tensorflow = "Neg"; let relax = "negative";
  let hasFolder = 1;
}

def Mp_AbsOp : Mp_UnaryOp<"abs"> {
  let summary = "absolute value";
  let description = [{
    The gradient at zero and at NaN is zero, as in PyTorch.

    Example: `%r = mp.abs %x : tensor<4xf32>`
  }];
  let torch = "abs"; let tensorflow = "Abs"; let relax = "abs";
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

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

#endif // MP_OPS_ARITHMETIC_TD
