//===- Convolution.td - convolutions of images -------------*- tablegen -*-===//
#ifndef MP_OPS_CONVOLUTION_TD
#define MP_OPS_CONVOLUTION_TD

include "dialect/ContractionRules.td"
include "dialect/WindowRules.td"

defvar Mp_ConvolutionArguments = !con(Mp_WindowArguments,
  (ins OptionalAttr<I64Attr>:$groups, OptionalAttr<TypeAttr>:$compute, OptionalAttr<TypeAttr>:$out_dtype));
defvar Mp_ConvolutionFormat = !strconcat(Mp_WindowFormat, [{
  (`groups` `(` $groups^ `)`)? (`out_dtype` `(` $out_dtype^ `)`)? attr-dict `:`
}]);

def Mp_Conv2dOp : Mp_ContractionOp<"conv2d"> {
  let summary = "convolution of images";
  let description = !strconcat([{
    The op is `torch.nn.functional.conv2d`, with channels last: `input` is [batch, height, width, in], `weight` is
    [out, window height, window width, in / groups], `bias` is [out], and the result is [batch, height, width, out].
    `groups` splits the channels of both sides; with as many groups as channels, the convolution is depthwise.
  }], Mp_WindowDescription, [{
    16-bit operands accumulate in f32, and the bias is added before the result is rounded, once. `compute`,
    `out_dtype` and 8-bit operands are as for mp.linear.

    Example:
    ```mlir
    %y = mp.conv2d %x, %w, %b strides[2, 2] low[1, 1] high[1, 1] :
      tensor<?x32x32x3xf32>, tensor<16x3x3x3xf32>, tensor<16xf32>
    ```
  }]);
  let torch = "conv2d"; let tensorflow = "Conv2D"; let relay = "nn.conv2d"; let relax = "nn.conv2d";
  let arguments = !con((ins Mp_FloatTensor:$input, Mp_FloatTensor:$weight, Optional<Mp_FloatTensor>:$bias),
                       Mp_ConvolutionArguments);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = !strconcat("$input `,` $weight (`,` $bias^)? ", Mp_ConvolutionFormat,
    "type($input) `,` type($weight) (`,` type($bias)^)?");
}

def Mp_ConvTranspose2dOp : Mp_ContractionOp<"conv_transpose2d"> {
  let summary = "transposed convolution of images";
  let description = !strconcat([{
    The op is `torch.nn.functional.conv_transpose2d`, with channels last: `input` is [batch, height, width, in],
    `weight` is [in, window height, window width, out / groups] and `bias` is [out]. It is the gradient of the
    input of the mp.conv2d with the same window, plus the bias. `size` is the height and width of the result,
    which that convolution maps to those of the input.
  }], Mp_WindowDescription, [{

    Example:
    ```mlir
    %y = mp.conv_transpose2d %x, %w size[32, 32] strides[2, 2] low[1, 1] high[1, 1] :
      tensor<?x16x16x8xf32>, tensor<8x4x4x3xf32>
    ```
  }]);
  let torch = "conv_transpose2d"; let tensorflow = "Conv2DBackpropInput"; let relay = "nn.conv2d_transpose";
  let relax = "nn.conv2d_transpose";
  let arguments = !con((ins Mp_FloatTensor:$input, Mp_FloatTensor:$weight, Optional<Mp_FloatTensor>:$bias,
                            DenseI64ArrayAttr:$size), Mp_ConvolutionArguments);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = !strconcat("$input `,` $weight (`,` $bias^)? `size` `` $size ", Mp_ConvolutionFormat,
    "type($input) `,` type($weight) (`,` type($bias)^)?");
}

def Mp_Conv2dBackwardInputOp : Mp_ContractionOp<"conv2d_backward_input"> {
  let summary = "gradient of mp.conv2d from its input";
  let description = [{
    `gradient` is that of the result. `size` is the height and width of the input.

    Example:
    ```mlir
    %d = mp.conv2d_backward_input %g, %w size[32, 32] strides[2, 2] low[1, 1] high[1, 1] :
      tensor<?x16x16x16xf32>, tensor<16x3x3x3xf32>
    ```
  }];
  let torch = "convolution_backward"; let tensorflow = "Conv2DBackpropInput"; let relay = "nn.conv2d_transpose";
  let relax = "nn.conv2d_transpose";
  let arguments = !con((ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$weight, DenseI64ArrayAttr:$size),
                       Mp_ConvolutionArguments);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = !strconcat("$gradient `,` $weight `size` `` $size ", Mp_ConvolutionFormat,
    "type($gradient) `,` type($weight)");
}

def Mp_Conv2dBackwardWeightOp : Mp_ContractionOp<"conv2d_backward_weight"> {
  let summary = "gradient of mp.conv2d from its weight";
  let description = [{
    `gradient` is that of the result. `size` is the height and width of the window.

    Example:
    ```mlir
    %d = mp.conv2d_backward_weight %g, %x size[3, 3] strides[2, 2] low[1, 1] high[1, 1] :
      tensor<?x16x16x16xf32>, tensor<?x32x32x3xf32>
    ```
  }];
  let torch = "convolution_backward"; let tensorflow = "Conv2DBackpropFilter"; let relay = "nn.conv2d_backward_weight";
  let arguments = !con((ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$input, DenseI64ArrayAttr:$size),
                       Mp_ConvolutionArguments);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = !strconcat("$gradient `,` $input `size` `` $size ", Mp_ConvolutionFormat,
    "type($gradient) `,` type($input)");
}

#endif // MP_OPS_CONVOLUTION_TD
