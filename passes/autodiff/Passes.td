//===- Passes.td - the backward graph ----------------------*- tablegen -*-===//
#ifndef MP_PASSES_AUTODIFF_PASSES_TD
#define MP_PASSES_AUTODIFF_PASSES_TD

include "passes/PassBase.td"

def Autodiff : Mp_Pass<"mp-autodiff", "::mlir::ModuleOp"> {
  let summary = "append the backward graph";
  let description = [{
    For every recipe, builds its entry point: the function's ops, then reverse-mode
    adjoints from `mp.seed` to the parameters, whose gradients become results marked
    `mp.gradient`. Several losses have an `mp.seed` each, and each reaches the parameters of
    the groups that minimise it. With `function`, builds `@f.gradient` instead, which returns
    the gradients of result 0 with respect to the float arguments. An adjoint has the type
    of what it belongs to; its location says which op it is the backward of. Ops
    `mp.gradient` are replaced first, as by `mp-expand-gradients`; ops `mp.scale_gradient` are
    taken away in the end.

    ```mlir
    // before                                    // after
    %w = mp.read @w : tensor<4xf32>              %w = mp.read @w : tensor<4xf32>
    %y = mp.mul %x, %w                           %y = mp.mul %x, %w
    %l = mp.sum %y dims[0]                       %l = mp.sum %y dims[0]
    return %l                                    %s = mp.seed : tensor<f32>
                                                 %b = mp.broadcast %s : tensor<f32> to tensor<4xf32>
                                                 %g = mp.mul %b, %x
                                                 return %l, %g
    ```
  }];
  let options = [Option<"function", "function", "std::string", "\"\"",
                        "differentiate this function by its arguments">];
}

def Recompute : Mp_Pass<"mp-recompute", "::mlir::ModuleOp"> {
  let summary = "compute values of forward again in backward rather than keep them";
  let description = [{
    Activation checkpointing, in functions whose backward has been built. The ops that make
    what backward uses are cloned in front of their first use there, with the location
    "recomputed for backward of"; they read what is kept through `mp.recompute_barrier`,
    which holds them back until backward has come so far. A clone has the bits of its
    original: random ops keep their stream, reads are of values at entry. What depends on
    variables alone is never computed again.

    `keep` says which values:
    - `marked`: inputs, `mp.checkpoint` and what follows the last of these; without
      checkpoints all. This is the default.
    - `all`: all.
    - a size such as `64MiB`: so much that the values of forward, and those computed
      again, are never more while backward runs. First values that take no contraction are
      given up, by bytes saved for a FLOP, then whole blocks, so that the fewest FLOPs are
      repeated. The estimate counts every value that backward uses as stored. An error says
      what is reachable.

    Overrides the recipe's `recompute`. `mp.checkpoint` is gone afterwards.

    ```mlir
    // before                            // after
    %a = mp.exp %x                       %a = mp.exp %x
    %k = mp.checkpoint %a
    ...                                  ...
    %d = mp.mul %g, %a                   %b = mp.recompute_barrier %x since %g
                                         %c = mp.exp %b
                                         %d = mp.mul %g, %c
    ```
  }];
  let options = [Option<"keep", "keep", "std::string", "\"\"",
                        "marked, all or a size such as 64MiB; empty: what the recipe says">];
}

def ExpandGradients : Mp_Pass<"mp-expand-gradients", "::mlir::func::FuncOp"> {
  let summary = "replace mp.gradient by the backward ops";
  let description = [{
    In the order of the ops, so that a gradient of a gradient differentiates the ops that
    the inner one became. Backward begins with the constant one: no loss scale is in it.

    ```mlir
    // before                                         // after
    %y = mp.mul %x, %x                                %y = mp.mul %x, %x
    %l = mp.sum %y dims[0]                            %l = mp.sum %y dims[0]
    %g = mp.gradient %l of %x                         %b = mp.broadcast %one : tensor<f32> to tensor<4xf32>
        : tensor<f32>, tensor<4xf32>                  %a = mp.mul %b, %x
                                                      %g = mp.add %a, %a
    ```
  }];
}

def ExposeValues : Mp_Pass<"mp-expose-values", "::mlir::ModuleOp"> {
  let summary = "return the floats that numbered ops yield, and gradients";
  let description = [{
    What a function returned is replaced by every float result of every op that
    `mp-number-ops` has numbered, so that they can be looked at: `mp.name` is `value.N.R` for
    result R of op N. A value has the bits of its type, fused or not, so looking changes
    none.

    With `gradients`, the function of a recipe returns, too, the gradients of its losses with
    respect to the same values, where they depend on trained parameters:
    `gradient.L.N.R` for loss L. Backward begins with `scale`. The recipe is gone. Without
    `values` the gradients are all, and `mp.origin` says what made their values, and where;
    functions that no recipe trains stay as they are.

    ```mlir
    // before                                             // after
    %y = mp.exp %x {mp.number = 1 : i64}                  %y = mp.exp %x {mp.number = 1 : i64}
    %l = mp.sum %y dims[0] {mp.number = 2 : i64}          %l = mp.sum %y dims[0] {mp.number = 2 : i64}
    return %l                                             return %y, %l
    ```
  }];
  let options = [
    Option<"values", "values", "bool", "true", "the values themselves">,
    Option<"gradients", "gradients", "bool", "false", "gradients of a recipe's losses too">,
    Option<"scale", "scale", "double", "1.0", "what backward begins with">,
  ];
}

#endif // MP_PASSES_AUTODIFF_PASSES_TD
