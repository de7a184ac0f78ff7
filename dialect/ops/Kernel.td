//===- Kernel.td - kernels as IR ---------------------------*- tablegen -*-===//
#ifndef MP_OPS_KERNEL_TD
#define MP_OPS_KERNEL_TD

include "dialect/MpBase.td"
// #include "dialect/ops/Autocast.h"
// #include "dialect/ops/Scan.h"

def Mp_KernelOp : Mp_Op<"kernel", [IsolatedFromAbove, RecursiveMemoryEffects, AttrSizedOperandSegments,
                                  SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "ops that a target compiles as one kernel";
  let description = [{
    `mp-fuse` forms kernels from ops of the dialect. `mp-lower-kernels` rewrites all ops except an anchor (a
    contraction) into a sequence of `linalg.generic` stages. With `if`, the kernel runs only if the flag is
    set, and its results exist only then. A block argument may be a different view of the input's bytes,
    `%x : T as S`: the same number of elements in another shape, with signless integers. `ops` names the ops
    that the kernel was made from.

    Example:
    ```mlir
    %r = mp.kernel(%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) if %ok -> tensor<4xf32> {
      %s = mp.add %a, %b : tensor<4xf32>, tensor<4xf32>
      mp.yield %s : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Mp_Tensor>:$inputs, Optional<Mp_Flag>:$predicate, OptionalAttr<StrAttr>:$ops);
  let results = (outs Variadic<Mp_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$outputs, "::mlir::ValueRange":$inputs,
                                 "::mlir::Value":$predicate),
                            [{ build($_builder, $_state, outputs, inputs, predicate, ::mlir::StringAttr()); }]>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Mp_YieldOp : Mp_Op<"yield", [Pure, Terminator, ParentOneOf<["::mp::KernelOp", "::mp::AutocastOp",
                                                                      "::mp::ScanOp"]>]> {
  let summary = "results of a kernel or a region";
  let description = [{
    Example: `mp.yield %s : tensor<4xf32>`
  }];
  let arguments = (ins Variadic<Mp_Tensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ }]>];
}

#endif // MP_OPS_KERNEL_TD
