//===- Schedule.td - schedules of the learning rate -------*- tablegen -*-===//
#ifndef MP_OPS_SCHEDULE_TD
#define MP_OPS_SCHEDULE_TD

include "dialect/MpBase.td"

/// Lengths count applied steps; `methods` has "withLength" where the length may be the run's.
class Mp_ScheduleAttr<string name, string mnemonic, dag arguments, list<string> methods = []>
    : Mp_Attr<name # "Schedule", mnemonic, [DeclareAttrInterfaceMethods<ScheduleAttrInterface, methods>]> {
  let parameters = arguments;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Mp_ConstantScheduleAttr : Mp_Attr<"ConstantSchedule", "constant",
    [DeclareAttrInterfaceMethods<ScheduleAttrInterface, ["isConstant"]>]> {
  let summary = "the learning rate stays";
  let description = [{Example: `#mp.constant`}];
  let parameters = (ins);
}

def Mp_LinearScheduleAttr : Mp_ScheduleAttr<"Linear", "linear", (ins "::mp::Number":$from, "::mp::Number":$to,
    "int64_t":$steps), ["withLength"]> {
  let summary = "the learning rate's factor goes linearly from one value to another";
  let description = [{
    from + (to - from) min(t, steps) / steps at step t, counted from zero:
    `torch.optim.lr_scheduler.LinearLR` with start_factor `from` (1) and end_factor `to` (0).
    Without `steps` it takes as many as the run has.

    Example: `#mp.linear<to = 0.0>`
  }];
}

def Mp_StepScheduleAttr : Mp_ScheduleAttr<"Step", "step", (ins "int64_t":$step_size, "::mp::Number":$gamma)> {
  let summary = "the factor falls every few steps";
  let description = [{
    gamma^floor(t / step_size): `torch.optim.lr_scheduler.StepLR`, with gamma = 0.1.

    Example: `#mp.step<step_size = 1000, gamma = 0.5>`
  }];
}

def Mp_ExponentialScheduleAttr : Mp_ScheduleAttr<"Exponential", "exponential", (ins "::mp::Number":$gamma)> {
  let summary = "the factor falls by the same share in every step";
  let description = [{
    gamma^t: `torch.optim.lr_scheduler.ExponentialLR`.

    Example: `#mp.exponential<gamma = 0.999>`
  }];
}

def Mp_CosineScheduleAttr : Mp_ScheduleAttr<"Cosine", "cosine", (ins "::mp::Number":$to, "int64_t":$steps),
    ["withLength"]> {
  let summary = "the factor falls along half a wave";
  let description = [{
    to + (1 - to) (1 + cos(pi t / steps)) / 2: `torch.optim.lr_scheduler.CosineAnnealingLR`
    with T_max = `steps` and eta_min = `to` (0) times the learning rate. As there, it rises
    again behind `steps`. Without `steps` it takes as many as the run has.

    Example: `#mp.cosine<to = 0.1, steps = 1000>`
  }];
}

def Mp_PolynomialScheduleAttr : Mp_ScheduleAttr<"Polynomial", "polynomial", (ins "::mp::Number":$power,
    "int64_t":$steps), ["withLength"]> {
  let summary = "the factor falls to zero as a power of the steps that are left";
  let description = [{
    (1 - min(t, steps) / steps)^power: `torch.optim.lr_scheduler.PolynomialLR` with
    total_iters = `steps`. `power` is 1. Without `steps` it takes as many as the run has.

    Example: `#mp.polynomial<power = 2, steps = 1000>`
  }];
}

def Mp_InverseSqrtScheduleAttr : Mp_ScheduleAttr<"InverseSqrt", "inverse_sqrt", (ins "int64_t":$timescale)> {
  let summary = "the factor falls with the root of the steps";
  let description = [{
    sqrt(timescale / (t + timescale)), from one at the first step on. `timescale` is 10000.
    Behind a warm-up of `timescale` steps this is the schedule of the Transformer (Vaswani et
    al., arXiv 1706.03762, section 5.3).

    Example: `#mp.inverse_sqrt<timescale = 4000>`
  }];
}

def Mp_WarmupScheduleAttr : Mp_ScheduleAttr<"Warmup", "warmup", (ins "int64_t":$steps, "::mp::Number":$from,
    "::mp::ScheduleAttrInterface":$then), ["withLength"]> {
  let summary = "the factor rises linearly to one, and another schedule follows";
  let description = [{
    from + (1 - from) t / steps at the first `steps` steps; then what `then` gives, which
    counts from there, over as many steps as the run has left. `from` is 0, `then` constant.

    Example: `#mp.warmup<steps = 100, then = #mp.cosine<to = 0.1>>`
  }];
}

def Mp_ScheduleOp : Mp_ElementwiseOp<"schedule"> {
  let summary = "the factor of the learning rate, computed in f64";
  let description = [{
    `applied` is the number of steps applied before this one. Skipped steps do not count.

    Example:
    ```mlir
    %applied = mp.constant dense<5> : tensor<i64>
    %f = mp.schedule %applied by #mp.cosine<steps = 1000>
    ```
  }];
  let notDifferentiable = "it is the end of a step";
  let arguments = (ins Mp_Count:$applied, Mp_Schedule:$schedule);
  let results = (outs Mp_ScalarOf<F32>:$result);
  let assemblyFormat = "$applied `by` $schedule attr-dict";
  let hasVerifier = 1;
}

#endif // MP_OPS_SCHEDULE_TD
