//===- Normalization.td - zero mean and unit variance ------*- tablegen -*-===//
#ifndef MP_OPS_NORMALIZATION_TD
#define MP_OPS_NORMALIZATION_TD

include "dialect/MpBase.td"

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

/// Statistics, and parameters of channels, in the compute type of the input.
def Mp_StatisticTensor : RankedTensorOf<[F64, F32]>;

/// The ops compute in f32 (f64 for f64), whatever type the input has. Statistics and
/// parameters have this type outside too, so a policy may change the type of the input alone.
class Mp_NormalizationOp<string mnemonic, list<Trait> traits = []> : Mp_CompositeOp<mnemonic, traits> {
  let numericClass = "normalization";
  let extraDeclarations = [{
    bool isAutocastEligible(unsigned operand) { return operand == 0; }
  }];
}

/// The first two operands are the gradient and the input, which have one type.
class Mp_NormalizationBackwardOp<string mnemonic> : Mp_CompositeOp<mnemonic> {
  let numericClass = "normalization";
  let extraDeclarations = [{
    bool isAutocastEligible(unsigned operand) { return operand < 2; }
  }];
}

defvar Mp_Weight = "(`weight` `(` $weight^ `:` type($weight) `)`)? ";
defvar Mp_WeightAndBias = !strconcat(Mp_Weight, "(`bias` `(` $bias^ `:` type($bias) `)`)? ");
defvar Mp_NormalizedShape = "(`normalized_shape` `` $normalized_shape^)? ";
defvar Mp_ChannelDim = "(`channel_dim` `(` $channel_dim^ `)`)? ";
defvar Mp_Groups = "`groups` `(` $num_groups `)` ";
defvar Mp_BackwardTypes = "attr-dict `:` type($gradient) `,` type($input) `,` type($mean) `,` type($rstd)";

//===----------------------------------------------------------------------===//
// Norms over trailing dimensions
//===----------------------------------------------------------------------===//

def Mp_LayerNormOp : Mp_NormalizationOp<"layer_norm", [AttrSizedOperandSegments]> {
  let torch = "layer_norm"; let tensorflow = "Mean+SquaredDifference+Rsqrt+Mul+AddV2";
  let relay = "nn.layer_norm"; let relax = "nn.layer_norm";
  let summary = "zero mean and unit variance over trailing dimensions, then an affine map";
  let description = [{
    The op is `torch.nn.functional.layer_norm`: (x - mean) rstd weight + bias, where rstd is 1 / sqrt(variance
    + eps). The dimensions are those of `weight` or `bias`, or `normalized_shape`. `mean` and `rstd` have the
    input's shape with ones in these dimensions. The variance is the mean square of x - mean.

    Example:
    ```mlir
    %y, %mean, %rstd = mp.layer_norm %x weight(%w : tensor<256xf32>) bias(%b : tensor<256xf32>) : tensor<?x256xf16>
    ```
  }];
  let arguments = (ins Mp_FloatTensor:$input, Optional<Mp_StatisticTensor>:$weight, Optional<Mp_StatisticTensor>:$bias,
    OptionalAttr<DenseI64ArrayAttr>:$normalized_shape, DefaultValuedAttr<F64Attr, "1e-5">:$eps);
  let results = (outs Mp_FloatTensor:$result, Mp_StatisticTensor:$mean, Mp_StatisticTensor:$rstd);
  let assemblyFormat = !strconcat("$input ", Mp_NormalizedShape, Mp_WeightAndBias, "attr-dict `:` type($input)");
  let hasVerifier = 1;
}

def Mp_LayerNormBackwardOp : Mp_NormalizationBackwardOp<"layer_norm_backward"> {
  let summary = "gradients of mp.layer_norm: of the input, the weight and the bias";
  let description = [{
    `mean` and `rstd` are ordinary operands: a second derivative passes through them.

    Example:
    ```mlir
    %dx, %dw, %db = mp.layer_norm_backward %g, %x, %mean, %rstd weight(%w : tensor<8xf32>)
        : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x1xf32>, tensor<4x1xf32>
    ```
  }];
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$input, Mp_StatisticTensor:$mean,
    Mp_StatisticTensor:$rstd, Optional<Mp_StatisticTensor>:$weight,
    OptionalAttr<DenseI64ArrayAttr>:$normalized_shape);
  let results = (outs Mp_FloatTensor:$input_gradient, Mp_StatisticTensor:$weight_gradient,
    Mp_StatisticTensor:$bias_gradient);
  let assemblyFormat = !strconcat("$gradient `,` $input `,` $mean `,` $rstd ", Mp_NormalizedShape, Mp_Weight,
                                  Mp_BackwardTypes);
}

def Mp_RmsNormOp : Mp_NormalizationOp<"rms_norm"> {
  let summary = "unit mean square over trailing dimensions, times a weight";
  let description = [{
    The op is `torch.nn.functional.rms_norm`: x rstd weight, where rstd is 1 / sqrt(mean square + eps). The
    dimensions are those of `weight`, or `normalized_shape`. The default of `eps` is the epsilon of the
    compute type, which is 2^-23 for 16-bit inputs too, as in PyTorch.

    Example: `%y, %rstd = mp.rms_norm %x weight(%w : tensor<256xf32>) {eps = 1.0e-6} : tensor<?x256xbf16>`
  }];
  let torch = "rms_norm"; let tensorflow = "Square+Mean+Rsqrt+Mul"; let relax = "nn.rms_norm";
  let arguments = (ins Mp_FloatTensor:$input, Optional<Mp_StatisticTensor>:$weight,
    OptionalAttr<DenseI64ArrayAttr>:$normalized_shape, OptionalAttr<F64Attr>:$eps);
  let results = (outs Mp_FloatTensor:$result, Mp_StatisticTensor:$rstd);
  let assemblyFormat = !strconcat("$input ", Mp_NormalizedShape, Mp_Weight, "attr-dict `:` type($input)");
  let hasVerifier = 1;
  let extraDeclarations = [{
    bool isAutocastEligible(unsigned operand) { return operand == 0; }
    ::llvm::LogicalResult retypeResults();
  }];
}

def Mp_RmsNormBackwardOp : Mp_NormalizationBackwardOp<"rms_norm_backward"> {
  let summary = "gradients of mp.rms_norm: of the input and the weight";
  let description = [{
    Example:
    ```mlir
    %dx, %dw = mp.rms_norm_backward %g, %x, %rstd weight(%w : tensor<8xf32>)
        : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x1xf32>
    ```
  }];
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$input, Mp_StatisticTensor:$rstd,
    Optional<Mp_StatisticTensor>:$weight, OptionalAttr<DenseI64ArrayAttr>:$normalized_shape);
  let results = (outs Mp_FloatTensor:$input_gradient, Mp_StatisticTensor:$weight_gradient);
  let assemblyFormat = !strconcat("$gradient `,` $input `,` $rstd ", Mp_NormalizedShape, Mp_Weight,
                                  "attr-dict `:` type($gradient) `,` type($input) `,` type($rstd)");
}

//===----------------------------------------------------------------------===//
// Norms over groups of channels
//===----------------------------------------------------------------------===//

def Mp_GroupNormOp : Mp_NormalizationOp<"group_norm", [AttrSizedOperandSegments]> {
  let torch = "group_norm"; let tensorflow = "Mean+SquaredDifference+Rsqrt+Mul+AddV2"; let relax = "nn.group_norm";
  let summary = "zero mean and unit variance over groups of channels, then an affine map";
  let description = [{
    The op is `torch.nn.functional.group_norm`: `input` is [N, C, ...], `weight` and `bias` are [C], and
    `mean` and `rstd` are [N, num_groups]. With as many groups as channels it is the instance norm.
    `channel_dim` is the dimension of the channels, 1 unless given: 3 for images [N, height, width, C].

    Example:
    ```mlir
    %y, %mean, %rstd = mp.group_norm %x groups(4) channel_dim(3) weight(%w : tensor<8xf32>) bias(%b : tensor<8xf32>)
        : tensor<?x5x5x8xf16>
    ```
  }];
  let arguments = (ins Mp_FloatTensor:$input, Optional<Mp_StatisticTensor>:$weight, Optional<Mp_StatisticTensor>:$bias,
    I64Attr:$num_groups, OptionalAttr<I64Attr>:$channel_dim, DefaultValuedAttr<F64Attr, "1e-5">:$eps);
  let results = (outs Mp_FloatTensor:$result, Mp_StatisticTensor:$mean, Mp_StatisticTensor:$rstd);
  let assemblyFormat = !strconcat("$input ", Mp_Groups, Mp_ChannelDim, Mp_WeightAndBias,
                                  "attr-dict `:` type($input)");
  let hasVerifier = 1;
}

def Mp_GroupNormBackwardOp : Mp_NormalizationBackwardOp<"group_norm_backward"> {
  let summary = "gradients of mp.group_norm: of the input, the weight and the bias";
  let description = [{
    Example:
    ```mlir
    %dx, %dw, %db = mp.group_norm_backward %g, %x, %mean, %rstd groups(2)
        : tensor<3x4x5xf16>, tensor<3x4x5xf16>, tensor<3x2xf32>, tensor<3x2xf32>
    ```
  }];
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$input, Mp_StatisticTensor:$mean,
    Mp_StatisticTensor:$rstd, Optional<Mp_StatisticTensor>:$weight, I64Attr:$num_groups,
    OptionalAttr<I64Attr>:$channel_dim);
  let results = (outs Mp_FloatTensor:$input_gradient, Mp_StatisticTensor:$weight_gradient,
    Mp_StatisticTensor:$bias_gradient);
  let assemblyFormat = !strconcat("$gradient `,` $input `,` $mean `,` $rstd ", Mp_Groups, Mp_ChannelDim, Mp_Weight,
                                  Mp_BackwardTypes);
}

//===----------------------------------------------------------------------===//
// Norms over a batch
//===----------------------------------------------------------------------===//

def Mp_BatchNormOp : Mp_NormalizationOp<"batch_norm", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<EvaluationOpInterface>]> {
  let torch = "batch_norm"; let tensorflow = "FusedBatchNormV3";
  let relay = "nn.batch_norm"; let relax = "nn.batch_norm";
  let summary = "zero mean and unit variance of each channel in the batch, then an affine map";
  let description = [{
    The op is `torch.nn.functional.batch_norm` in training: `input` is [N, C] or [N, C, ...], and all other
    operands are [C]. `channel_dim` is the dimension of the channels, 1 unless given: 3 for images
    [N, height, width, C]. The input is normalized by the mean and the biased variance of this batch. The new
    running statistics are `momentum` times the batch's mean and unbiased variance plus one minus `momentum`
    times the old statistics. To keep them, write them to the variables that they were read from; a skipped
    step does not write them. In a function that evaluates, the op becomes `mp.batch_norm_inference`, and the
    running statistics do not change.

    Example:
    ```mlir
    %m = mp.read @bn.running_mean : tensor<8xf32>
    %v = mp.read @bn.running_var : tensor<8xf32>
    %y, %mean, %rstd, %new_m, %new_v = mp.batch_norm %x, %m, %v weight(%w : tensor<8xf32>) bias(%b : tensor<8xf32>)
        : tensor<?x8x5x5xf16>, tensor<8xf32>, tensor<8xf32>
    mp.write @bn.running_mean, %new_m : tensor<8xf32>
    mp.write @bn.running_var, %new_v : tensor<8xf32>
    ```
  }];
  let arguments = (ins Mp_FloatTensor:$input, Mp_StatisticTensor:$running_mean, Mp_StatisticTensor:$running_var,
    Optional<Mp_StatisticTensor>:$weight, Optional<Mp_StatisticTensor>:$bias,
    OptionalAttr<I64Attr>:$channel_dim, DefaultValuedAttr<F64Attr, "0.1">:$momentum,
    DefaultValuedAttr<F64Attr, "1e-5">:$eps);
  let results = (outs Mp_FloatTensor:$result, Mp_StatisticTensor:$mean, Mp_StatisticTensor:$rstd,
    Mp_StatisticTensor:$new_running_mean, Mp_StatisticTensor:$new_running_var);
  let assemblyFormat = !strconcat("$input `,` $running_mean `,` $running_var ", Mp_ChannelDim, Mp_WeightAndBias,
                                  "attr-dict `:` type($input) `,` type($running_mean) `,` type($running_var)");
  let hasVerifier = 1;
}

def Mp_BatchNormBackwardOp : Mp_NormalizationBackwardOp<"batch_norm_backward"> {
  let tensorflow = "FusedBatchNormGradV3";
  let summary = "gradients of mp.batch_norm: of the input, the weight and the bias";
  let description = [{
    `mean` and `rstd` are those of the batch.

    Example:
    ```mlir
    %dx, %dw, %db = mp.batch_norm_backward %g, %x, %mean, %rstd weight(%w : tensor<4xf32>)
        : tensor<3x4xf16>, tensor<3x4xf16>, tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$input, Mp_StatisticTensor:$mean,
    Mp_StatisticTensor:$rstd, Optional<Mp_StatisticTensor>:$weight, OptionalAttr<I64Attr>:$channel_dim);
  let results = (outs Mp_FloatTensor:$input_gradient, Mp_StatisticTensor:$weight_gradient,
    Mp_StatisticTensor:$bias_gradient);
  let assemblyFormat = !strconcat("$gradient `,` $input `,` $mean `,` $rstd ", Mp_ChannelDim, Mp_Weight,
                                  Mp_BackwardTypes);
}

def Mp_BatchNormInferenceOp : Mp_NormalizationOp<"batch_norm_inference", [AttrSizedOperandSegments]> {
  let torch = "batch_norm"; let tensorflow = "FusedBatchNormV3";
  let relay = "nn.batch_norm"; let relax = "nn.batch_norm";
  let summary = "each channel normalized by given statistics, then an affine map";
  let description = [{
    The op is `torch.nn.functional.batch_norm` in evaluation: (x - running_mean) weight / sqrt(running_var +
    eps) + bias. `mp-set-mode{mode=eval}` replaces `mp.batch_norm` by it. In a function that trains, it is a
    norm with frozen statistics. `channel_dim` is as for mp.batch_norm.

    Example:
    ```mlir
    %y = mp.batch_norm_inference %x, %m, %v weight(%w : tensor<8xf32>)
        : tensor<?x8x5x5xf16>, tensor<8xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins Mp_FloatTensor:$input, Mp_StatisticTensor:$running_mean, Mp_StatisticTensor:$running_var,
    Optional<Mp_StatisticTensor>:$weight, Optional<Mp_StatisticTensor>:$bias,
    OptionalAttr<I64Attr>:$channel_dim, DefaultValuedAttr<F64Attr, "1e-5">:$eps);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = !strconcat("$input `,` $running_mean `,` $running_var ", Mp_ChannelDim, Mp_WeightAndBias,
                                  "attr-dict `:` type($input) `,` type($running_mean) `,` type($running_var)");
  let hasVerifier = 1;
}

#endif // MP_OPS_NORMALIZATION_TD
