//===- Passes.td - from gradients to a training step -------*- tablegen -*-===//
#ifndef MP_PASSES_STEP_PASSES_TD
#define MP_PASSES_STEP_PASSES_TD

include "passes/PassBase.td"

def Inline : Mp_Pass<"mp-inline", "::mlir::ModuleOp"> {
  let summary = "replace calls by the ops that they call";
  let description = [{
    The first pass of every pipeline: whatever follows sees functions without calls. A network
    in a function of its own is written once and used by loss and prediction; called twice, it
    has tied weights. Private functions that nothing calls any more are gone.

    An inlined op has the location `callsite(... at ...)`: the line of the op first, then that
    of the call. A random op with a written stream keeps it in the first copy that a function
    gets, and draws from another one in every further copy. Recursion, calls of functions
    without a body and calls through values are errors, and so are calls that would give a
    function more than 100,000 ops.

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

def Specialize : Mp_Pass<"mp-specialize", "::mlir::ModuleOp"> {
  let summary = "bind the batch dimension";
  let description = [{
    Replaces the leading `?` of every tensor by a number; shapes are static afterwards.

    ```mlir
    // before                                  // after mp-specialize{batch=8}
    mp.relu %x : tensor<?x4xf32>               mp.relu %x : tensor<8x4xf32>
    ```
  }];
  let options = [Option<"batch", "batch", "int64_t", "0", "rows in a batch">];
}

def SetMode : Mp_Pass<"mp-set-mode", "::mlir::ModuleOp"> {
  let summary = "say whether functions train or evaluate";
  let description = [{
    Sets `mp.mode` on every function. Autodiff refuses one that evaluates: there ops that
    evaluate otherwise than they train are replaced (dropout by its operand, batch norm by
    one that uses the running statistics), and nothing is written, for good.

    ```mlir
    // before                                            // after mp-set-mode{mode=eval}
    func.func @loss(%x: tensor<?x8xf32>) {               func.func @loss(%x: tensor<?x8xf32>) attributes {mp.mode = "eval"} {
      %y, %mean, %rstd, %m, %v = mp.batch_norm %x, ...     %y = mp.batch_norm_inference %x, ...
      mp.write @bn.running_mean, %m : tensor<8xf32>
    ```
  }];
  let options = [Option<"mode", "mode", "std::string", "\"train\"", "train or eval">];
}

def NumberStreams : Mp_Pass<"mp-number-streams", "::mlir::ModuleOp"> {
  let summary = "give each random op a stream of its own";
  let description = [{
    In the order of the text, a random op without a stream gets the next number that no
    other op of the module has. Two ops of one stream in a function are an error, but where
    backward has been built, which draws again what forward drew.

    ```mlir
    // before                             // after
    %y = mp.dropout %x : tensor<4xf32>    %y = mp.dropout %x stream(0) : tensor<4xf32>
    %r = mp.uniform : tensor<4xf32>       %r = mp.uniform stream(1) : tensor<4xf32>
    ```
  }];
}

def RandomKeys : Mp_Pass<"mp-random-keys", "::mlir::ModuleOp"> {
  let summary = "say where random ops take seed and attempt from";
  let description = [{
    The seed is the variable `@random.seed`, which starts as the run's and stays. The attempt
    of a step is its count of tries, so that a step after a skipped one draws other
    numbers, and 0 in any other function.

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
    From a calibration, the JSON that `mp-run calibrate` writes: the gradients of the results
    of an op are multiplied by the largest power of two at which they, and those of its f16
    operands, stay below 65504 with `headroom` factors of two to spare, times the first scale
    of the recipe's loss scaler. Where the powers of an op and of what it reads differ, an
    `mp.scale_gradient` stands in between. What a parameter and a result of the function get
    is not scaled: scales are undone at the leaves, in f32 behind the cast of a weight. Powers
    of two are exact, so nothing changes but what underflows and overflows; one power
    everywhere is a loss scale. A loss scaler has to be there, for the check: `static:1` does.

    The ops are those that `mp-number-ops{only=f16}` has numbered. Gradients inside the
    function (`mp.gradient`) are refused.

    ```mlir
    // before                                        // after
    %c = mp.cast %w : tensor<4xf32> to tensor<4xf16> %s = mp.scale_gradient %w by -13
                                                     %c = mp.cast %s : tensor<4xf32> to tensor<4xf16>
    %y = mp.mul %x, %c : tensor<4xf16>               %y = mp.mul %x, %c : tensor<4xf16>
    ```
  }];
  let options = [
    Option<"calibration", "calibration", "std::string", "\"\"", "file of the calibration">,
    Option<"scaler", "scaler", "std::string", "\"\"", "as mp-loss-scale's">,
    Option<"headroom", "headroom", "int64_t", "-1", "factors of two that stay free (-1: the calibration's)">,
  ];
}

def LossScale : Mp_Pass<"mp-loss-scale", "::mlir::ModuleOp"> {
  let summary = "scale the loss, unscale and check the gradients, adapt the scale";
  let description = [{
    Loss scaling as ops: backward starts from the scale, gradients are unscaled in f32 and
    checked, and `mp.update_scale` says what the scale and its counters become, variables that
    every step writes. Its fields are those of the recipe's `mp.scaler`, a system's by its
    preset. A `static:N` scale is a constant; its gradients are checked all the same. Of
    several losses each begins from the one scale. The step returns `scale`, and `skipped`, which
    is set where any gradient is not finite and is what the scaler's update heeds; with an
    `on_min` that ends a run also `scale_exhausted`. Where the recipe has several optimizers
    (see `mp.minimize`), it returns `skipped.<name>` of each, set where a gradient of that
    optimizer is not finite; the name is `optimizer_name`, or the optimizer's place, from 0.

    A recipe whose autocast is f16 and that names no scaler gets a warning and is not scaled,
    so that small gradients become zero. The option `none`, or a scaler with the preset `none`
    or `enabled = false`, says that this is meant.

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
  let options = [Option<"scaler", "scaler", "std::string", "\"\"",
                        "a preset of mp.scaler instead of the recipe's scaler, or none; else:PRESET where the recipe has none">];
}

def Quantize : Mp_Pass<"mp-quantize", "::mlir::ModuleOp"> {
  let summary = "keep operands of contractions in 8 bits, each with a scale of its own";
  let description = [{
    Does what `mp.storage` says, which `mp-autocast` puts on contractions where a policy such
    as `fp8` keeps their operands in 8 bits: an operand times its scale is rounded to the type
    of forward, the gradient that arrives to that of backward, and products of both are
    divided by the two scales in f32 and rounded to the type that they had. Forward and
    backward multiply the same bits, which are all that is kept of a value for backward.

    Scales are delayed, as in Transformer Engine (Micikevicius et al., "FP8 Formats for Deep
    Learning", 2022): the type's largest number over the tensor's largest magnitude, its
    "amax", in the last `amax_history` steps, over 2^`margin`; one before anything is known.
    The histories are variables, `<parameter>.amax` and `<parameter>.input.amax` of what forward
    multiplies, `<parameter>.output_gradient.amax`: written by a step, and not by one that is
    skipped; read by evaluation. Those of gradients are of gradients without the loss scale,
    so that another scale makes no difference. Finite numbers saturate; what is not finite stays so. A
    function of no recipe has no history, and takes each scale from the tensor itself.

    Runs behind mp-autodiff and mp-loss-scale, so that gradients pass as if nothing were
    rounded and are scaled as they will be.

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
  let summary = "split a step into micro-batches that are gathered, and their update";
  let description = [{
    `@step.accumulate` takes a micro-batch and adds its gradients, unscaled and in f32, each
    times the rows of the micro-batch, to `window` variables; `@step` takes nothing and
    applies what was gathered: gradients are the sums over the count of all rows, which for
    losses that are means over rows is the gradient of all rows at once. Passes that follow
    find gradients and flag in `@step` as without micro-batches.

    - A flag gathers the checks of all micro-batches, and is applied once: a scaler's
      update and all other writes of tries move to `@step`, so that the scale is constant
      within a window.
    - A variable that the forward graph writes (statistics) has a window variable in which
      every micro-batch finds what the one before left; `@step` commits it or not.
    - Scalar results become their means by rows, in f32; other results are dropped.
    - The first micro-batch overwrites: `@step` sets back nothing but `@step.micro`, the
      index of the micro-batch.

    `steps` overrides the recipe's `accumulate`; one means no micro-batches.

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
    Option<"steps", "steps", "int64_t", "0", "micro-batches a step instead of the recipe's; 1: none">,
    Option<"rows", "rows", "int64_t", "0", "rows of a micro-batch, its weight in means; 0: one">,
  ];
}

def MasterWeights : Mp_Pass<"mp-master-weights", "::mlir::ModuleOp"> {
  let summary = "keep f32 masters and low-precision working copies";
  let description = [{
    A cast of an f32 parameter becomes a `derived` variable, which the optimizer writes
    together with its master; a 16-bit parameter gets an f32 master under its name, unless
    its group in the recipe rounds stochastically. The function `@derive` computes all derived variables.

    ```mlir
    // before                                          // after
    %w = mp.read @w : tensor<4xf32>                    mp.variable derived @w.f16 : tensor<4xf16> from @w
    %h = mp.cast %w : tensor<4xf32> to tensor<4xf16>   %h = mp.read @w.f16 : tensor<4xf16>
    ```
  }];
}

def ClipGradients : Mp_Pass<"mp-clip-gradients", "::mlir::ModuleOp"> {
  let summary = "bound gradients by their norm or element by element";
  let description = [{
    What `clip_norm` and `clip_value` of a recipe or its groups ask for, as
    `torch.nn.utils.clip_grad_norm_` and `clip_grad_value_`: gradients are multiplied by one
    number so that the 2-norm of all together, or of a group's, is at most that given; or
    every element is brought between minus and plus a value. Gradients are unscaled: the
    pass runs behind mp-loss-scale. The step returns `grad_norm`, that of all gradients as
    they were. The norm of all gradients is infinite or NaN where one optimizer's is, and
    leaves nothing of the others': by it all optimizers skip together. Options override the
    recipe.

    ```mlir
    // before           // after mp-clip-gradients{norm=1}
    return %l, %g       %s = mp.mul %g, %g
                        %t = mp.sum %s dims[0] : tensor<4xf32>
                        %n = mp.sqrt %t : tensor<f32>
                        %f = mp.clip_factor %n {max_norm = 1.0} : tensor<f32>
                        %c = mp.mul %g, %f : tensor<4xf32>, tensor<f32>
                        return %l, %c, %n
    ```
  }];
  let options = [
    Option<"norm", "norm", "double", "0.0", "largest norm of all gradients; inf: clip nothing; 0: what the recipe says">,
    Option<"value", "value", "double", "0.0", "largest element; inf: clip nothing; 0: what the recipe says">,
  ];
}

def Optimizer : Mp_Pass<"mp-optimizer", "::mlir::ModuleOp"> {
  let summary = "expand recipes into update ops, slots and schedules";
  let description = [{
    Each gradient becomes an update of its parameter, with the slots that the optimizer
    keeps and a learning rate computed from the count of applied steps. A write of a
    parameter comes with writes of what is derived from it; a value that a 16-bit copy
    cannot hold skips the step, which bounds in `derived` variables of rank 0 rule out
    without looking in nearly every step. A group's `ema` adds a slot `<parameter>.ema`.
    Of several optimizers each counts the steps that it applied, in `<step>.<name>.applied`, and
    what it writes is guarded by its own flag.
    The step returns `lr` (the first group's) and `grad_norm`; the recipe is gone.

    ```mlir
    // before                // after
    return %l, %g            %p1, %m1, %v1 = mp.adamw %p, %g, %m, %v, %lr, %c1, %c2
                             mp.write @w, %p1 : tensor<4xf32>
                             mp.write @w.exp_avg, %m1 : tensor<4xf32>
                             mp.write @w.exp_avg_sq, %v1 : tensor<4xf32>
                             return %l, %lr, %norm
    ```
  }];
  let options = [Option<"totalSteps", "total-steps", "int64_t", "0",
                        "steps of the run, for schedules that end with it">];
}

def PredicateStep : Mp_Pass<"mp-predicate-step", "::mlir::func::FuncOp"> {
  let summary = "let a skipped step write nothing";
  let description = [{
    In a function that returns `skipped`, guards every write by its negation, but those
    of variables that tries count in (scaler and attempt), and those that are guarded: where a
    step has several optimizers, mp-optimizer has guarded what each writes by its own flag.

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
    Changes nothing, and fails where one of these does not hold. Flags are the results
    `skipped` and, of several optimizers, `skipped.<name>`.

    Writes, in a function that returns a flag:
    - A parameter, slot, buffer or derived variable is written only under the negation of a
      flag: no weight, copy, moment, average, statistic or count changes in a step that its
      flag skips. Scaler, attempt and window variables are written always. No variable is
      written twice.
    - Every check that a written value is computed from sets the flag that the write heeds:
      the flag is the check's, or an `or` with it in it.
    - Buffers heed `skipped`, and so do parameters that no check is in.
    - A write heeds the flag that every slot heeds that its value is computed from, and a
      working copy its master's: what one optimizer keeps moves together.
    - A schedule takes its step from no variable that skipped steps write, and in a scaled step no
      update does: learning rates and bias corrections follow counts of applied steps.

    Gradients and flags:
    - Every check sets `skipped`, and the flag that `mp.update_scale` is given; no
      optimizer's flag is set without `skipped`.
    - All losses begin backward with one scale, by which every check divides.
    - No value in which the loss scale is reaches a variable, or the norm that clips, without
      `mp.unscale_and_check`.

    Micro-batches: `accumulate` writes window variables alone, among them its flags, each
    together with what the micro-batches before left in it. What `apply` reads of them is
    followed into `accumulate`, so that the rules above are about the same checks.

    What a value is computed from ends at a check, behind which is the gradient, and at the
    key of a random op. Not proven: that a copy which may overflow is looked at, and the
    numbers.
  }];
}

#endif // MP_PASSES_STEP_PASSES_TD
