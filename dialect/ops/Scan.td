//===- Scan.td - a loop over time steps --------------------*- tablegen -*-===//
#ifndef MP_OPS_SCAN_TD
#define MP_OPS_SCAN_TD

include "dialect/MpBase.td"
// #include "dialect/ops/Kernel.h"

def Mp_ScanOp : Mp_Op<"scan", [AttrSizedOperandSegments, SingleBlockImplicitTerminator<"YieldOp">,
                              RecursiveMemoryEffects, DifferentiableOpInterface,
                              DeclareOpInterfaceMethods<BatchOpInterface>]> {
  let summary = "loop that carries values from step to step";
  let description = [{
    The op means what `jax.lax.scan` does. The region runs once for each time step. Its first arguments are
    the `carried` values: in the first step those that are given, and in every other step the first values that
    the step before yielded, which have the same types. Its other arguments are the slices of the values `over`
    which the scan runs: element t of dimension `dim`, which is left out, in time step t. The results are the
    carried values after the last step, and then the other yielded values of all steps, stacked along a new
    dimension `dim`. `reverse` begins with the last time step; slices and stacked values keep their places.

    The number of time steps is the size of dimension `dim`, or `length` if the scan runs over nothing. It is
    not the batch. The region reads values from outside as they are. It reads variables, but writes none. A
    random op in it draws other bits in each time step (docs/random.md); what is drawn outside is the same in all.

    A scan stays a loop (`mp-outline-loops`), unless `mp-unroll-scans` has to replace it by its time steps.
    `unroll(n)` asks for n of them in a round, and for no loop if there are no more; values do not change.

    Syntax:
    ```
    operation ::= `mp.scan` (`carried` `(` values `)`)? (`over` `(` values `)`)? (`dim` `(` integer `)`)?
                  (`length` `(` integer `)`)? `reverse`? (`unroll` `(` integer `)`)?
                  (`attributes` attribute-dict)? (`->` types)? region
    values    ::= argument `=` operand `:` type (`,` argument `=` operand `:` type)*
    ```

    Example:
    ```mlir
    %last, %sums = mp.scan carried(%s = %zero : tensor<?x4xf32>) over(%x = %xs : tensor<?x9x4xf32>) dim(1)
        -> (tensor<?x4xf32>, tensor<?x9x4xf32>) {
      %t = mp.add %s, %x : tensor<?x4xf32>, tensor<?x4xf32>
      mp.yield %t, %t : tensor<?x4xf32>, tensor<?x4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Mp_Tensor>:$carried, Variadic<Mp_Tensor>:$sliced,
    DefaultValuedAttr<I64Attr, "0">:$dim, OptionalAttr<I64Attr>:$length, UnitAttr:$reverse,
    OptionalAttr<I64Attr>:$unroll);
  let results = (outs Variadic<Mp_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraDeclarations = [{
    /// The number of time steps; nothing if neither a size nor `length` has it.
    std::optional<int64_t> getSteps();
    /// The type of `type` at one time step, or of all steps' values of `type`; null if it has no such dimension.
    ::mlir::RankedTensorType sliceOf(::mlir::RankedTensorType type);
    ::mlir::RankedTensorType stackOf(::mlir::RankedTensorType type);
    ::mlir::ValueRange getYielded() { return getBody().front().getTerminator()->getOperands(); }
    static ::llvm::StringRef whyNotDifferentiable() {
      return "run mp-unroll-scans or mp-outline-loops before mp-autodiff";
    }
    ::llvm::SmallVector<::mlir::Value> buildGradients(::mlir::ImplicitLocOpBuilder &, ::mlir::ValueRange) { return {}; }
  }];
}

#endif // MP_OPS_SCAN_TD
