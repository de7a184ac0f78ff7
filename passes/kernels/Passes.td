//===- Passes.td - from ops to kernels ---------------------*- tablegen -*-===//
#ifndef MP_PASSES_KERNELS_PASSES_TD
#define MP_PASSES_KERNELS_PASSES_TD

include "passes/PassBase.td"

def Fuse : Mp_Pass<"mp-fuse", "::mlir::func::FuncOp"> {
  let summary = "form kernels";
  let description = [{
    Decomposes what is several ops, computes cheap elementwise ops where they are used
    rather than storing them, and groups what runs over the same elements: a kernel is
    elementwise ops and reductions over one space, or one anchor with what needs its result
    element by element and else only what exists before. What is used only under a flag
    (a write's, that on the left of `mp.and`, a selection's) runs under it.

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
    Every op of a kernel but its anchor becomes a `linalg.generic` whose body is the op's
    scalar form: computed in f32, rounded to the type of its result. Adjacent dimensions
    that all tensors of a kernel share become one. Functions such as `exp` are expanded
    into arithmetic here, so that every target runs the same operations.
  }];
  let dependentDialects = ["::mp::MpDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::math::MathDialect", "::mlir::arith::ArithDialect"];
}

#endif // MP_PASSES_KERNELS_PASSES_TD
