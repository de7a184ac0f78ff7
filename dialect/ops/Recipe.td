//===- Recipe.td - what to train, how, and on what --------*- tablegen -*-===//
#ifndef MP_OPS_RECIPE_TD
#define MP_OPS_RECIPE_TD

include "dialect/MpBase.td"

def Mp_PolicyOp : Mp_Op<"policy", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "an autocast policy of one's own";
  let description = [{
    Lists of op names, and what becomes of an op that is in none (`unlisted`). Names are ours
    (`mp.exp`), those of `system`, or `class:` and a numeric class (`class:loss`). What is not
    said is as in the policy that it `extends`, a preset or a file. `autocast` names it by
    its symbol. See docs/policies.md for the categories. `f16`, `bf16` and `tf32` hold lists
    for one type alone, which go before the others; `storage` keeps the operands of
    contractions that run low in 8 bits. `outputs` says which type the floats have that a function
    returns: "f32", or "declared", the type that the function says; without it they have that of the
    op that yields them. `out_dtype = "f32"` keeps the f32 sums of a contraction that the function returns
    as they are.

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
  let summary = "a recipe: how a function becomes a training step";
  let description = [{
    Names the entry point that the passes build, and the function it comes from.
    `accumulate(4)` makes a step of up to four micro-batches: see `mp-accumulate`.
    `autocast` in f16 wants a `scaler`: without one small gradients become zero, and
    `mp-loss-scale` warns.

    Every `mp.minimize` may have a result and an optimizer of its own; a result is
    differentiated by the parameters of the groups that minimise it, and all are stepped
    together. A weighted sum of losses is one more result of the function.

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

    `attributes {clip_norm = 1.0}` clips the norm of all gradients together, `clip_value`
    every element: see mp-clip-gradients. `recompute = "64MiB"` bounds what forward keeps for
    backward: see mp-recompute.
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
  let summary = "minimises a result over some of the parameters";
  let description = [{
    `params` are shell patterns over names of variables; a later pattern that begins with
    `!` takes names away. A parameter belongs to at most one `mp.minimize` of a recipe.
    With `stochastic_rounding`, bf16 parameters have no f32 master: the update is computed
    in f32 and rounded up or down at random, so that small ones are not lost on average.
    `clip_norm` and `clip_value` clip the group's gradients, as those of `mp.train` clip
    all. `ema` keeps the average `<parameter>.ema` of every parameter: see `mp.ema`.

    Groups that minimise the same result with the same kind of optimizer are the parameter
    groups of one optimizer, as in PyTorch; `optimizer_name` says otherwise: groups of one
    name are one optimizer. Where a gradient is not finite its optimizer skips the step, and
    no other does.

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
  let summary = "binds files of a data folder to arguments by name";
  let description = [{
    A function's argument has the name that its attribute `mp.name` gives.

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
