//===- Upsample.td - images in another size ----------------*- tablegen -*-===//
#ifndef MP_OPS_UPSAMPLE_TD
#define MP_OPS_UPSAMPLE_TD

include "dialect/PoolingRules.td"

class Mp_UpsampleOp<string mnemonic> : Mp_ImageLoopOp<mnemonic> {
  let fills = 0;
  let results = (outs Mp_FloatTensor:$result);
}

def Mp_UpsampleNearestOp : Mp_UpsampleOp<"upsample_nearest"> {
  let summary = "images in another size, of copied pixels";
  let description = [{
    The op is `torch.nn.functional.interpolate` with `size` and mode "nearest", with channels last. `size` is the
    height and width of the result, which may also be smaller. Pixel i of n along a dimension of m is pixel
    floor(i * (m / n)), where m / n is rounded to f32, as in PyTorch.

    Example: `%y = mp.upsample_nearest %x size[64, 64] : tensor<?x32x32x16xf32>`
  }];
  let torch = "upsample_nearest2d+interpolate"; let tensorflow = "ResizeNearestNeighbor";
  let relay = "image.resize2d"; let relax = "image.resize2d";
  let arguments = (ins Mp_FloatTensor:$input, DenseI64ArrayAttr:$size);
  let assemblyFormat = "$input `size` `` $size attr-dict `:` type($input)";
}

def Mp_UpsampleNearestBackwardOp : Mp_UpsampleOp<"upsample_nearest_backward"> {
  let summary = "gradient of mp.upsample_nearest";
  let description = [{
    `size` is the height and width of the input. A pixel adds the gradients of its copies, row by row; 16-bit gradients
    accumulate in f32, and a pixel is rounded once.

    Example: `%d = mp.upsample_nearest_backward %g size[32, 32] : tensor<?x64x64x16xf32>`
  }];
  let fills = 1;
  let tensorflow = "ResizeNearestNeighborGrad";
  let arguments = (ins Mp_FloatTensor:$gradient, DenseI64ArrayAttr:$size);
  let assemblyFormat = "$gradient `size` `` $size attr-dict `:` type($gradient)";
}

def Mp_UpsampleBilinearOp : Mp_UpsampleOp<"upsample_bilinear"> {
  let summary = "images in another size, interpolated between pixels";
  let description = [{
    The op is `torch.nn.functional.interpolate` with `size` and mode "bilinear", with channels last. `size` is the
    height and width of the result. Pixel i of n along a dimension of m lies at max((i + 0.5) * m / n - 0.5, 0) among
    those of the input; with `align_corners`, at i * (m - 1) / (n - 1), so that the corners stay where they are. Places
    are computed in the compute type, as in PyTorch, and a pixel is rounded once.

    Example: `%y = mp.upsample_bilinear %x size[64, 64] align_corners : tensor<?x32x32x16xf32>`
  }];
  let torch = "upsample_bilinear2d+interpolate"; let tensorflow = "ResizeBilinear";
  let relay = "image.resize2d"; let relax = "image.resize2d";
  let arguments = (ins Mp_FloatTensor:$input, DenseI64ArrayAttr:$size, UnitAttr:$align_corners);
  let assemblyFormat = [{
    $input `size` `` $size (`align_corners` $align_corners^)? attr-dict `:` type($input)
  }];
}

def Mp_UpsampleBilinearBackwardOp : Mp_UpsampleOp<"upsample_bilinear_backward"> {
  let summary = "gradient of mp.upsample_bilinear";
  let description = [{
    `size` is the height and width of the input. A pixel adds the gradients that it has a part in, row by row; 16-bit
    gradients accumulate in f32, and a pixel is rounded once.

    Example: `%d = mp.upsample_bilinear_backward %g size[32, 32] align_corners : tensor<?x64x64x16xf32>`
  }];
  let fills = 1;
  let arguments = (ins Mp_FloatTensor:$gradient, DenseI64ArrayAttr:$size, UnitAttr:$align_corners);
  let assemblyFormat = [{
    $gradient `size` `` $size (`align_corners` $align_corners^)? attr-dict `:` type($gradient)
  }];
}

#endif // MP_OPS_UPSAMPLE_TD
