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
    `%x : T as S`: the same number of elements in another shape, with signless integers. An input or a result
    whose type has a layout (`#mp.rows`) is a part of another tensor, see `mp.part` and `mp.assemble`. `ops`
    names the ops that the kernel was made from. With `mp.late`, the kernel computes something again, and runs
    after the kernels that stand before it.

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

/// Ops between kernels, of which there are none when gradients are built.
class Mp_PlaceOp<string mnemonic> : Mp_Op<mnemonic, [Pure, DifferentiableOpInterface]> {
  let extraDeclarations = [{
    static ::llvm::StringRef whyNotDifferentiable() { return "it stands between kernels, which come after gradients"; }
    ::llvm::SmallVector<::mlir::Value> buildGradients(::mlir::ImplicitLocOpBuilder &, ::mlir::ValueRange) { return {}; }
  }];
}

def Mp_PartOp : Mp_PlaceOp<"part"> {
  let summary = "part of a tensor's memory, which a kernel reads in place";
  let description = [{
    The result is in the memory of the operand, from element `offset` on. Its elements have no gaps, or the gaps
    of their layout. `mp-remove-copies` makes it of a slice.

    Example:
    ```mlir
    %r = mp.part %x at 256 : tensor<32x1024xf32> to tensor<32x256xf32, #mp.rows<count = 32, stride = 1024>>
    ```
  }];
  let arguments = (ins Mp_Tensor:$input, I64Attr:$offset);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "$input `at` $offset attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}

def Mp_AssembleOp : Mp_PlaceOp<"assemble"> {
  let summary = "tensor that kernels have written in parts";
  let description = [{
    Every operand is the result of a kernel, which writes it into the memory of the result, from element
    `offsets[i]` on, or is itself assembled there. All of them together are the result. An operand without gaps
    may have other uses. `mp-remove-copies` makes the op of a concatenation.

    Example:
    ```mlir
    %k:2 = mp.kernel(%a = %x : tensor<2x2xf32>)
        -> (tensor<2x2xf32, #mp.rows<count = 2, stride = 4>>, tensor<2x2xf32, #mp.rows<count = 2, stride = 4>>) {
      %n = mp.neg %a : tensor<2x2xf32>
      mp.yield %a, %n : tensor<2x2xf32>, tensor<2x2xf32>
    }
    %r = mp.assemble %k#0, %k#1 at [0, 2] : tensor<2x2xf32, #mp.rows<count = 2, stride = 4>>,
        tensor<2x2xf32, #mp.rows<count = 2, stride = 4>> to tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Mp_Tensor>:$parts, DenseI64ArrayAttr:$offsets);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "$parts `at` $offsets attr-dict `:` type($parts) `to` type($result)";
  let hasVerifier = 1;
}

#endif // MP_OPS_KERNEL_TD
