//===- Passes.td - from gradients to a training step -------*- tablegen -*-===//
#ifndef MP_PASSES_STEP_PASSES_TD
#define MP_PASSES_STEP_PASSES_TD

include "passes/PassBase.td"

def Inline : Mp_Pass<"mp-inline", "::mlir::ModuleOp"> {
  let summary = "replace calls by the ops of their functions";
  let description = [{
    This is the first pass of every pipeline, but for mp-override-recipe, so all later passes see functions
    without calls. A network in a function of its own is written once and used by loss and prediction. If it is
    called twice, it has tied weights. Private functions that nothing calls any more are removed.

    An inlined op has the location `callsite(... at ...)`: the line of the op, followed by the line of the
    call. A random op with a written stream keeps the stream in the first copy that a function gets, and every
    further copy draws from another stream. Recursion, calls of functions without a body and calls through
    values are errors. So are calls that would give a function more than 100,000 ops.

    ```mlir
    // before                                          // after
    func.func private @net(%x: tensor<8x4xf32>)        func.func @loss(%x: tensor<8x4xf32>)
        -> tensor<8x4xf32> {                               -> tensor<8x4xf32> {
      %y = mp.relu %x : tensor<8x4xf32>                  %0 = mp.relu %x : tensor<8x4xf32>
      return %y : tensor<8x4xf32>                        return %0 : tensor<8x4xf32>
    }                                                  }
    func.func @loss(%x: tensor<8x4xf32>)
        -> tensor<8x4xf32> {
      %y = call @net(%x) : ...
      return %y : tensor<8x4xf32>
    }
    ```
  }];
}

def OverrideRecipe : Mp_Pass<"mp-override-recipe", "::mlir::ModuleOp"> {
  let summary = "write other values into recipes";
  let description = [{
    The option `set` is a list of fields and their values, separated by `;`. A field is `optimizer.NAME` or
    `schedule.NAME`, an argument of that attribute; `minimize.NAME` or `train.NAME`, an attribute of that op;
    `autocast.NAME`; or `scaler.NAME`, an attribute of the recipe's `mp.scaler`. `optimizer[1].NAME` is that of the
    second `mp.minimize`, counted from 0; without a number, the field of all is set. An unknown field and a value
    that the recipe could not have are errors.

    ```mlir
    // before                                             // after mp-override-recipe{set=optimizer.lr=0.05;minimize.ema=0.999}
    mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1>} mp.minimize result(0) {ema = 0.999, optimizer = #mp.sgd<lr = 5.0e-2>}
    ```
  }];
}

def Specialize : Mp_Pass<"mp-specialize", "::mlir::ModuleOp"> {
  let summary = "bind the batch dimension";
  let description = [{
    The pass replaces the leading `?` of every tensor by a number. Afterwards all shapes are static. The `?` of
    an argument is the batch; that of other values is the batch, or what `mp.reshape` made of it. Two operands
    of an op in which `?` stands for different multiples of the batch are an error, and so is a batch that does
    not divide. A function that is called with another `?` than the batch must be inlined first.

    ```mlir
    // before                                                        // after mp-specialize{batch=8}
    mp.relu %x : tensor<?x6x4xf32>                                   mp.relu %x : tensor<8x6x4xf32>
    mp.reshape %x : tensor<?x6x4xf32> to tensor<?x4xf32>             mp.reshape %x : tensor<8x6x4xf32> to tensor<48x4xf32>
    ```
  }];
  let options = [Option<"batch", "batch", "int64_t", "0", "rows in a batch">];
}

def SetMode : Mp_Pass<"mp-set-mode", "::mlir::ModuleOp"> {
  let summary = "make functions train or evaluate";
  let description = [{
    The pass sets `mp.mode` on every function, which is permanent. In a function that evaluates, ops that
    compute something else in evaluation are replaced (dropout by its operand, batch norm by the op that uses
    the running statistics), and writes are removed. Autodiff refuses such a function. In both modes,
    `mp.in_training` is replaced by one of its operands.

    ```mlir
    // before                                            // after mp-set-mode{mode=eval}
    func.func @loss(%x: tensor<?x8xf32>) {               func.func @loss(%x: tensor<?x8xf32>) attributes {mp.mode = "eval"} {
      %y, %mean, %rstd, %m, %v = mp.batch_norm %x, ...     %y = mp.batch_norm_inference %x, ...
      mp.write @bn.running_mean, %m : tensor<8xf32>
    ```
  }];
  let options = [Option<"mode", "mode", "std::string", "\"train\"", "train or eval">];
}

def RecognizeAttention : Mp_Pass<"mp-recognize-attention", "::mlir::func::FuncOp"> {
  let summary = "replace products around a softmax by attention";
  let description = [{
    `softmax(scale * q k^T + mask) v`, of operands [batch, heads, tokens, channels], [n, tokens, channels] or [tokens,
    channels], becomes mp.scaled_dot_product_attention, so that no scores are stored. The scale is a constant that
    multiplies or divides; the mask is any float tensor, added after the scale. A choice between the score and a
    constant of at most -10,000, by mp.compare of two mp.iota that says whether a key comes later than a query, is a
    causal bound. Transposes in front are undone where they are those that the op needs.

    What is computed is the same but for the order of sums in f32. A row whose mask is -infinity everywhere is zeros,
    not NaN. A dropout of the weights becomes the op's, and drops the same ones. Nothing is replaced if scores or
    weights have another use; if one of the ops has an attribute such as mp.autocast; if the graph is written in 16
    bits, as its ops round what the op keeps in f32; or in a function that takes gradients itself.

    ```mlir
    // before                                            // after mp-recognize-attention
    %s = mp.matmul %q, %k transpose_b                    %q1 = mp.transpose %q [0, 2, 1, 3]
    %c = mp.constant dense<0.125> : tensor<f32>          ...
    %t = mp.mul %s, %c                                   %y1, %l = mp.scaled_dot_product_attention %q1, %k1, %v1
    %p = mp.softmax %t dim(3)                                          scale = 0.125
    %y = mp.matmul %p, %v                                %y = mp.transpose %y1 [0, 2, 1, 3]
    ```
  }];
}

def NumberStreams : Mp_Pass<"mp-number-streams", "::mlir::ModuleOp"> {
  let summary = "give each random op a stream of its own";
  let description = [{
    In the order of the text, each random op without a stream gets the next number that no other op of the
    module has. Two ops of a function with the same stream are an error. The exception is a function whose
    backward graph has been built: it draws again what the forward graph drew.

    A scan (mp.scan) with random ops also runs over the numbers of its time steps, and each op takes its own as the last
    part of its key, `key(%t)`: in time step t it draws from its stream + 65536 t. Streams are below 65536 then, and
    there are at most as many time steps, of all scans around an op together.

    ```mlir
    // before                             // after
    %y = mp.dropout %x : tensor<4xf32>    %y = mp.dropout %x stream(0) : tensor<4xf32>
    %r = mp.uniform : tensor<4xf32>       %r = mp.uniform stream(1) : tensor<4xf32>
    ```
  }];
}

def RandomKeys : Mp_Pass<"mp-random-keys", "::mlir::ModuleOp"> {
  let summary = "add seed and step attempt to random ops";
  let description = [{
    The seed is the variable `@random.seed`. It begins as the seed of the run and does not change. In a step,
    the attempt is the count of step attempts, so a step after a skipped one draws other numbers. In any other
    function it is 0. The key of an op in a scan has four parts: seed, attempt, micro-batch and time step. A loop
    (mp.loop) gives the first three to its body.

    ```mlir
    // before                                     // after
                                                  mp.variable attempt @random.seed : tensor<i64> = #mp.init<seed>
                                                  %s = mp.read @random.seed : tensor<i64>
                                                  %a = mp.read @step.attempted : tensor<i64>
    %y = mp.dropout %x stream(0) : tensor<4xf32>  %y = mp.dropout %x stream(0) key(%s, %a) : tensor<4xf32>
    ```
  }];
}

def SynthesizeScales : Mp_Pass<"mp-synthesize-scales", "::mlir::ModuleOp"> {
  let summary = "give each f16 gradient a power of two of its own";
  let description = [{
    The powers come from a calibration, which is the JSON file that `mp-run calibrate` writes and that the
    option `scales` names. The gradients
    of an op's results are multiplied by a power of two and by the first scale of the recipe's loss scaler.
    The power is the largest at which these gradients, and those of the op's f16 operands, stay below 65504
    with `headroom` factors of two to spare. Where the powers of an op and of its operand differ, an
    `mp.scale_gradient` is inserted between them. The gradients of parameters and of results of the function
    are not scaled: scales are undone at the leaves, in f32, after the cast of a weight. Powers of two are
    exact, so only underflow and overflow change. The same power everywhere is equivalent to a loss scale. The
    recipe must have a loss scaler for the check of the gradients; `static:1` is enough.

    The ops are those that `mp-number-ops{only=f16}` has numbered. Gradients inside the function
    (`mp.gradient`) are refused.

    ```mlir
    // before                                        // after
    %c = mp.cast %w : tensor<4xf32> to tensor<4xf16> %s = mp.scale_gradient %w by -13
                                                     %c = mp.cast %s : tensor<4xf32> to tensor<4xf16>
    %y = mp.mul %x, %c : tensor<4xf16>               %y = mp.mul %x, %c : tensor<4xf16>
    ```
  }];
  let options = [
    Option<"scaler", "scaler", "std::string", "\"\"", "the same as for mp-loss-scale">,
    Option<"defaultScaler", "default-scaler", "std::string", "\"\"", "the same as for mp-loss-scale">,
    Option<"headroom", "headroom", "int64_t", "-1", "factors of two to spare (-1: those of the calibration)">,
  ];
}

def SparseGradients : Mp_Pass<"mp-sparse-gradients", "::mlir::ModuleOp"> {
  let summary = "take the gradients of tables as the rows that a batch uses";
  let description = [{
    A group whose optimizer is `sparse` updates the rows of its parameters that a step gathers (`mp.gather`), and no
    others: neither the gradient nor the update touches the rest of the table. This pass replaces the gradient of such
    a parameter by its rows, one for each index that is used. Rows of equal indices are added up in the order of the
    whole gradient, and have its bits. A second result, with the attribute `mp.gradient_rows`, is the indices, in
    ascending order. There are as many places as uses; those left over have the index -1, and an index that is out of
    range becomes the number of rows. mp-optimizer gathers the same rows of parameter and slots, and replaces them by
    `mp.scatter_rows`.

    The gradient must consist of such rows alone: that of a table that is a classifier's weight as well is an error. So
    are `ema` and `stochastic_rounding`. mp-accumulate and mp-data-parallel refuse such gradients.

    ```mlir
    // before                                        // after
    %g = mp.scatter_add %u, %i dim(0) size(50000)    %places, %rows = ... // from sorted %i
    return %l, %g                                    %g = mp.scatter_add %u, %places dim(0) size(64)
                                                     return %l, %g, %rows
    ```
  }];
}

def LossScale : Mp_Pass<"mp-loss-scale", "::mlir::ModuleOp"> {
  let summary = "scale the loss, unscale and check the gradients, adapt the scale";
  let description = [{
    The pass expresses loss scaling as ops. The backward pass begins with the scale, and gradients are
    unscaled in f32 and checked. `mp.update_scale` computes the new scale and its counters, which are
    variables that every step writes. Its fields are those of the recipe's `mp.scaler`, whose preset gives
    those of a system. A `static:N` scale is a constant, and its gradients are checked as well. All losses
    begin with the same scale.

    The step returns `scale` and `skipped`. `skipped` is set if any gradient is not finite, and the scaler's
    update reads it. With an `on_min` that ends a run, the step also returns `scale_exhausted`. If the recipe
    has several optimizers (see `mp.minimize`), the step returns `skipped.<name>` for each, which is set if a
    gradient of that optimizer is not finite. The name is `optimizer_name`, or the index of the optimizer,
    from 0.

    A recipe whose autocast is f16 and that names no scaler gets a warning and is not scaled, so small
    gradients become zero. The option `none`, or a scaler with the preset `none` or `enabled = false`, states
    that this is intended.

    ```mlir
    // before                        // after
    %s = mp.seed : tensor<f32>       %k = mp.read @scaler.scale : tensor<f32>
    ...                              %s = mp.scale %seed, %k
    return %l, %g                    ...
                                     %u, %bad = mp.unscale_and_check %g, %k
                                     %k1, %t1, %e = mp.update_scale %k, %t, %bad
                                     mp.write @scaler.scale, %k1
                                     return %l, %u, %k, %bad
    ```
  }];
  let options = [
    Option<"scaler", "scaler", "std::string", "\"\"",
           "a preset of mp.scaler instead of the recipe's scaler, or none">,
    Option<"defaultScaler", "default-scaler", "std::string", "\"\"",
           "a preset of mp.scaler that applies if the recipe has no scaler">,
  ];
}

def Quantize : Mp_Pass<"mp-quantize", "::mlir::ModuleOp"> {
  let summary = "keep operands of contractions in 8 bits, each with its own scale";
  let description = [{
    The pass carries out `mp.storage`, which `mp-autocast` attaches to contractions if a policy such as `fp8`
    keeps their operands in 8 bits. An operand times its scale is rounded to the forward type, and the
    gradient that arrives to the backward type. Products of both are divided by the two scales in f32 and
    rounded to their original type. The forward and the backward pass multiply the same bits, and no other
    copy of a value is kept for the backward pass.

    Scales are delayed, as in Transformer Engine (Micikevicius et al., "FP8 Formats for Deep Learning", 2022).
    A scale is the largest number of the type, divided by the largest magnitude of the tensor ("amax") in the
    last `amax_history` steps and by 2^`margin`. Before anything is known, it is one. The histories are
    variables: `<parameter>.amax` and `<parameter>.input.amax` for the operands of the forward pass, and
    `<parameter>.output_gradient.amax` for the gradient. A step writes them, a skipped step does not, and
    evaluation reads them. The histories of gradients are those of gradients without the loss scale, so a
    different loss scale makes no difference. Finite numbers saturate, and non-finite numbers stay non-finite.
    A function without a recipe has no history and computes each scale from the tensor itself.

    The pass runs after mp-autodiff and mp-loss-scale, so gradients are computed as if nothing were rounded
    and already have their loss scale.

    ```mlir
    // before                                           // after, without a history
                                                        %s, %t = ...
                                                        %a = mp.mul %x, %s    // in f32, clamped to what f8E4M3FN holds
    %y = mp.matmul %x, %w {mp.storage = #mp.storage<    %p = mp.cast %a : tensor<4x8xf32> to tensor<4x8xf8E4M3FN>
      forward = f8E4M3FN, backward = f8E5M2>}           %z = mp.matmul %p, %q : tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>
        : tensor<4x8xbf16>, tensor<8x2xbf16>            %r = mp.mul %z, %u    // 1 / (%s %t)
                                                        %y = mp.cast %r : tensor<4x2xf32> to tensor<4x2xbf16>
    ```
  }];
}

def Accumulate : Mp_Pass<"mp-accumulate", "::mlir::ModuleOp"> {
  let summary = "split a step into gathering micro-batches and their update";
  let description = [{
    `@step.accumulate` takes a micro-batch. It adds the gradients of the micro-batch, unscaled, in f32 and
    multiplied by its number of rows, to `window` variables. `@step` takes no arguments and applies what was
    gathered. Its gradients are the sums divided by the count of all rows. For losses that are means over
    rows, this is the gradient of all rows at once. Later passes find gradients and flag in `@step`, as in a
    step without micro-batches.

    - A flag gathers the checks of all micro-batches and is applied once. The scaler's update and all other
      writes that every step attempt makes move to `@step`, so the scale is constant within a window.
    - A variable that the forward graph writes (statistics) has a window variable. Every micro-batch starts
      from the value that the one before left in it, and `@step` commits it or not.
    - Scalar results become their means over rows, in f32. Other results are dropped.
    - The first micro-batch overwrites the window variables. `@step` resets only `@step.micro`, the index of
      the micro-batch.

    The option `accumulate` overrides the recipe's. One means no micro-batches. With `ranks`, the number is that of
    all ranks together, and each rank takes an equal share; a number that they cannot share is an error.

    ```mlir
    // before                          // after, @step.accumulate and @step
    func.func @step(%x) -> (%l, %g)    func.func @step.accumulate(%x) attributes {mp.phase = "accumulate"} {
                                         ...
                                         %k = mp.select %first, %zero, %sum
                                         %s = mp.add %k, %w
                                         mp.write @step.gradient.w, %s
                                       }
                                       func.func @step() -> (%l, %g) attributes {mp.phase = "apply"} {
                                         %s = mp.read @step.gradient.w
                                         %g = mp.div %s, %rows
                                         mp.write @step.micro, %zero
                                       }
    ```
  }];
  let options = [
    Option<"rows", "rows", "int64_t", "0", "rows of a micro-batch, which are its weight in means; 0: one">,
    Option<"ranks", "ranks", "int64_t", "1", "ranks that share the micro-batches">,
  ];
}

def SyncBatchNorm : Mp_Pass<"mp-sync-batch-norm", "::mlir::ModuleOp"> {
  let summary = "let batch norms of a recipe's function take mean and variance over the rows of all ranks";
  let description = [{
    The op is replaced by its parts, in which the sums over rows are `mp.all_reduce`d, with the number of rows; its
    gradient then is theirs. As in `torch.nn.SyncBatchNorm`, the gradients are those of one batch of all rows if all
    ranks have as many. A rank without rows has no part in them. Runs after mp-autocast and before mp-autodiff, where
    the setting `batch-norm` is `all`. Otherwise each rank normalizes its own rows, as each micro-batch does.

    ```mlir
    // before                                        // after
    %y, %mean, ... = mp.batch_norm %x, %m, %v        %s = mp.sum %x dims[0, 2, 3] keepdims
                                                     %sums:2 = mp.all_reduce sum %s, %rows
                                                     %mean = mp.div %sums#0, %sums#1
                                                     %off = mp.sub %x, %mean
                                                     ...
    ```
  }];
}

def DataParallel : Mp_Pass<"mp-data-parallel", "::mlir::ModuleOp"> {
  let summary = "make a step one of several ranks, which train on parts of the batch";
  let description = [{
    Every rank runs the same step on its own micro-batch, or on its share of the micro-batches of `mp-accumulate`. The
    pass adds the exchanges between ranks, so that N ranks take the step that one rank takes with N micro-batches: in
    fp32 on the wire, and with one micro-batch for each rank, to the last bit.

    - Gradients are multiplied by their rows, added up over ranks and divided by all rows. Backward makes them one
      after the other; as soon as `bucket` bytes are there, they are exchanged together, while backward goes on. Of a
      step with micro-batches, the sums are exchanged once, in the function that applies them.
    - A flag that skips the step is set on all ranks if it is set on one. Gradients are checked before they are
      exchanged; an exchange in 16 bits, which may overflow, comes before the check.
    - Scalar results become their means over the rows of all ranks, in f32. Other results are dropped.
    - A variable that the forward graph writes (statistics) gets the value that ranks give it one after the other: what
      each of them computes from its batch is gathered, and the writes are computed on every rank.
    - The option `wire`, "f16" or "bf16", rounds gradients before and after the exchange. Scaled gradients travel.

    The step gets the attribute `mp.ranks`, by which random ops draw other bits on every rank. After this pass, what
    follows (clipping, optimizers, the scaler) is the same on all ranks and needs no further exchange.

    ```mlir
    // before                          // after
    func.func @step(%x) {              func.func @step(%x) attributes {mp.ranks = 4} {
      %g, %f = mp.unscale_and_check      %g, %f = mp.unscale_and_check
                                         %w = mp.mul %g, %rows
                                         %s = mp.all_reduce sum %w
                                         %a = mp.all_reduce or %f
                                         %m = mp.div %s, %all_rows
      return %g, %f                      return %m, %a
    }                                  }
    ```
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "1", "number of ranks; 1: the step stays as it is">,
    Option<"rows", "rows", "int64_t", "0", "rows of a micro-batch, which are its weight in means; 0: one">,
    Option<"bucket", "bucket", "int64_t", "4194304", "bytes of gradients that are exchanged together, at least">,
    Option<"wire", "wire", "std::string", "\"\"", "type in which gradients travel: f16, bf16 or empty for their own">,
  ];
}

def MasterWeights : Mp_Pass<"mp-master-weights", "::mlir::ModuleOp"> {
  let summary = "keep f32 masters and low-precision working copies";
  let description = [{
    A cast of an f32 parameter becomes a `derived` variable, which the optimizer writes together with its
    master. A 16-bit parameter gets an f32 master under its name, unless its group in the recipe uses
    stochastic rounding. The function `@derive` computes all derived variables.

    ```mlir
    // before                                          // after
    %w = mp.read @w : tensor<4xf32>                    mp.variable derived @w.f16 : tensor<4xf16> from @w
    %h = mp.cast %w : tensor<4xf32> to tensor<4xf16>   %h = mp.read @w.f16 : tensor<4xf16>
    ```
  }];
}

def ClipGradients : Mp_Pass<"mp-clip-gradients", "::mlir::ModuleOp"> {
  let summary = "limit gradients by their norm or element by element";
  let description = [{
    The pass carries out `clip_norm` and `clip_value` of a recipe or of its groups, as
    `torch.nn.utils.clip_grad_norm_` and `clip_grad_value_` do. For a norm, gradients are multiplied by one
    number, so that the 2-norm of all gradients, or of those of a group, is at most the given norm. For a
    value, every element is limited to the range between minus and plus this value. The pass runs after
    mp-loss-scale, so gradients are unscaled. The step returns `grad_norm`, the norm of all gradients before
    clipping. If the norm of one optimizer's gradients is infinite or NaN, so is the norm of all gradients,
    and clipping by it would destroy the finite gradients; all optimizers then skip together. The options
    `clip-norm` and `clip-value` override the recipe.

    ```mlir
    // before           // after mp-clip-gradients{clip-norm=1}
    return %l, %g       %s = mp.mul %g, %g
                        %t = mp.sum %s dims[0] : tensor<4xf32>
                        %n = mp.sqrt %t : tensor<f32>
                        %f = mp.clip_factor %n {max_norm = 1.0} : tensor<f32>
                        %c = mp.mul %g, %f : tensor<4xf32>, tensor<f32>
                        return %l, %c, %n
    ```
  }];
}

def Optimizer : Mp_Pass<"mp-optimizer", "::mlir::ModuleOp"> {
  let summary = "expand recipes into update ops, slots and learning-rate schedules";
  let description = [{
    Each gradient becomes an update of its parameter, with the slots that the optimizer keeps and a learning
    rate computed from the count of applied steps. Each write of a parameter is accompanied by writes of the
    variables derived from it. A value that a 16-bit copy cannot hold skips the step. Bounds in `derived`
    variables of rank 0 rule this out in nearly every step, without an examination of the values. A group's
    `ema` adds a slot `<parameter>.ema`. With several optimizers, each counts the steps that it applied in
    `<step>.<name>.applied`, and its own flag guards what it writes. The step returns `lr` (that of the first
    group) and `grad_norm`. The recipe is removed.

    With `steer-learning-rate`, every learning rate is the variable `<step>.lr`, unless it is negative, times
    `<step>.lr_factor`. With `gradients`, the step returns the gradients of these parameters as the optimizer
    takes them, unscaled and clipped, under the names `grad:<parameter>`.

    ```mlir
    // before                // after
    return %l, %g            %p1, %m1, %v1 = mp.adamw %p, %g, %m, %v, %lr, %c1, %c2
                             mp.write @w, %p1 : tensor<4xf32>
                             mp.write @w.exp_avg, %m1 : tensor<4xf32>
                             mp.write @w.exp_avg_sq, %v1 : tensor<4xf32>
                             return %l, %lr, %norm
    ```
  }];
  let options = [
    Option<"totalSteps", "total-steps", "int64_t", "0", "steps of the run, for schedules that end with it">,
    Option<"steersLearningRate", "steer-learning-rate", "bool", "false",
           "read the learning rate and a factor of it from variables">,
    ListOption<"gradients", "gradients", "std::string", "parameters whose gradient the step returns">,
  ];
}

def KeepResults : Mp_Pass<"mp-keep-results", "::mlir::ModuleOp"> {
  let summary = "keep the part of a recipe's function that predicts";
  let description = [{
    The function of a recipe returns the results of these names alone, or if there are no names those
    that have a dimension. Arguments that are not needed for them, such as labels, are removed; `mp.arguments` holds
    the places of the others. The recipe is removed. The pass runs when casts are decided, since these depend
    on the recipe.

    ```mlir
    // before                                  // after mp-keep-results{results=logits}
    func.func @loss(%image, %label)            func.func @loss(%image) attributes {mp.arguments = array<i64: 0>}
      %logits = mp.linear %image, %w, %b         %logits = mp.linear %image, %w, %b
      %l = mp.cross_entropy %logits, %label      return %logits
      return %l, %logits
    ```
  }];
  let options = [
    ListOption<"results", "results", "std::string", "names of the results to keep">,
    Option<"keepRecipe", "keep-recipe", "bool", "false",
           "make the other results zeros instead, so that recipe and arguments stay for passes that need them">,
  ];
}

def ReturnNumbers : Mp_Pass<"mp-return-numbers", "::mlir::ModuleOp"> {
  let summary = "drop the results of a step that are not one number";
  let description = [{
    Functions return single numbers alone, and what was asked for by a name with its kind, such as `grad:w` and
    `value:%h`. Training reads the loss and the metrics of a step; logits of all tokens would be copied from the device
    in every step, and could not share memory with what is computed after them. The pass runs behind mp-optimizer, as
    a recipe counts the results of its function.

    ```mlir
    // before                                     // after mp-return-numbers
    return %loss, %logits                         return %loss
        : tensor<f32>, tensor<128x10xf32>             : tensor<f32>
    ```
  }];
}

def ShardOptimizer : Mp_Pass<"mp-shard-optimizer", "::mlir::ModuleOp"> {
  let summary = "divide the state of optimizers among ranks";
  let description = [{
    Every rank keeps a part of each slot (momentum, moments), and updates that part of the parameter: the first stage of
    ZeRO (arXiv 1910.02054). The bits are those of a step without it. What is computed element by element from a slot is
    computed for the part; its largest element and its flags are combined over ranks; and what needs the whole tensor,
    as the new parameter, is gathered. A parameter is divided too, with its moving average, if the graph reads 16-bit
    copies of it alone (mp-master-weights) and its update works element by element, unlike that of LAMB and LARS:
    then ranks gather the copy. What draws random numbers, which belong to elements of the whole tensor, is computed
    whole. Gradients are exchanged whole: a step reports their norms, whose bits are those of the whole tensor's sum.

    Elements lie in order and are padded with zeros to a multiple of the number of ranks. The variable says what it is a
    `part_of`, and checkpoints hold the whole. Runs after mp-optimizer.

    ```mlir
    // before                                        // after, for two ranks
    mp.variable slot @w.m : tensor<3x5xf32>          mp.variable slot @w.m : tensor<8xf32> part_of tensor<3x5xf32>
    %m = mp.read @w.m                                %m = mp.read @w.m
    %w1, %m1 = mp.sgd %w, %g, %lr, %m                %w1, %m1 = mp.sgd %part_of_w, %part_of_g, %lr, %m
    mp.write @w.m, %m1                               mp.write @w.m, %m1
    mp.write @w, %w1                                 %all = mp.all_gather %w1 ranks(2)
                                                     mp.write @w, %whole
    ```
  }];
  let options = [Option<"ranks", "ranks", "int64_t", "1", "number of ranks; 1: the state stays whole">];
}

def PredicateStep : Mp_Pass<"mp-predicate-step", "::mlir::func::FuncOp"> {
  let summary = "guard the writes of a step, so that a skipped step writes nothing";
  let description = [{
    In a function that returns `skipped`, the pass guards every write by the negation of `skipped`. It leaves
    out writes of variables that every step attempt changes (scaler, attempt and window), and writes that
    already have a guard: in a step with several optimizers, mp-optimizer has guarded the writes of each by
    the optimizer's own flag.

    ```mlir
    // before            // after
    mp.write @w, %p1     %ok = mp.not %skipped
                         mp.write @w, %p1 if %ok
    ```
  }];
}

def VerifyStep : Mp_Pass<"mp-verify-step", "::mlir::ModuleOp"> {
  let summary = "prove that skipped steps write nothing and that gradients are unscaled and checked";
  let description = [{
    The pass is the step verifier. It changes nothing, and fails if one of the following rules does not hold.
    Flags are the results `skipped` and, with several optimizers, `skipped.<name>`.

    Writes, in a function that returns a flag:
    - A parameter, slot, buffer or derived variable is written only under the negation of a flag: no weight,
      copy, moment, average, statistic or count changes in a step that its flag skips. Scaler, attempt and
      window variables are always written. No variable is written twice.
    - Every check that a written value is computed from sets the flag that guards the write: the flag is the
      check's, or an `or` that contains it.
    - `skipped` guards the writes of buffers, and of parameters whose value depends on no check.
    - The flag that guards a write also guards every slot that the value is computed from, and a working copy
      has the flag of its master: the state of one optimizer changes together.
    - A schedule takes its step from no variable that skipped steps write, and in a scaled step neither does
      an update: learning rates and bias corrections follow counts of applied steps.

    Gradients and flags:
    - Every check sets `skipped` and the flag that `mp.update_scale` reads. No optimizer's flag is set without
      `skipped`.
    - All losses begin the backward pass with one scale, and every check divides by this scale.
    - No value that contains the loss scale reaches a variable, or the norm that clips, without
      `mp.unscale_and_check`.

    Ranks, in a step with `mp.ranks`: what a rank computes from its rows, its number or its window reaches a variable or
    a flag only through `mp.all_reduce`, `mp.all_gather` or `mp.broadcast_from`. All ranks thus skip together and leave
    the same state. A part of a tensor (`part_of`) and window variables are a rank's own; the conditions of their writes
    are not.

    Micro-batches: `accumulate` writes only window variables. These include its flags, each combined with what
    the micro-batches before left in it. What `apply` reads of them is followed into `accumulate`, so the
    rules above are about the same checks.

    The search for what a value is computed from ends at a check, which the gradient precedes, and at the key
    of a random op. The step verifier does not prove that a copy that may overflow is examined, and it does
    not prove the numbers.
  }];
}

#endif // MP_PASSES_STEP_PASSES_TD
