//===- Random.td - random numbers, dropout, random rounding ---------------===//
#ifndef MP_OPS_RANDOM_TD
#define MP_OPS_RANDOM_TD

include "dialect/MpBase.td"

/// The traits that random ops share. Stream and key are the last operands and the first
/// attributes. Two ops without a stream are not equal, so the ops are not pure.
defvar Mp_RandomTraits = [AlwaysSpeculatable, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                          DeclareOpInterfaceMethods<ScalarOpInterface>, RandomOpInterface];
defvar Mp_Draw = "(`stream` `(` $stream^ `)`)? (`key` `(` $key^ `)`)? attr-dict `:` ";
defvar Mp_DrawFacts = [{
  static bool takesIndex() { return true; }
}];

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// An op that yields random numbers of a type that no operand determines.
class Mp_RandomNumbersOp<string mnemonic> : Mp_Op<mnemonic,
    !listconcat(Mp_RandomTraits, [DifferentiableOpInterface])> {
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = !strconcat(Mp_Draw, "type($result)");
  let hasVerifier = 1;
  let extraDeclarations = !strconcat(Mp_DrawFacts, [{
    static ::llvm::StringRef whyNotDifferentiable() { return "it has no operand of floats"; }
    ::llvm::SmallVector<::mlir::Value> buildGradients(::mlir::ImplicitLocOpBuilder &,
                                                      ::mlir::ValueRange) {
      return ::llvm::SmallVector<::mlir::Value>((*this)->getNumOperands());
    }
  }]);
}

def Mp_RandomKeyOp : Mp_RandomNumbersOp<"random_key"> {
  let summary = "what the bits of a stream depend on, for an op that draws them itself";
  let description = [{
    The result is the run's seed, the stream, the step's attempt and the micro-batch. An op that draws bits within its
    kernel, as attention does for its dropout, takes it as an operand. The bits of element i are those that an op of the
    same stream draws for its element i.

    Example: `%key = mp.random_key`
  }];
  let arguments = (ins Variadic<Mp_Count>:$key, OptionalAttr<I64Attr>:$stream);
  let results = (outs Mp_RandomKey:$result);
  let assemblyFormat = "(`stream` `(` $stream^ `)`)? (`key` `(` $key^ `)`)? attr-dict";
}

def Mp_UniformOp : Mp_RandomNumbersOp<"uniform"> {
  let expensive = 1;
  let summary = "random numbers, uniform in [low, high)";
  let description = [{
    The result is low + (high - low) u, where u is a multiple of 2^-24 in [0, 1). It stays below `high` when
    it is rounded. If the op has no key, `mp-random-keys` gives it the key of the step (docs/random.md).

    Example: `%r = mp.uniform {low = -1.0} : tensor<4x8xf32>`
  }];
  let arguments = (ins Variadic<Mp_Count>:$key, OptionalAttr<I64Attr>:$stream,
    DefaultValuedAttr<F64Attr, "0.0">:$low, DefaultValuedAttr<F64Attr, "1.0">:$high);
}

def Mp_NormalOp : Mp_RandomNumbersOp<"normal"> {
  let expensive = 1;
  let summary = "random numbers, normally distributed";
  let description = [{
    The result is mean + std z. z is the inverse of the normal distribution function at one of 2^32
    equidistant places, within 1.0e-6 of the exact value relative to it, and |z| < 6.4.

    Example: `%r = mp.normal {std = 2.0e-2} : tensor<4x8xf32>`
  }];
  let arguments = (ins Variadic<Mp_Count>:$key, OptionalAttr<I64Attr>:$stream,
    DefaultValuedAttr<F64Attr, "0.0">:$mean, DefaultValuedAttr<F64Attr, "1.0">:$std);
}

def Mp_GumbelOp : Mp_RandomNumbersOp<"gumbel"> {
  let expensive = 1;
  let summary = "random numbers of the standard Gumbel distribution";
  let description = [{
    The result is -log(-log(1 - u)) at one of 2^31 equidistant places u in (0, 1), as an f32, and lies between -2.9
    and 22.2. The largest of some logits plus such numbers is at an index with the probability that the softmax of the
    logits has there, which is how mp.categorical draws.

    Example: `%r = mp.gumbel : tensor<4x8xf32>`
  }];
  let arguments = (ins Variadic<Mp_Count>:$key, OptionalAttr<I64Attr>:$stream);
}

def Mp_BernoulliOp : Mp_TensorOp<"bernoulli", Mp_RandomTraits> {
  let typeRule = Mp_InferFirst;
  let summary = "one with a given probability, else zero";
  let description = [{
    The probability of each element is that element of the operand. A NaN gives zero.

    Example: `%r = mp.bernoulli %p : tensor<4x8xf32>`
  }];
  let torch = "bernoulli";
  let notDifferentiable = "its result is zero or one";
  let arguments = (ins Mp_FloatTensor:$input, Variadic<Mp_Count>:$key, OptionalAttr<I64Attr>:$stream);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = !strconcat("$input ", Mp_Draw, "type($input)");
  let hasVerifier = 1;
  let expensive = 1;
  let extraDeclarations = Mp_DrawFacts;
}

def Mp_CategoricalOp : Mp_TensorOp<"categorical",
    [AlwaysSpeculatable, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     DeclareOpInterfaceMethods<DecomposableOpInterface>, RandomOpInterface]> {
  let numericClass = "reduction";
  let summary = "an index along a dimension, drawn with the probabilities of a softmax";
  let description = [{
    The op is `torch.distributions.Categorical(logits=x).sample()`, or `torch.multinomial` of one sample with logits
    instead of probabilities. It is the mp.argmax of the logits plus mp.gumbel, so an index whose logit is
    -inf is drawn only if all are, and a NaN is drawn if there is one. Divided logits draw at another temperature. The
    result is i32.

    Example: `%i = mp.categorical %logits dim(1) : tensor<?x1000xf32>`
  }];
  let torch = "multinomial"; let tensorflow = "Multinomial"; let relay = "multinomial";
  let notDifferentiable = "the result is an index";
  let arguments = (ins Mp_FloatTensor:$logits, I64Attr:$dim, Variadic<Mp_Count>:$key, OptionalAttr<I64Attr>:$stream);
  let results = (outs RankedTensorOf<[I32]>:$indices);
  let assemblyFormat = !strconcat("$logits `dim` `(` $dim `)` ", Mp_Draw, "type($logits)");
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

class Mp_DropOp<string mnemonic, list<Trait> traits = []>
    : Mp_TensorOp<mnemonic, !listconcat(Mp_RandomTraits, traits)> {
  let numericClass = "random";
  let expensive = 1;
  let typeRule = Mp_InferFirst;
  let arguments = (ins Mp_FloatTensor:$input, Variadic<Mp_Count>:$key, OptionalAttr<I64Attr>:$stream,
    DefaultValuedAttr<F64Attr, "0.5">:$p);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = !strconcat("$input ", Mp_Draw, "type($input)");
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Mp_DropoutOp : Mp_DropOp<"dropout", [EvaluationOpInterface]> {
  let summary = "zero with probability p, else x / (1 - p)";
  let description = [{
    As in PyTorch, the result is x times zero or x times 1 / (1 - p). Where an element is dropped, infinity
    and NaN therefore become NaN. With `p` = 1, all elements are dropped. In a function that evaluates, the op
    is the identity. The backward pass draws the mask again instead of keeping it.

    Example: `%r = mp.dropout %x {p = 0.1} : tensor<4x8xf32>`
  }];
  let torch = "dropout"; let relay = "nn.dropout"; let relax = "nn.dropout";
  let extraDeclarations = !strconcat(Mp_DrawFacts, [{
    ::llvm::SmallVector<::mlir::Value> buildEvaluation(::mlir::ImplicitLocOpBuilder &) { return {getInput()}; }
  }]);
}

def Mp_DropoutBackwardOp : Mp_DropOp<"dropout_backward"> {
  let summary = "gradient of mp.dropout, by the same mask";
  let description = [{
    Stream and key are those of the forward op, and so is the mask.

    Example: `%d = mp.dropout_backward %g stream(3) {p = 0.1} : tensor<4x8xf32>`
  }];
  let extraDeclarations = !strconcat(Mp_DrawFacts, [{ static bool drawsAgain() { return true; } }]);
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

def Mp_StochasticRoundOp : Mp_Op<"stochastic_round", !listconcat(Mp_RandomTraits, [DifferentiableOpInterface])> {
  let summary = "rounding to 16 bits, up or down at random, exact on average";
  let description = [{
    A value is rounded to one of its two neighbours, and the nearer one is more probable. A value x between a
    and b becomes b with probability (x - a) / (b - a), to a multiple of 2^-16 (bf16, where that is exact) or
    2^-24 (f16). A value that the type can represent stays as it is, and so do infinities and NaN. Beyond the
    largest finite number, the upper neighbour is infinity.

    Example: `%r = mp.stochastic_round %x : tensor<4xf32> to tensor<4xbf16>`
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$input, Variadic<Mp_Count>:$key, OptionalAttr<I64Attr>:$stream);
  let results = (outs RankedTensorOf<[F16, BF16]>:$result);
  let assemblyFormat = !strconcat("$input ", Mp_Draw, "type($input) `to` type($result)");
  let hasVerifier = 1;
  let extraDeclarations = !strconcat(Mp_DrawFacts, [{
    static ::llvm::StringRef whyNotDifferentiable() { return "it rounds what is stored: a gradient passes mp.cast"; }
    ::llvm::SmallVector<::mlir::Value> buildGradients(::mlir::ImplicitLocOpBuilder &,
                                                      ::mlir::ValueRange) {
      return ::llvm::SmallVector<::mlir::Value>((*this)->getNumOperands());
    }
  }]);
}

#endif // MP_OPS_RANDOM_TD
