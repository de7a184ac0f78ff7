//===- RotaryEmbedding.td - positions as angles ------------*- tablegen -*-===//
#ifndef MP_OPS_ROTARYEMBEDDING_TD
#define MP_OPS_ROTARYEMBEDDING_TD

include "dialect/MpBase.td"

def Mp_RotaryEmbeddingOp : Mp_CompositeOp<"rotary_embedding", [AllTypesMatch<["cos", "sin"]>,
                                                           DeclareOpInterfaceMethods<RowOpInterface>]> {
  let numericClass = "function";
  let summary = "pairs of channels rotated by angles that depend on the token";
  let description = [{
    The op rotates each head of queries or keys by its token's position (Su et al. 2021, RoFormer). The last
    dimension of `input` holds the D channels of a head, dimension `dim` the T tokens. `cos` and `sin` hold an
    angle for each token and pair of channels: [T, D/2] for all samples, or with the dimensions of `input`
    before `dim`, such as [N, T, D/2], where samples have other positions. A pair (a, b) becomes
    (a cos - b sin, b cos + a sin), or with `inverse` (a cos + b sin, b cos - a sin).

    Channels i and i + D/2 are a pair, as in Llama and GPT-NeoX (`rotate_half` in Hugging Face, whose tables
    hold each angle twice). With `interleaved`, channels 2i and 2i + 1 are one, as in GPT-J and the original
    Llama. To rotate some of the channels only, slice them off and join the others again.

    The gradient of `input` is the rotation back. `cos` and `sin` may be f32 for an input of 16 bits, and have
    gradients too. Kernels read the angles in the order of the channels: a step stores them for each head of a
    token, once for all ops with heads of one shape. They take least memory with the heads before the tokens.

    Example:
    ```mlir
    %token = mp.iota dim(0) : tensor<16x32xi32>
    %position = mp.cast %token : tensor<16x32xi32> to tensor<16x32xf32>
    %angle = mp.mul %position, %frequency : tensor<16x32xf32>, tensor<32xf32>
    %cos = mp.cos %angle : tensor<16x32xf32>
    %sin = mp.sin %angle : tensor<16x32xf32>
    %r = mp.rotary_embedding %q, %cos, %sin dim(1) : tensor<?x16x4x64xbf16>, tensor<16x32xf32>
    %s = mp.rotary_embedding %k, %cos, %sin dim(2) interleaved : tensor<?x4x16x64xf32>, tensor<16x32xf32>
    ```
  }];
  let torch = "mul+add";
  let arguments = (ins Mp_FloatTensor:$input, Mp_FloatTensor:$cos, Mp_FloatTensor:$sin, I64Attr:$dim,
    UnitAttr:$interleaved, UnitAttr:$inverse);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $cos `,` $sin `dim` `(` $dim `)` (`interleaved` $interleaved^)? (`inverse` $inverse^)? attr-dict `:`
    type($input) `,` type($cos)
  }];
  let extraDeclarations = [{
    bool isAutocastEligible(unsigned operand) { return operand == 0; }
  }];
}

#endif // MP_OPS_ROTARYEMBEDDING_TD
