//===- Linear.td - contractions ----------------------------*- tablegen -*-===//
#ifndef MP_OPS_LINEAR_TD
#define MP_OPS_LINEAR_TD

include "dialect/ContractionRules.td"

def Mp_LinearOp : Mp_ContractionOp<"linear", [DeclareOpInterfaceMethods<RowOpInterface>]> {
  let summary = "affine map of the last dimension: x W^T + b";
  let description = [{
    The op is `torch.nn.functional.linear`: `input` is [..., in], `weight` is [out, in], and `bias` is [out].
    16-bit operands accumulate in f32, and the bias is added before the result is rounded, once.
    `compute = tf32` allows products of f32 operands that are rounded to tf32. `out_dtype(f32)` yields the
    sums without rounding. 8-bit operands, of either type, always yield them and are multiplied exactly; their
    bias is f32.

    Example:
    ```mlir
    %y = mp.linear %x, %w, %b : tensor<?x784xf32>, tensor<256x784xf32>, tensor<256xf32>
    ```
  }];
  let torch = "linear"; let tensorflow = "MatMul"; let relay = "nn.dense"; let relax = "matmul";
  let arguments = (ins Mp_FloatTensor:$input, Mp_FloatTensor:$weight, Optional<Mp_FloatTensor>:$bias,
    OptionalAttr<TypeAttr>:$compute, OptionalAttr<TypeAttr>:$out_dtype);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight (`,` $bias^)? (`out_dtype` `(` $out_dtype^ `)`)? attr-dict `:`
    type($input) `,` type($weight) (`,` type($bias)^)?
  }];
}

def Mp_MatmulOp : Mp_ContractionOp<"matmul", [DeclareOpInterfaceMethods<RowOpInterface>]> {
  let summary = "matrix product of the last two dimensions";
  let description = [{
    Leading dimensions are batch dimensions. They are equal on both sides, or absent on one. `transpose_a` and
    `transpose_b` read an operand with its last two dimensions swapped. 16-bit operands accumulate in f32.
    `compute = tf32` allows products of f32 operands that are rounded to tf32. `out_dtype(f32)` yields the
    sums of 16-bit operands without rounding. 8-bit operands, of either type, always yield them and are
    multiplied exactly.

    Example: `%c = mp.matmul %a, %b transpose_b : tensor<4x8xf16>, tensor<16x8xf16>`
  }];
  let torch = "matmul"; let tensorflow = "BatchMatMulV2"; let relay = "nn.batch_matmul"; let relax = "matmul";
  let arguments = (ins Mp_FloatTensor:$lhs, Mp_FloatTensor:$rhs, UnitAttr:$transpose_a, UnitAttr:$transpose_b,
    OptionalAttr<TypeAttr>:$compute, OptionalAttr<TypeAttr>:$out_dtype);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)?
    (`out_dtype` `(` $out_dtype^ `)`)? attr-dict `:`
    type($lhs) `,` type($rhs)
  }];
}

#endif // MP_OPS_LINEAR_TD
