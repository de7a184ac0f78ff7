//===- Recipe.td - training recipes and their data ---------*- tablegen -*-===//
#ifndef MP_OPS_RECIPE_TD
#define MP_OPS_RECIPE_TD

include "dialect/MpBase.td"

def Mp_PolicyOp : Mp_Op<"policy", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "user-defined autocast policy";
  let description = [{
    The policy has lists of op names, and `unlisted` is the category of an op that is in none of them. A name
    is one of this dialect (`mp.exp`), one of `system`, or `class:` and a numeric class (`class:loss`). Fields
    that are not given are those of the policy that it `extends`, which is a preset or a file. `autocast`
    refers to the policy by its symbol. docs/policies.md describes the categories.

    `f16`, `bf16` and `tf32` hold lists for one type alone, which take precedence over the others. `storage`
    keeps the operands of contractions that run low in 8 bits. `outputs` is the type of the floats that a
    function returns: "f32", or "declared" for the type that the function declares. Without it they have the
    type of the op that yields them. `out_dtype = "f32"` keeps the f32 sums of a contraction that the function
    returns as they are.

    Example:
    ```mlir
    mp.policy @mine extends "torch" {allow = ["mp.exp"], deny = ["mp.linear"]}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$extends, OptionalAttr<StrAttr>:$system,
    OptionalAttr<StrAttr>:$mode, OptionalAttr<StrAttr>:$unlisted, OptionalAttr<StrAttr>:$outputs,
    OptionalAttr<StrAttr>:$out_dtype,
    OptionalAttr<StrArrayAttr>:$dtypes, OptionalAttr<StrArrayAttr>:$allow, OptionalAttr<StrArrayAttr>:$deny,
    OptionalAttr<StrArrayAttr>:$promote, OptionalAttr<StrArrayAttr>:$banned, OptionalAttr<StrArrayAttr>:$native,
    OptionalAttr<StrArrayAttr>:$follow, OptionalAttr<StrArrayAttr>:$result, OptionalAttr<StrArrayAttr>:$boundary,
    OptionalAttr<StrArrayAttr>:$infer, OptionalAttr<StrArrayAttr>:$clear, OptionalAttr<StrArrayAttr>:$barrier,
    OptionalAttr<DictionaryAttr>:$f16, OptionalAttr<DictionaryAttr>:$bf16, OptionalAttr<DictionaryAttr>:$tf32,
    OptionalAttr<Mp_StorageAttr>:$storage);
  let assemblyFormat = "$sym_name (`extends` $extends^)? attr-dict";
}

def Mp_TrainOp : Mp_Op<"train", [HasParent<"::mlir::ModuleOp">, SingleBlock, NoTerminator, NoRegionArguments,
                                DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "recipe that turns a function into a training step";
  let description = [{
    The recipe names the entry point that the passes build, and the function that it is built from.
    `accumulate(4)` makes a step of up to four micro-batches: see `mp-accumulate`. `autocast` in f16 needs a
    `scaler`: without one, small gradients become zero, and `mp-loss-scale` warns.

    Every `mp.minimize` may have its own result and its own optimizer. A result is differentiated with respect
    to the parameters of the groups that minimise it, and all groups are updated together. A weighted sum of
    losses is one more result of the function.

    Example:
    ```mlir
    mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
      mp.minimize result(0) {params = ["*"], optimizer = #mp.adamw<lr = 1.0e-3>, schedule = #mp.linear<to = 0.0>}
    }
    mp.train @gan of @losses accumulate(4) {
      mp.minimize result(0) {params = ["critic.*"], optimizer = #mp.adamw<lr = 4.0e-4>}
      mp.minimize result(1) {params = ["generator.*"], optimizer = #mp.adamw<lr = 1.0e-4>}
    }
    ```

    `attributes {clip_norm = 1.0}` clips the norm of all gradients together, and `clip_value` clips every
    element: see mp-clip-gradients. `recompute = "64MiB"` limits what the forward pass keeps for the backward
    pass: see mp-recompute.
  }];
  let arguments = (ins FlatSymbolRefAttr:$entry, FlatSymbolRefAttr:$function,
    OptionalAttr<Mp_AutocastAttr>:$autocast, OptionalAttr<FlatSymbolRefAttr>:$scaler,
    OptionalAttr<I64Attr>:$accumulate,
    OptionalAttr<F64Attr>:$clip_norm, OptionalAttr<F64Attr>:$clip_value, OptionalAttr<StrAttr>:$recompute);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $entry `of` $function (`autocast` `(` $autocast^ `)`)? (`scaler` `(` $scaler^ `)`)?
    (`accumulate` `(` $accumulate^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Mp_MinimizeOp : Mp_Op<"minimize", [HasParent<"::mp::TrainOp">]> {
  let summary = "minimisation of a result over some of the parameters";
  let description = [{
    `params` are shell patterns over names of variables. A later pattern that begins with `!` removes names. A
    parameter belongs to at most one `mp.minimize` of a recipe. With `stochastic_rounding`, bf16 parameters
    have no f32 master: the update is computed in f32 and rounded up or down at random, so that on average
    small updates are not lost. `clip_norm` and `clip_value` clip the gradients of the group, as those of
    `mp.train` clip all gradients. `ema` keeps the average `<parameter>.ema` of every parameter: see `mp.ema`.

    Groups that minimise the same result with the same kind of optimizer are the parameter groups of one
    optimizer, as in PyTorch. `optimizer_name` overrides this: groups with the same name belong to one
    optimizer. If a gradient is not finite, its optimizer skips the step, and no other does.

    Example: `mp.minimize result(0) {params = ["*", "!*.bias"], optimizer = #mp.sgd<lr = 0.1>}`
  }];
  let arguments = (ins I64Attr:$result, DefaultValuedAttr<StrArrayAttr, "{\"*\"}">:$params,
    Mp_Optimizer:$optimizer, OptionalAttr<Mp_Schedule>:$schedule, UnitAttr:$stochastic_rounding,
    OptionalAttr<F64Attr>:$clip_norm, OptionalAttr<F64Attr>:$clip_value, OptionalAttr<F64Attr>:$ema,
    OptionalAttr<StrAttr>:$optimizer_name);
  let assemblyFormat = "`result` `(` $result `)` attr-dict";
  let hasVerifier = 1;
}

def Mp_DataOp : Mp_Op<"data", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "files of a data folder, bound to arguments by name";
  let description = [{
    The name of a function's argument is its attribute `mp.name`.

    Example:
    ```mlir
    mp.data @train {image = #mp.column<"train-images*" as idx, ui8>, label = #mp.column<"train-labels*" as idx, ui8>}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DictionaryAttr:$columns);
  let assemblyFormat = "$sym_name $columns attr-dict";
  let hasVerifier = 1;
}

#endif // MP_OPS_RECIPE_TD
