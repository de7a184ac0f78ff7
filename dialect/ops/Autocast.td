//===- Autocast.td - regions of a precision of their own ---*- tablegen -*-===//
#ifndef MP_OPS_AUTOCAST_TD
#define MP_OPS_AUTOCAST_TD

include "dialect/MpBase.td"
// #include "dialect/ops/Kernel.h"

def Mp_AutocastOp : Mp_Op<"autocast", [SingleBlockImplicitTerminator<"YieldOp">, NoRegionArguments,
                                      RecursiveMemoryEffects, DifferentiableOpInterface,
                                      DeclareOpInterfaceMethods<BatchOpInterface>]> {
  let summary = "region with its own autocast settings";
  let description = [{
    The region is like a block under PyTorch's context manager `torch.autocast(enabled=..., dtype=...)`, and
    regions nest. A region inherits the settings that it does not give from the region around it, and the
    outermost region from the recipe. `dtype` is the low type. `policy` is a preset, a file or an
    `@mp.policy`. `enabled(true)`, which is the default, switches autocast on again in a region whose
    surroundings switched it off. In a region that is `enabled(false)`, ops run in the types of their
    operands.

    `mp-autocast` inserts casts inside the region and replaces the region by its ops. Until then the region
    has the meaning of its ops.

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
