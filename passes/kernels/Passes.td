//===- Passes.td - from ops to kernels ---------------------*- tablegen -*-===//
#ifndef MP_PASSES_KERNELS_PASSES_TD
#define MP_PASSES_KERNELS_PASSES_TD

include "passes/PassBase.td"

def JoinProducts : Mp_Pass<"mp-join-products", "::mlir::func::FuncOp"> {
  let summary = "compute a sum of products as one product of more rows";
  let description = [{
    Where products `mp.matmul transpose_a` are added up, and their operands have fewer elements than their
    results, their rows are joined, and one product adds up all of them. Sums of the same rows are joined with
    them. The gradient of a weight that all time steps of a scan share is such a sum. Its terms are added in
    another order than before, and rounded once. The products of parts of a loss (`mp-chunk-loss`) are not joined:
    each is added to the sum of those before it as it is computed, and the logits of a part wait for it
    (`mp.recompute_barrier`), so that no target computes those of all parts first.

    ```mlir
    // before                                  // after
    %p = mp.matmul %a, %b transpose_a : ...    %x = mp.concat %a, %c dim(0) : tensor<2x8xf32>, tensor<2x8xf32>
    %q = mp.matmul %c, %d transpose_a : ...    %y = mp.concat %b, %d dim(0) : tensor<2x4xf32>, tensor<2x4xf32>
    %r = mp.add %p, %q : ...                   %r = mp.matmul %x, %y transpose_a : ...
    ```
  }];
}

def SliceOperands : Mp_Pass<"mp-slice-operands", "::mlir::func::FuncOp"> {
  let summary = "slice the operands of elementwise ops instead of their results";
  let description = [{
    Where slices, in which no more elements are than in the result, are all that uses the result of an
    elementwise op, the op computes each of them from slices of its operands. Loops can read these in place
    (`mp-remove-copies`). The slices of a result that something else than elementwise ops and reductions reads
    stay as they are. Values do not change.

    ```mlir
    // before                                         // after
    %s = mp.add %x, %y : tensor<8x6xf32>, ...         %a = mp.slice %x offsets[0, 2] sizes[-1, 4] : tensor<8x6xf32>
    %r = mp.slice %s offsets[0, 2] sizes[-1, 4] : ... %b = mp.slice %y offsets[0, 2] sizes[-1, 4] : tensor<8x6xf32>
    %t = mp.exp %r : tensor<8x4xf32>                  %r = mp.add %a, %b : tensor<8x4xf32>, tensor<8x4xf32>
                                                      %t = mp.exp %r : tensor<8x4xf32>
    ```
  }];
}

def Fuse : Mp_Pass<"mp-fuse", "::mlir::func::FuncOp"> {
  let summary = "group ops into kernels";
  let description = [{
    The pass decomposes composite ops, computes cheap elementwise ops where they are used instead of storing
    them, and groups ops that run over the same elements. A kernel has either elementwise ops and reductions
    over one space, or one anchor with ops that use its result element by element and otherwise only values
    that already exist. An op whose result is used only under a flag (the flag of a write, the left operand of
    `mp.and`, or the condition of a selection) runs only under this flag. Expensive elementwise ops are computed
    once, but for those of one operand that is read again after a later anchor, such as the gate of `mp.silu`
    going backward: there the op is computed again rather than kept.

    ```mlir
    // before                             // after
    %a = mp.exp %x : tensor<4xf32>        %r = mp.kernel(%k = %x : tensor<4xf32>) -> tensor<4xf32> {
    %r = mp.neg %a : tensor<4xf32>          %a = mp.exp %k : tensor<4xf32>
                                            %n = mp.neg %a : tensor<4xf32>
                                            mp.yield %n : tensor<4xf32>
                                          }
    ```
  }];
}

def RemoveCopies : Mp_Pass<"mp-remove-copies", "::mlir::func::FuncOp"> {
  let summary = "read slices and write concatenations in place";
  let description = [{
    A kernel that copies a slice becomes an `mp.part` where all kernels that read the slice can read the sliced
    tensor, and one that copies the parts of a concatenation an `mp.assemble`: the kernels that make the parts
    write them there, once more where something else needs them without gaps, and what no kernel can write is
    copied. The rows of such a part lie apart in memory, so these kernels run over rows and columns. A part
    without gaps is possible for all kernels. The place of a part is an argument of the kernel, and no part of
    it: the time steps of a scan have the same kernels.

    ```mlir
    // before, with %s a slice              // after, with #rows = #mp.rows<count = 8, stride = 6, aligned = 2>
    %s = mp.kernel(%a = %x) {               %s = mp.part %x at 2 : tensor<8x6xf32> to tensor<8x4xf32, #rows>
      %b = mp.slice %a offsets[0, 2] ...
      mp.yield %b
    }
    %r = mp.kernel(%c = %s) {               %r = mp.kernel(%c = %s : tensor<8x4xf32, #rows> as tensor<8x4xf32>) {
      %e = mp.exp %c                          %e = mp.exp %c
      mp.yield %e                             mp.yield %e
    }                                       }
    ```
  }];
}

def ShareStreams : Mp_Pass<"mp-share-streams", "::mlir::func::FuncOp"> {
  let summary = "let kernels read the streams of random ops";
  let description = [{
    Where a function draws from several streams, each is a constant that the kernel reads, as it reads the seed:
    the last of the five parts of a key then. Equal layers with dropout have the same kernels. Ops in loops stay
    as they are, and so does every bit that is drawn.

    ```mlir
    // before                                          // after
                                                       %n = mp.constant dense<3> : tensor<i64>
    %y = mp.kernel(%a = %x, %s = %seed, %t = %try) {   %y = mp.kernel(%a = %x, %s = %seed, %t = %try, %i = %n) {
                                                         %z = mp.constant dense<0> : tensor<i64>
      %b = mp.dropout %a stream(3) key(%s, %t)           %b = mp.dropout %a stream(3) key(%s, %t, %z, %z, %i)
    ```
  }];
}

def LowerKernels : Mp_Pass<"mp-lower-kernels", "::mlir::func::FuncOp"> {
  let summary = "lower the bodies of kernels to scalar stages";
  let description = [{
    Every op of a kernel except its anchor becomes a `linalg.generic` whose body is the op's scalar form. The
    body computes in f32 and rounds to the type of the result. Adjacent dimensions that all tensors of a
    kernel share are merged into one. If some tensor lacks a part of them, as a mask for all heads does, the
    kernel has rows and columns, and the rows of that tensor repeat. Functions such as `exp` are expanded into
    arithmetic here, so every target runs the same operations.

    ```mlir
    // before, in a kernel                // after, with #map = affine_map<(i) -> (i)>
    %y = mp.relu %x : tensor<4xf16>       %e = tensor.empty() : tensor<4xf16>
                                          %y = linalg.generic {indexing_maps = [#map, #map],
                                               iterator_types = ["parallel"]} ins(%x) outs(%e) {
                                          ^bb0(%in: f16, %out: f16):
                                            %w = arith.extf %in : f16 to f32
                                            %zero = arith.constant 0.0 : f32
                                            %m = arith.maximumf %w, %zero : f32
                                            %r = arith.truncf %m : f32 to f16
                                            linalg.yield %r : f16
                                          }
    ```
  }];
  let dependentDialects = ["::mp::MpDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::math::MathDialect", "::mlir::arith::ArithDialect"];
}

#endif // MP_PASSES_KERNELS_PASSES_TD
