//===- Passes.td - the backward graph ----------------------*- tablegen -*-===//
#ifndef MP_PASSES_AUTODIFF_PASSES_TD
#define MP_PASSES_AUTODIFF_PASSES_TD

include "passes/PassBase.td"

def Autodiff : Mp_Pass<"mp-autodiff", "::mlir::ModuleOp"> {
  let summary = "append the backward graph";
  let description = [{
    For every recipe, the pass builds the entry point. It contains the function's ops, followed by
    reverse-mode adjoints from `mp.seed` to the parameters, whose gradients become results with the attribute
    `mp.gradient`. Each of several losses has an `mp.seed` of its own, and reaches the parameters of the
    groups that minimise it. With `function`, the pass builds `@f.gradient` instead, which returns the
    gradients of result 0 with respect to the float arguments. An adjoint has the type of the value that it
    belongs to, and its location says which op it is the backward of. Ops `mp.gradient` are replaced first, as
    `mp-expand-gradients` does. Ops `mp.scale_gradient` are removed at the end.

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
                        "differentiate this function with respect to its arguments">];
}

def ChunkLoss : Mp_Pass<"mp-chunk-loss", "::mlir::ModuleOp"> {
  let summary = "take the rows of a classifier and its cross-entropy in parts";
  let description = [{
    The logits of a language model, [tokens, vocabulary], are often the largest value of its step, and their gradient
    is as large. With the setting `loss-chunks`, a recipe's function computes the product that makes the logits and the
    cross-entropy of them in that many parts of the rows, one after the other. `mp-order-chunks` then lets the
    backward of a part follow its forward, so that the logits of one part exist at a time and none is computed twice.
    `auto` takes as few parts as make the logits of one no larger than the classifier's weight, or than 4 million
    numbers; and one part where there are no more than twice as many logits.

    A row has the bits that it has without the pass, and so has its gradient for the hidden state. Losses of rows
    are concatenated and reduced as before; `mp.accuracy` is added up over the parts. The gradients of the weight and
    the bias are sums over the parts in f32, whatever the type of the product, and are rounded once.

    The pass takes each `mp.cross_entropy` whose classes are the last dimension, and whose logits are an `mp.linear`,
    or an `mp.matmul` by one matrix, of many rows, with casts and reshapes in between. Other ops that read the
    logits, but for `mp.accuracy` and a result of the function that `mp-return-numbers` drops, are errors, and so is
    a function without such a loss. The pass runs behind `mp-autocast` and before `mp-autodiff`.

    ```mlir
    // before                                  // after mp-chunk-loss{loss-chunks=2}
    %z = mp.linear %x, %w                      %x0 = mp.slice %x [0, 0] [512, 768]
      : tensor<1024x768xf32>, ...              %z0 = mp.linear %x0, %w {mp.chunk = 0}
    %l = mp.cross_entropy %z, %y               %l0 = mp.cross_entropy %z0, %y0 reduction(none) {mp.chunk = 0}
                                               %x1 = mp.slice %x [512, 0] [512, 768]
                                               %z1 = mp.linear %x1, %w {mp.chunk = 1}
                                               %l1 = mp.cross_entropy %z1, %y1 reduction(none) {mp.chunk = 1}
                                               %r = mp.concat %l0, %l1 dim(0)
                                               %s = mp.sum %r dims[0]
                                               %l = mp.div %s, %rows
    ```
  }];
  let options = [Option<"returnsNumbers", "returns-numbers", "bool", "false",
                        "mp-return-numbers follows, so that returned logits are not computed">];
}

def OrderChunks : Mp_Pass<"mp-order-chunks", "::mlir::ModuleOp"> {
  let summary = "let the backward of each part of a loss follow its forward";
  let description = [{
    The gradient of a loss for its logits depends on the logits, not on the loss. So the ops of a part that
    `mp-chunk-loss` has marked move to their backward, which runs in the reverse order of the parts, and the ops that
    take the losses of all parts move to the end. The products that make the gradient of the weight yield f32, in which
    they are added up. If a gradient depends on the losses, as that of their logarithm does, the pass fails. It runs
    behind `mp-autodiff`, and removes nothing.

    ```mlir
    // before                                  // after
    %z0 = mp.linear %x0, %w {mp.chunk = 0}     %s = mp.seed
    %l0 = mp.cross_entropy %z0, ...            %z1 = mp.linear %x1, %w {mp.chunk = 1}
    %z1 = mp.linear %x1, %w {mp.chunk = 1}     %l1 = mp.cross_entropy %z1, ...
    %l1 = mp.cross_entropy %z1, ...            %g1 = mp.cross_entropy_backward %s1, %z1, ...
    %r = mp.concat %l0, %l1 dim(0)             ...
    %s = mp.seed                               %z0 = mp.linear %x0, %w {mp.chunk = 0}
    %g1 = mp.cross_entropy_backward %s1, ...   %l0 = mp.cross_entropy %z0, ...
    ...                                        %g0 = mp.cross_entropy_backward %s0, %z0, ...
    %g0 = mp.cross_entropy_backward %s0, ...   ...
    ...                                        %r = mp.concat %l0, %l1 dim(0)
    ```
  }];
}

def Recompute : Mp_Pass<"mp-recompute", "::mlir::ModuleOp"> {
  let summary = "recompute forward values in the backward pass instead of keeping them";
  let description = [{
    The pass performs activation checkpointing in functions whose backward graph has been built. The ops that
    compute what the backward graph uses are cloned before their first use there, with the location
    "recomputed for backward of". They read the values that are kept through `mp.recompute_barrier`, which
    delays them until the backward pass has reached this point. A clone has the bits of its original: random
    ops keep their stream, and reads yield values at entry. What depends on variables alone is never computed
    again.

    The option `recompute` determines which values are kept:
    - `marked`: inputs, `mp.checkpoint` and what follows the last of these; without checkpoints, all. This is
      the default.
    - `all`: all values.
    - a size such as `64MiB`: the values of the forward graph that are alive during the backward pass,
      including those that are computed again, never exceed this size. Values that take no contraction are
      recomputed first, in the order of bytes saved per FLOP. Whole blocks follow, so that the fewest FLOPs
      are repeated. The estimate counts every value that the backward graph uses as stored. If the size is not
      met, loops are divided into up to eight segments. The forward graph keeps what a loop carries from one
      segment to the next, and the backward graph runs a segment again before its own rounds of it, for what the
      loop stacks. If it cannot be met, an error gives the size that can be reached.

    The option overrides the attribute `recompute` of the recipe. `mp.checkpoint` is removed.

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
}

def ExpandGradients : Mp_Pass<"mp-expand-gradients", "::mlir::func::FuncOp"> {
  let summary = "replace mp.gradient by the backward ops";
  let description = [{
    The ops are replaced in their order, so a gradient of a gradient differentiates the ops that replaced the
    inner one. The backward pass begins with the constant one and does not include a loss scale.

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
  let summary = "return the floats that numbered ops yield, and their gradients";
  let description = [{
    The results of a function are replaced by every float result of every op that `mp-number-ops` has
    numbered. The attribute `mp.name` is `value.N.R` for result R of op N. A value is rounded to its type
    whether it is fused or not, so returning it does not change it.

    With `gradients`, the function of a recipe also returns the gradients of its losses with respect to the
    same values, as far as these depend on trained parameters. Their name is `gradient.L.N.R` for loss L. The
    backward pass begins with `scale`. The recipe is removed. Without `values`, only the gradients are
    returned, and `mp.origin` names the op that computed each value and its place. Functions that no recipe
    trains do not change.

    ```mlir
    // before                                             // after
    %y = mp.exp %x {mp.number = 1 : i64}                  %y = mp.exp %x {mp.number = 1 : i64}
    %l = mp.sum %y dims[0] {mp.number = 2 : i64}          %l = mp.sum %y dims[0] {mp.number = 2 : i64}
    return %l                                             return %y, %l
    ```
  }];
  let options = [
    Option<"values", "values", "bool", "true", "return the values themselves">,
    Option<"gradients", "gradients", "bool", "false", "return the gradients of a recipe's losses too">,
    Option<"scale", "scale", "double", "1.0", "gradient that the backward pass begins with">,
  ];
}

#endif // MP_PASSES_AUTODIFF_PASSES_TD
