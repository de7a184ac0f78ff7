//===- Autocast.td - regions of a precision of their own --*- tablegen -*-===//
#ifndef MP_OPS_AUTOCAST_TD
#define MP_OPS_AUTOCAST_TD

include "dialect/MpBase.td"
// #include "dialect/ops/Kernel.h"

def Mp_AutocastOp : Mp_Op<"autocast", [SingleBlockImplicitTerminator<"YieldOp">, NoRegionArguments, RecursiveMemoryEffects,
                                      DifferentiableOpInterface]> {
  let summary = "a region that autocast treats otherwise than what is around it";
  let description = [{
    As PyTorch's context manager `torch.autocast(enabled=..., dtype=...)`, also nested.
    What a region does not say is as around it, and outermost as the recipe says: `dtype`
    is the low type, `policy` a preset, a file or an `@mp.policy`; `enabled(true)`, which goes
    without saying, switches on again what a region around it switched off. In one that is
    `enabled(false)` ops run in the types that their operands come in.

    `mp-autocast` casts inside of it and leaves the ops in its place; until then it means what
    its ops do.

    Example:
    ```mlir
    %s = mp.autocast enabled(false) {
      %e = mp.exp %x : tensor<4x8xf32>
      %h = mp.autocast dtype(bf16) policy("torch-cpu") {
        %r = mp.relu %e : tensor<4x8xf32>
        mp.yield %r : tensor<4x8xf32>
      } : tensor<4x8xf32>
      mp.yield %h : tensor<4x8xf32>
    } : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins OptionalAttr<BoolAttr>:$enabled, OptionalAttr<TypeAttrOf<AnyFloat>>:$dtype,
    OptionalAttr<StrAttr>:$policy);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Mp_Tensor>:$results);
  let assemblyFormat = [{
    (`enabled` `(` $enabled^ `)`)? (`dtype` `(` $dtype^ `)`)? (`policy` `(` $policy^ `)`)?
    $body attr-dict (`:` type($results)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraDeclarations = [{
    static ::llvm::StringRef whyNotDifferentiable() { return "mp-autocast has to take the region away first"; }
    ::llvm::SmallVector<::mlir::Value> buildGradients(::mlir::ImplicitLocOpBuilder &, ::mlir::ValueRange) { return {}; }
  }];
}

#endif // MP_OPS_AUTOCAST_TD
