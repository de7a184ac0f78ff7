//===- Augmentation.td - images varied in training ---------*- tablegen -*-===//
#ifndef MP_OPS_AUGMENTATION_TD
#define MP_OPS_AUGMENTATION_TD

include "dialect/MpBase.td"

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

#endif // MP_OPS_AUGMENTATION_TD
