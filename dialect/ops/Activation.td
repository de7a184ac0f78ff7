//===- Activation.td - activations and their gradients -----*- tablegen -*-===//
#ifndef MP_OPS_ACTIVATION_TD
#define MP_OPS_ACTIVATION_TD

include "dialect/MpBase.td"

class Mp_ActivationOp<string mnemonic, list<Trait> traits = []> : Mp_ElementwiseOp<mnemonic, traits> {
  let numericClass = "activation";
  let arguments = (ins Mp_FloatTensor:$input);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

/// A gradient op computes in the compute type and rounds once, unlike a chain of
/// ops on 16-bit tensors. It has a gradient too, for losses that contain a
/// gradient, such as gradient penalties.
class Mp_ActivationBackwardOp<string mnemonic, string saved, list<Trait> traits = []>
    : Mp_ElementwiseOp<mnemonic, traits> {
  let numericClass = "activation";
  let summary = "gradient of mp." # !subst("_backward", "", mnemonic) # " from its " # saved;
  let description = "Example: `%d = mp." # mnemonic # " %g, %x : tensor<4xf32>, tensor<4xf32>`";
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$saved);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$gradient `,` $saved attr-dict `:` type($gradient) `,` type($saved)";
}

def Mp_ReluOp : Mp_ActivationOp<"relu"> {
  let summary = "rectified linear unit, max(x, 0)";
  let description = [{
    A NaN stays NaN. The gradient at zero is zero.

    Example: `%r = mp.relu %x : tensor<4xf32>`
  }];
  let torch = "relu"; let tensorflow = "Relu"; let relay = "nn.relu"; let relax = "nn.relu";
}
def Mp_ReluBackwardOp : Mp_ActivationBackwardOp<"relu_backward", "result"> { let tensorflow = "ReluGrad"; }

def Mp_TanhOp : Mp_ActivationOp<"tanh"> {
  let summary = "hyperbolic tangent";
  let description = [{Example: `%r = mp.tanh %x : tensor<4xf32>`}];
  let torch = "tanh"; let tensorflow = "Tanh"; let relay = "tanh"; let relax = "tanh";
  let expensive = 1;
}
def Mp_TanhBackwardOp : Mp_ActivationBackwardOp<"tanh_backward", "result"> { let tensorflow = "TanhGrad"; }

def Mp_SigmoidOp : Mp_ActivationOp<"sigmoid"> {
  let summary = "logistic function, 1 / (1 + exp(-x))";
  let description = [{Example: `%r = mp.sigmoid %x : tensor<4xf32>`}];
  let torch = "sigmoid"; let tensorflow = "Sigmoid"; let relay = "sigmoid"; let relax = "sigmoid";
  let expensive = 1;
}
def Mp_SigmoidBackwardOp : Mp_ActivationBackwardOp<"sigmoid_backward", "result"> { let tensorflow = "SigmoidGrad"; }

def Mp_GeluApproximation : Mp_Enum<"GeluApproximation", "formula that computes gelu", [
  I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"tanh", 1>,
]>;
def Mp_GeluApproximationAttr : EnumAttr<Mp_Dialect, Mp_GeluApproximation, "gelu_approximation"> {
  let assemblyFormat = "`(` $value `)`";
}

def Mp_GeluOp : Mp_ActivationOp<"gelu"> {
  let summary = "Gaussian error linear unit, x * Phi(x)";
  let description = [{
    `approximate` has the meaning that it has in PyTorch: `none` (by erf) or `tanh`.

    Example: `%r = mp.gelu %x approximate(tanh) : tensor<4xf32>`
  }];
  let torch = "gelu"; let tensorflow = "Erf+Mul"; let relax = "nn.gelu";
  let arguments = (ins Mp_FloatTensor:$input,
    DefaultValuedAttr<Mp_GeluApproximationAttr, "::mp::GeluApproximation::none">:$approximate);
  let assemblyFormat = "$input (`approximate` `` $approximate^)? attr-dict `:` type($input)";
  let expensive = 1;
}
def Mp_GeluBackwardOp : Mp_ActivationBackwardOp<"gelu_backward", "operand"> {
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$saved,
    DefaultValuedAttr<Mp_GeluApproximationAttr, "::mp::GeluApproximation::none">:$approximate);
  let assemblyFormat = [{
    $gradient `,` $saved (`approximate` `` $approximate^)? attr-dict `:`
    type($gradient) `,` type($saved)
  }];
  let expensive = 1;
}

def Mp_SoftplusOp : Mp_ActivationOp<"softplus"> {
  let summary = "smooth relu, log(1 + exp(beta * x)) / beta";
  let description = [{
    As in PyTorch, the result is x itself where beta * x exceeds `threshold`.

    Example: `%r = mp.softplus %x {beta = 2.0} : tensor<4xf32>`
  }];
  let torch = "softplus"; let tensorflow = "Softplus"; let relax = "nn.softplus";
  let arguments = (ins Mp_FloatTensor:$input, DefaultValuedAttr<F64Attr, "1.0">:$beta,
    DefaultValuedAttr<F64Attr, "20.0">:$threshold);
  let hasVerifier = 1;
  let expensive = 1;
}
def Mp_SoftplusBackwardOp : Mp_ActivationBackwardOp<"softplus_backward", "operand"> {
  let tensorflow = "SoftplusGrad";
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$saved,
    DefaultValuedAttr<F64Attr, "1.0">:$beta, DefaultValuedAttr<F64Attr, "20.0">:$threshold);
  let expensive = 1;
}

def Mp_SiluOp : Mp_ActivationOp<"silu"> {
  let summary = "sigmoid linear unit or swish, x / (1 + exp(-x))";
  let description = [{
    As in PyTorch, the result at minus infinity is NaN.

    Example: `%r = mp.silu %x : tensor<4xf32>`
  }];
  let torch = "silu"; let tensorflow = "Sigmoid+Mul"; let relax = "nn.silu";
  let expensive = 1;
}
def Mp_SiluBackwardOp : Mp_ActivationBackwardOp<"silu_backward", "operand"> {
  let expensive = 1;
}

def Mp_LeakyReluOp : Mp_ActivationOp<"leaky_relu"> {
  let summary = "x above zero, negative_slope * x elsewhere";
  let description = [{
    The gradient at zero is that of the left side, as in PyTorch.

    Example: `%r = mp.leaky_relu %x {negative_slope = 0.2} : tensor<4xf32>`
  }];
  let torch = "leaky_relu"; let tensorflow = "LeakyRelu"; let relay = "nn.leaky_relu"; let relax = "nn.leakyrelu";
  let arguments = (ins Mp_FloatTensor:$input, DefaultValuedAttr<F64Attr, "0.01">:$negative_slope);
  let hasVerifier = 1;
}
def Mp_LeakyReluBackwardOp : Mp_ActivationBackwardOp<"leaky_relu_backward", "operand"> {
  let tensorflow = "LeakyReluGrad";
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$saved,
    DefaultValuedAttr<F64Attr, "0.01">:$negative_slope);
}

def Mp_EluOp : Mp_ActivationOp<"elu"> {
  let summary = "x above zero, alpha * (exp(x) - 1) elsewhere";
  let description = [{
    The gradient at zero is that of the left side, alpha, as in PyTorch.

    Example: `%r = mp.elu %x {alpha = 0.5} : tensor<4xf32>`
  }];
  let torch = "elu"; let tensorflow = "Elu";
  let arguments = (ins Mp_FloatTensor:$input, DefaultValuedAttr<F64Attr, "1.0">:$alpha);
  let hasVerifier = 1;
  let expensive = 1;
}
def Mp_EluBackwardOp : Mp_ActivationBackwardOp<"elu_backward", "operand"> {
  let tensorflow = "EluGrad";
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$saved,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha);
  let expensive = 1;
}

#endif // MP_OPS_ACTIVATION_TD
