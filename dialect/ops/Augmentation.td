//===- Augmentation.td - images varied in training ---------*- tablegen -*-===//
#ifndef MP_OPS_AUGMENTATION_TD
#define MP_OPS_AUGMENTATION_TD

include "dialect/PoolingRules.td"

def Mp_InTrainingOp : Mp_ElementwiseOp<"in_training", [EvaluationOpInterface]> {
  let typeRule = "";
  let numericClass = "movement";
  let summary = "one value in training, another in evaluation";
  let description = [{
    The result is `trained` in a function that trains, and `evaluated` in one that evaluates. Both have the type of
    the result. `mp-set-mode` replaces the op by that operand, so that nothing is computed for the other one. A
    function whose mode is not set trains.

    Example: `%r = mp.in_training %varied, %image : tensor<?x28x28x1xui8>, tensor<?x28x28x1xui8>`
  }];
  let arguments = (ins Mp_NumberTensor:$trained, Mp_NumberTensor:$evaluated);
  let results = (outs Mp_NumberTensor:$result);
  let assemblyFormat = "$trained `,` $evaluated attr-dict `:` type($trained) `,` type($evaluated)";
  let extraDeclarations = [{
    static bool copiesElements() { return true; }
    ::llvm::SmallVector<::mlir::Value> buildEvaluation(::mlir::ImplicitLocOpBuilder &) { return {getEvaluated()}; }
  }];
}

def Mp_AugmentImagesOp : Mp_PureOp<"augment_images", [AnchorOpInterface,
    DeclareOpInterfaceMethods<EvaluationOpInterface>]> {
  let summary = "images moved and mirrored, in training";
  let description = [{
    Element [n, y, x] of the result is element [n, y + rows[n], x + columns[n]] of the images, which are
    [batch, height, width, channels], or zero where they have none. Where `mirrored[n]` is set, x counts from the
    right edge: element width - 1 - x + columns[n]. With random numbers from -p to p this is a random crop of images
    padded by p, and a random flip, each image by numbers of its own. In a function that evaluates, the result is the
    operand. No gradient flows back, since images are data.

    Example:
    ```mlir
    %r = mp.uniform {low = -4.0, high = 5.0} : tensor<?xf32>
    %f = mp.floor %r : tensor<?xf32>
    %y = mp.cast %f : tensor<?xf32> to tensor<?xi32>
    %a = mp.augment_images %image, %y, %y : tensor<?x28x28x1xui8>, tensor<?xi32>, tensor<?xi32>
    ```
  }];
  let numericClass = "movement";
  let notDifferentiable = "images are data";
  let arguments = (ins Mp_Tensor:$input, RankedTensorOf<[I32]>:$rows, RankedTensorOf<[I32]>:$columns,
    Optional<Mp_FlagTensor>:$mirrored);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $rows `,` $columns (`mirrored` `(` $mirrored^ `:` type($mirrored) `)`)? attr-dict `:`
    type($input) `,` type($rows) `,` type($columns)
  }];
  let extraDeclarations = [{
    bool takesEpilogue() { return false; }
    bool copiesElements() { return true; }
    std::optional<int64_t> getTermCount() { return 1; }
    std::optional<double> getFill() { return 0; }
  }];
}

/// One number for each image. Halves could not tell the pixels of a photograph apart.
def Mp_BoxSide : RankedTensorOf<[F32]>;

def Mp_CropResizeOp : Mp_ImageLoopOp<"crop_resize",
    [AllTypesMatch<["top", "left", "height", "width"]>]> {
  let summary = "a box of each image in one size, interpolated between pixels";
  let description = [{
    Images are [batch, height, width, channels]. Image n of the result shows the box of image n that begins at
    (`top[n]`, `left[n]`) and is `height[n]` by `width[n]` pixels large; `size` is the height and width of the result.
    With whole numbers, this is `torch.nn.functional.interpolate` of the crop with mode "bilinear": along a dimension of
    n places, place i lies at max((i + 0.5) * height / n - 0.5, 0) in the box, and not beyond its last pixel. Several
    pixels of the box that fall on one place are not averaged (PyTorch's `antialias`). A box need not be whole, and
    pixels outside of the image are those of its edge. Places are computed in f32. A pixel is computed in f32 (f64 on
    f64), and rounded once: bytes to nearest, ties to even, as torchvision does. No gradient flows back, since images
    are data.

    Example:
    ```mlir
    %begin = mp.uniform {high = 9.0} : tensor<?xf32>
    %side = mp.uniform {low = 8.0, high = 32.0} : tensor<?xf32>
    %y = mp.crop_resize %x, %begin, %begin, %side, %side size[32, 32] : tensor<?x40x40x3xui8>, tensor<?xf32>
    ```
  }];
  let torch = "slice+upsample_bilinear2d+interpolate"; let tensorflow = "CropAndResize";
  let relay = "image.crop_and_resize"; let relax = "strided_slice+image.resize2d";
  let notDifferentiable = "images are data";
  let arguments = (ins RankedTensorOf<[F64, F32, F16, BF16, UI8]>:$input, Mp_BoxSide:$top, Mp_BoxSide:$left,
    Mp_BoxSide:$height, Mp_BoxSide:$width, DenseI64ArrayAttr:$size);
  let results = (outs RankedTensorOf<[F64, F32, F16, BF16, UI8]>:$result);
  let assemblyFormat = [{
    $input `,` $top `,` $left `,` $height `,` $width `size` `` $size attr-dict `:` type($input) `,` type($top)
  }];
  let extraDeclarations = [{
    static bool takesEpilogue() { return false; }
    std::optional<int64_t> getTermCount();
    static bool isAutocastEligible(unsigned operand) { return operand == 0; }
  }];
}

#endif // MP_OPS_AUGMENTATION_TD
