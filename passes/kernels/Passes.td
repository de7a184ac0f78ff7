//===- Passes.td - from ops to kernels ---------------------*- tablegen -*-===//
#ifndef MP_PASSES_KERNELS_PASSES_TD
#define MP_PASSES_KERNELS_PASSES_TD

include "passes/PassBase.td"

def Fuse : Mp_Pass<"mp-fuse", "::mlir::func::FuncOp"> {
  let summary = "group ops into kernels";
  let description = [{
    The pass decomposes composite ops, computes cheap elementwise ops where they are used instead of storing
    them, and groups ops that run over the same elements. A kernel has either elementwise ops and reductions
    over one space, or one anchor with ops that use its result element by element and otherwise only values
    that already exist. An op whose result is used only under a flag (the flag of a write, the left operand of
    `mp.and`, or the condition of a selection) runs only under this flag.

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
