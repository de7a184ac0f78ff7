//===- Linear.td - contractions ---------------------------*- tablegen -*-===//
#ifndef MP_OPS_LINEAR_TD
#define MP_OPS_LINEAR_TD

include "dialect/MpBase.td"

def Mp_LinearOp : Mp_PureOp<"linear", [AnchorOpInterface]> {
  let summary = "affine map of the last dimension: x W^T + b";
  let description = [{
    `torch.nn.functional.linear`: `input` [..., in], `weight` [out, in], `bias` [out].
    16-bit operands accumulate in f32; the bias is added before the one rounding.

    Example:
    ```mlir
    %y = mp.linear %x, %w, %b : tensor<?x784xf32>, tensor<256x784xf32>, tensor<256xf32>
    ```
  }];
  let torch = "linear";
  let tensorflow = "MatMul";
  let arguments = (ins Mp_FloatTensor:$input, Mp_FloatTensor:$weight, Optional<Mp_FloatTensor>:$bias);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight (`,` $bias^)? attr-dict `:` type($input) `,` type($weight) (`,` type($bias)^)?";
}

def Mp_MatmulOp : Mp_PureOp<"matmul", [AnchorOpInterface]> {
  let summary = "matrix product of the last two dimensions";
  let description = [{
    Leading dimensions are batch dimensions: equal on both sides, or absent on one.
    `transpose_a` and `transpose_b` read an operand with its last two dimensions
    swapped. 16-bit operands accumulate in f32.

    Example: `%c = mp.matmul %a, %b transpose_b : tensor<4x8xf16>, tensor<16x8xf16>`
  }];
  let torch = "matmul";
  let tensorflow = "BatchMatMulV2";
  let arguments = (ins Mp_FloatTensor:$lhs, Mp_FloatTensor:$rhs, UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? attr-dict `:`
    type($lhs) `,` type($rhs)
  }];
}

#endif // MP_OPS_LINEAR_TD
