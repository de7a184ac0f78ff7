//===- Math.td - functions of one element ------------------*- tablegen -*-===//
#ifndef MP_OPS_MATH_TD
#define MP_OPS_MATH_TD

include "dialect/MpBase.td"

class Mp_MathOp<string mnemonic, list<Trait> traits = []> : Mp_ElementwiseOp<mnemonic, traits> {
  let numericClass = "function";
  let arguments = (ins Mp_FloatTensor:$input);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

class Mp_ExpensiveMathOp<string mnemonic> : Mp_MathOp<mnemonic> {
  let expensive = 1;
}

//===----------------------------------------------------------------------===//
// Exponentials and logarithms
//===----------------------------------------------------------------------===//

def Mp_ExpOp : Mp_ExpensiveMathOp<"exp"> {
  let summary = "exponential";
  let description = [{Example: `%r = mp.exp %x : tensor<4xf32>`}];
  let torch = "exp"; let tensorflow = "Exp"; let relay = "exp"; let relax = "exp";
}

def Mp_Expm1Op : Mp_ExpensiveMathOp<"expm1"> {
  let summary = "exp(x) - 1, exact near zero";
  let description = [{Example: `%r = mp.expm1 %x : tensor<4xf32>`}];
  let torch = "expm1"; let tensorflow = "Expm1";
}

def Mp_LogOp : Mp_ExpensiveMathOp<"log"> {
  let summary = "natural logarithm";
  let description = [{Example: `%r = mp.log %x : tensor<4xf32>`}];
  let torch = "log"; let tensorflow = "Log"; let relax = "log";
}

def Mp_Log1pOp : Mp_ExpensiveMathOp<"log1p"> {
  let summary = "log(1 + x), exact near zero";
  let description = [{Example: `%r = mp.log1p %x : tensor<4xf32>`}];
  let torch = "log1p"; let tensorflow = "Log1p";
}

def Mp_ErfOp : Mp_ExpensiveMathOp<"erf"> {
  let summary = "error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x";
  let description = [{Example: `%r = mp.erf %x : tensor<4xf32>`}];
  let torch = "erf"; let tensorflow = "Erf"; let relay = "erf"; let relax = "erf";
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

def Mp_SqrtOp : Mp_MathOp<"sqrt"> {
  let summary = "square root";
  let description = [{Example: `%r = mp.sqrt %x : tensor<4xf32>`}];
  let torch = "sqrt"; let tensorflow = "Sqrt"; let relay = "sqrt"; let relax = "sqrt";
}

def Mp_RsqrtOp : Mp_MathOp<"rsqrt"> {
  let summary = "one over the square root";
  let description = [{Example: `%r = mp.rsqrt %x : tensor<4xf32>`}];
  let torch = "rsqrt"; let tensorflow = "Rsqrt"; let relax = "rsqrt";
}

def Mp_ReciprocalOp : Mp_MathOp<"reciprocal"> {
  let summary = "one over the operand";
  let description = [{Example: `%r = mp.reciprocal %x : tensor<4xf32>`}];
  let torch = "reciprocal"; let tensorflow = "Reciprocal";
}

def Mp_PowOp : Mp_ElementwiseOp<"pow"> {
  let numericClass = "function";
  let summary = "base to the power of exponent, element by element";
  let description = [{
    The values are those of C and PyTorch. A base below zero has powers at integer exponents and is NaN at
    others. Anything to the power of zero, and one to any power, is one; this includes NaN.

    If the exponent is the same constant for all elements and is -2, -1, -0.5, 0, 0.5, 1, 2 or 3, the power is
    computed by products, quotients and square roots in the compute type. Its error is at most 2 units in the
    last place, as for any power. PyTorch does the same. An exponent of 0.5 therefore gives the results of the
    square root at -0.0 and at minus infinity.

    As in PyTorch, the gradient of the base is zero where the exponent is zero. The gradient of the exponent
    is zero where the base is zero and the exponent is not negative.

    Example: `%r = mp.pow %x, %y : tensor<4x3xf32>, tensor<3xf32>`
  }];
  let torch = "pow"; let tensorflow = "Pow"; let relay = "power"; let relax = "power";
  let arguments = (ins Mp_FloatTensor:$base, Mp_FloatTensor:$exponent);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$base `,` $exponent attr-dict `:` type($base) `,` type($exponent)";
  let hasFolder = 1;
  let extraDeclarations = [{
    bool isExpensive();
  }];
}

//===----------------------------------------------------------------------===//
// Waves
//===----------------------------------------------------------------------===//

def Mp_SinOp : Mp_ExpensiveMathOp<"sin"> {
  let summary = "sine; large operands are reduced exactly";
  let description = [{Example: `%r = mp.sin %x : tensor<4xf32>`}];
  let torch = "sin"; let tensorflow = "Sin"; let relax = "sin";
}

def Mp_CosOp : Mp_ExpensiveMathOp<"cos"> {
  let summary = "cosine; large operands are reduced exactly";
  let description = [{Example: `%r = mp.cos %x : tensor<4xf32>`}];
  let torch = "cos"; let tensorflow = "Cos"; let relax = "cos";
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

def Mp_SignOp : Mp_MathOp<"sign"> {
  let summary = "1 above zero, -1 below, 0 at zero and at NaN";
  let description = [{
    No gradient passes. The derivative is zero wherever it exists, and PyTorch's is zero everywhere.

    Example: `%r = mp.sign %x : tensor<4xf32>`
  }];
  let torch = "sign"; let tensorflow = "Sign"; let relax = "sign";
}

def Mp_FloorOp : Mp_MathOp<"floor"> {
  let summary = "largest integer that is not above the operand";
  let description = [{
    No gradient passes. The derivative is zero wherever it exists, and PyTorch's is zero everywhere.

    Example: `%r = mp.floor %x : tensor<4xf32>`
  }];
  let torch = "floor"; let tensorflow = "Floor"; let relax = "floor";
}

def Mp_ClampOp : Mp_MathOp<"clamp"> {
  let summary = "the nearest value between two bounds";
  let description = [{
    The result is `min(max(x, min), max)`, and either bound may be omitted. Where `min` exceeds `max` the
    result is `max`. A NaN stays NaN. The bounds are rounded to the operand's type. The gradient passes
    strictly between the bounds. At a bound it is zero, as in PyTorch 2.15 (older versions let it pass there),
    and it is zero at NaN.

    Example: `%r = mp.clamp %x {max = 6.0, min = 0.0} : tensor<4xf32>`
  }];
  let torch = "clamp"; let tensorflow = "ClipByValue"; let relay = "clip";
  let arguments = (ins Mp_FloatTensor:$input, OptionalAttr<F64Attr>:$min, OptionalAttr<F64Attr>:$max);
  let hasVerifier = 1;
}

#endif // MP_OPS_MATH_TD
