//===- Pooling.td - maxima and means of windows ------------*- tablegen -*-===//
#ifndef MP_OPS_POOLING_TD
#define MP_OPS_POOLING_TD

include "dialect/PoolingRules.td"

/// Numbers of elements of a window.
def Mp_TapTensor : RankedTensorOf<[UI8, I32]>;

defvar Mp_PoolWindow = (ins OptionalAttr<DenseI64ArrayAttr>:$window);
defvar Mp_PoolWindowFormat = !strconcat("(`window` `` $window^)? ", Mp_WindowFormat);
/// A mean has no dilations, in PyTorch either.
defvar Mp_MeanArguments = (ins OptionalAttr<DenseI64ArrayAttr>:$strides, OptionalAttr<DenseI64ArrayAttr>:$low,
  OptionalAttr<DenseI64ArrayAttr>:$high, UnitAttr:$exclude_pad);
defvar Mp_MeanFormat = [{
  (`strides` `` $strides^)? (`low` `` $low^)? (`high` `` $high^)? (`exclude_pad` $exclude_pad^)?
}];

defvar Mp_PoolDescription = [{
    Padding is at most half of the window, and is never larger than what it pads. With `ceil_mode`, a window may end
    after the padding if it begins within the input or the padding before it.
}];

//===----------------------------------------------------------------------===//
// Maxima
//===----------------------------------------------------------------------===//

def Mp_MaxPool2dOp : Mp_ImageLoopOp<"max_pool2d"> {
  let fills = 0;
  let summary = "maximum of each window of images";
  let description = !strconcat([{
    The op is `torch.nn.functional.max_pool2d`, with channels last and strides that are 1 unless given. Padding is
    never the maximum. A NaN in a window is its maximum. The gradient goes to the first of several equal maxima, row
    by row, and to the last of several NaN, as in PyTorch.
  }], Mp_WindowDescription, Mp_PoolDescription, [{

    Example:
    ```mlir
    %y = mp.max_pool2d %x window[3, 3] strides[2, 2] low[1, 1] high[1, 1] : tensor<?x32x32x16xf32>
    ```
  }]);
  let torch = "max_pool2d"; let tensorflow = "MaxPool"; let relay = "nn.max_pool2d"; let relax = "nn.max_pool2d";
  let arguments = !con((ins Mp_FloatTensor:$input, DenseI64ArrayAttr:$window), Mp_WindowArguments,
                       (ins UnitAttr:$ceil_mode));
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = !strconcat("$input `window` `` $window ", Mp_WindowFormat,
    "(`ceil_mode` $ceil_mode^)? attr-dict `:` type($input)");
}

def Mp_AdaptiveMaxPool2dOp : Mp_ImageLoopOp<"adaptive_max_pool2d"> {
  let fills = 0;
  let summary = "maximum of each bin of images";
  let description = [{
    The op is `torch.nn.functional.adaptive_max_pool2d`, with channels last. `size` is the height and width of the
    result. Place i of n along a dimension of m elements has the elements from floor(i * m / n) on, before
    ceil((i + 1) * m / n). NaN and ties are as for mp.max_pool2d. Of size[1, 1], it is mp.max over the dimensions 1
    and 2, which fuses with the ops around it.

    Example: `%y = mp.adaptive_max_pool2d %x size[4, 4] : tensor<?x15x15x16xf32>`
  }];
  let torch = "adaptive_max_pool2d"; let relay = "nn.adaptive_max_pool2d";
  let arguments = (ins Mp_FloatTensor:$input, DenseI64ArrayAttr:$size);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$input `size` `` $size attr-dict `:` type($input)";
}

def Mp_MaxPool2dIndexOp : Mp_ImageLoopOp<"max_pool2d_index"> {
  let summary = "which element of each window is its maximum";
  let description = [{
    The result has the number of the element within its window, row by row, counting padding. It is ui8 if all
    numbers are, and else i32. `places` is the height and width of the result. Without a window, the places are the
    bins of mp.adaptive_max_pool2d.

    Example: `%i = mp.max_pool2d_index %x places[16, 16] window[2, 2] strides[2, 2] : tensor<?x32x32x16xf32>`
  }];
  let notDifferentiable = "the result is an index";
  let tensorflow = "MaxPoolGrad";
  let arguments = !con((ins Mp_FloatTensor:$input, DenseI64ArrayAttr:$places), Mp_PoolWindow, Mp_WindowArguments);
  let results = (outs Mp_TapTensor:$result);
  let assemblyFormat = !strconcat("$input `places` `` $places ", Mp_PoolWindowFormat, "attr-dict `:` type($input)");
}

def Mp_MaxPool2dAtOp : Mp_ImageLoopOp<"max_pool2d_at", [DeclareOpInterfaceMethods<IndexOperandOpInterface>]> {
  let summary = "the element of each window that an index names";
  let description = [{
    `index` is what mp.max_pool2d_index yields. An index that names no element, or padding, gets zero. The op is the
    adjoint of mp.max_pool2d_backward.

    Example:
    ```mlir
    %y = mp.max_pool2d_at %x, %i window[2, 2] strides[2, 2] : tensor<?x32x32x16xf32>, tensor<?x16x16x16xui8>
    ```
  }];
  let tensorflow = "MaxPoolGradGrad";
  let arguments = !con((ins Mp_FloatTensor:$input, Mp_TapTensor:$index), Mp_PoolWindow, Mp_WindowArguments);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = !strconcat("$input `,` $index ", Mp_PoolWindowFormat,
    "attr-dict `:` type($input) `,` type($index)");
}

def Mp_MaxPool2dBackwardOp
    : Mp_ImageLoopOp<"max_pool2d_backward", [DeclareOpInterfaceMethods<IndexOperandOpInterface>]> {
  let summary = "gradient of mp.max_pool2d and of mp.adaptive_max_pool2d";
  let description = [{
    `gradient` is that of the result, `index` is what mp.max_pool2d_index yields, and `size` is the height and width of
    the input. An element adds the gradients of the windows that it is the maximum of, row by row.
    16-bit gradients accumulate in f32, and an element is rounded once.

    Example:
    ```mlir
    %d = mp.max_pool2d_backward %g, %i size[32, 32] window[2, 2] strides[2, 2] :
      tensor<?x16x16x16xf32>, tensor<?x16x16x16xui8>
    ```
  }];
  let tensorflow = "MaxPoolGrad";
  let arguments = !con((ins Mp_FloatTensor:$gradient, Mp_TapTensor:$index, DenseI64ArrayAttr:$size), Mp_PoolWindow,
                       Mp_WindowArguments);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = !strconcat("$gradient `,` $index `size` `` $size ", Mp_PoolWindowFormat,
    "attr-dict `:` type($gradient) `,` type($index)");
}

//===----------------------------------------------------------------------===//
// Means
//===----------------------------------------------------------------------===//

def Mp_AvgPool2dOp : Mp_ImageLoopOp<"avg_pool2d"> {
  let summary = "mean of each window of images";
  let description = !strconcat([{
    The op is `torch.nn.functional.avg_pool2d`, with channels last and strides that are 1 unless given. Padding is
    zeros, which count as elements; with `exclude_pad` they do not (PyTorch's `count_include_pad=False`). What
    `ceil_mode` adds after the padding never counts. 16-bit elements accumulate in f32, and the mean is rounded once.
    There are no dilations.
  }], Mp_WindowDescription, Mp_PoolDescription, [{

    Example:
    ```mlir
    %y = mp.avg_pool2d %x window[3, 3] strides[2, 2] low[1, 1] high[1, 1] exclude_pad : tensor<?x32x32x16xf32>
    ```
  }]);
  let torch = "avg_pool2d"; let tensorflow = "AvgPool"; let relay = "nn.avg_pool2d"; let relax = "nn.avg_pool2d";
  let arguments = !con((ins Mp_FloatTensor:$input, DenseI64ArrayAttr:$window), Mp_MeanArguments,
                       (ins UnitAttr:$ceil_mode));
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = !strconcat("$input `window` `` $window ", Mp_MeanFormat,
    "(`ceil_mode` $ceil_mode^)? attr-dict `:` type($input)");
}

def Mp_AdaptiveAvgPool2dOp : Mp_ImageLoopOp<"adaptive_avg_pool2d"> {
  let fills = 0;
  let summary = "mean of each bin of images";
  let description = [{
    The op is `torch.nn.functional.adaptive_avg_pool2d`, with channels last. `size` and the bins are as for
    mp.adaptive_max_pool2d. Of size[1, 1], it is mp.mean over the dimensions 1 and 2, which fuses with the ops around
    it.

    Example: `%y = mp.adaptive_avg_pool2d %x size[4, 4] : tensor<?x15x15x16xf32>`
  }];
  let torch = "adaptive_avg_pool2d"; let relay = "nn.adaptive_avg_pool2d"; let relax = "nn.adaptive_avg_pool2d";
  let arguments = (ins Mp_FloatTensor:$input, DenseI64ArrayAttr:$size);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$input `size` `` $size attr-dict `:` type($input)";
}

def Mp_AvgPool2dBackwardOp : Mp_ImageLoopOp<"avg_pool2d_backward"> {
  let summary = "gradient of mp.avg_pool2d and of mp.adaptive_avg_pool2d";
  let description = [{
    `gradient` is that of the result, and `size` is the height and width of the input. Without a window, the places are
    the bins of mp.adaptive_avg_pool2d. 16-bit gradients accumulate in f32, and an element is rounded once.

    Example: `%d = mp.avg_pool2d_backward %g size[32, 32] window[2, 2] strides[2, 2] : tensor<?x16x16x16xf32>`
  }];
  let tensorflow = "AvgPoolGrad";
  let arguments = !con((ins Mp_FloatTensor:$gradient, DenseI64ArrayAttr:$size), Mp_PoolWindow, Mp_MeanArguments);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = !strconcat("$gradient `size` `` $size (`window` `` $window^)? ", Mp_MeanFormat,
    "attr-dict `:` type($gradient)");
}

#endif // MP_OPS_POOLING_TD
