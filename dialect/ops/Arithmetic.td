//===- Arithmetic.td - arithmetic of one and two tensors ---*- tablegen -*-===//
#ifndef MP_OPS_ARITHMETIC_TD
#define MP_OPS_ARITHMETIC_TD

include "dialect/MpBase.td"

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

#endif // MP_OPS_ARITHMETIC_TD
