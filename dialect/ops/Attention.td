//===- Attention.td - attention ----------------------------*- tablegen -*-===//
#ifndef MP_OPS_ATTENTION_TD
#define MP_OPS_ATTENTION_TD

include "dialect/MpBase.td"

def Mp_AttentionTensor : RankedTensorOf<[F64, F32, F16, BF16]>;
/// Numbers per query, in the compute type of the operands.
def Mp_AttentionStatistic : RankedTensorOf<[F64, F32]>;

/// Which keys a query looks at, and what is added to their scores.
defvar Mp_AttentionMask = (ins Optional<RankedTensorOf<[I1, F64, F32, F16, BF16]>>:$mask,
  Optional<RankedTensorOf<[I32, I64]>>:$lengths, Optional<RankedTensorOf<[F64, F32]>>:$slopes,
  Optional<Mp_RandomKey>:$dropout_key, OptionalAttr<F64Attr>:$dropout_p, UnitAttr:$causal,
  OptionalAttr<I64Attr>:$window, OptionalAttr<I64Attr>:$query_offset, OptionalAttr<F64Attr>:$scale);
defvar Mp_AttentionMaskFormat = [{
    (`mask` `(` $mask^ `:` type($mask) `)`)? (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`slopes` `(` $slopes^ `:` type($slopes) `)`)?
    (`dropout` `(` $dropout_key^ `,` $dropout_p `)`)? (`causal` $causal^)? (`window` `(` $window^ `)`)?
    (`query_offset` `(` $query_offset^ `)`)? attr-dict `:`}];

/// A main loop over the keys of each query.
class Mp_AttentionBaseOp<string mnemonic, int factors, list<Trait> traits = []>
    : Mp_PureOp<mnemonic, !listconcat([AttrSizedOperandSegments, AnchorOpInterface], traits)> {
  let numericClass = "contraction";
  let extraDeclarations = [{
    static bool takesEpilogue() { return false; }
    std::optional<int64_t> getTermCount();
    bool isAutocastEligible(unsigned operand) { return operand < }] # factors # [{; }
  }];
}

def Mp_ScaledDotProductAttentionOp : Mp_AttentionBaseOp<"scaled_dot_product_attention", 3,
    [DeclareOpInterfaceMethods<IndexOperandOpInterface>, DeclareOpInterfaceMethods<RowOpInterface>,
     DeclareOpInterfaceMethods<EvaluationOpInterface, ["differsInEvaluation"]>]> {
  let summary = "softmax of scaled products of queries and keys, times the values";
  let description = [{
    The op is `torch.nn.functional.scaled_dot_product_attention`, with tokens before heads: `query` is
    [batch, tokens, heads, depth], `key` is [batch, keys, groups, depth] and `value` is [batch, keys, groups, width],
    as reshapes of projections leave them. Each group of key and value serves `heads / groups` neighbouring heads: as
    many groups as heads are ordinary attention, one is multi-query attention.

    The score of a query and a key is their product times `scale` (1 / sqrt(depth) unless given). It is changed by

    - `mask`: of i1, a key is looked at where it is true; of floats, it is added to the score. It is broadcast to
      [batch, heads, tokens, keys].
    - `lengths`: batch entry b has `lengths[b]` keys, and the others are not looked at.
    - `causal`: query i looks at keys up to `i + query_offset` (0 unless given).
    - `window`: query i looks at keys from `i + query_offset - window + 1` on, and where it is not causal also at
      none after `i + query_offset + window - 1`. Windows and offsets are at most 2^29, as places are i32.
    - `slopes`: ALiBi (Press et al., 2022). Head h adds `-slopes[h] * |i + query_offset - j|` for key j.

    In training, each weight is dropped with probability `dropout_p`, and the others are divided by 1 - `dropout_p`, if
    `dropout` names a key of mp.random_key: those are dropped that mp.dropout of the key's stream would drop of weights
    [batch, heads, tokens, keys]. No mask is stored.

    The result [batch, tokens, heads, width] is the mean of the values, weighted by the softmax of the scores. A query
    that looks at no key yields zeros. `log_sum_exp` [batch, tokens, heads] is the logarithm of the sum of the scores'
    exponentials, 0 for such a query; the gradient is computed from it, so that no scores are stored. It holds no
    logarithm beside scores of -1e9, as a finite mask gives a query that is to look at no key: the gradient takes each
    weight of such a query for 1. Masks of -inf or of flags mask it.

    Sums of 16-bit operands accumulate in f32. The softmax is taken in the compute type, over parts of the keys at a
    time; a weight may be rounded to the type of the values before it multiplies them.

    Example:
    ```mlir
    %y, %lse = mp.scaled_dot_product_attention %q, %k, %v causal
        : tensor<?x128x12x64xbf16>, tensor<?x128x4x64xbf16>, tensor<?x128x4x64xbf16>
    ```
  }];
  let torch = "scaled_dot_product_attention"; let relax = "nn.attention";
  let hasVerifier = 1;
  let arguments = !con((ins Mp_AttentionTensor:$query, Mp_AttentionTensor:$key, Mp_AttentionTensor:$value),
                       Mp_AttentionMask);
  let results = (outs Mp_AttentionTensor:$result, Mp_AttentionStatistic:$log_sum_exp);
  let assemblyFormat = !strconcat("$query `,` $key `,` $value ", Mp_AttentionMaskFormat,
                                  "type($query) `,` type($key) `,` type($value)");
}

def Mp_ScaledDotProductAttentionBackwardOp : Mp_AttentionBaseOp<"scaled_dot_product_attention_backward", 4> {
  let summary = "gradients of mp.scaled_dot_product_attention: of query, key and value";
  let description = [{
    The weights are computed again from the scores and `log_sum_exp`. `delta` [batch, tokens, heads] is the sum of the
    products of the result and its gradient, less the gradient of `log_sum_exp`. The gradients of a float mask and of
    slopes are built of other ops, since they sum scores, which then exist as a whole.

    Example:
    ```mlir
    %dq, %dk, %dv = mp.scaled_dot_product_attention_backward %g, %q, %k, %v, %lse, %delta causal
        : tensor<?x128x12x64xbf16>, tensor<?x128x12x64xbf16>, tensor<?x128x4x64xbf16>, tensor<?x128x4x64xbf16>,
          tensor<?x128x12xf32>, tensor<?x128x12xf32>
    ```
  }];
  let notDifferentiable = "second derivatives of attention are not built";
  let arguments = !con((ins Mp_AttentionTensor:$gradient, Mp_AttentionTensor:$query, Mp_AttentionTensor:$key,
                            Mp_AttentionTensor:$value, Mp_AttentionStatistic:$log_sum_exp,
                            Mp_AttentionStatistic:$delta),
                       Mp_AttentionMask);
  let results = (outs Mp_AttentionTensor:$query_gradient, Mp_AttentionTensor:$key_gradient,
    Mp_AttentionTensor:$value_gradient);
  let assemblyFormat = !strconcat(
    "$gradient `,` $query `,` $key `,` $value `,` $log_sum_exp `,` $delta ", Mp_AttentionMaskFormat,
    "type($gradient) `,` type($query) `,` type($key) `,` type($value) `,` type($log_sum_exp) `,` type($delta)");
}

#endif // MP_OPS_ATTENTION_TD
