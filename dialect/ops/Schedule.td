//===- Schedule.td - learning-rate schedules ---------------*- tablegen -*-===//
#ifndef MP_OPS_SCHEDULE_TD
#define MP_OPS_SCHEDULE_TD

include "dialect/Fields.td"
include "dialect/MpBase.td"

/// Lengths count applied steps. `methods` contains "withLength" if the length may be that of the run.
class Mp_ScheduleAttr<string name, string mnemonic, dag fields, list<string> methods = []>
    : Mp_FieldsAttr<name # "Schedule", mnemonic, fields,
                    [DeclareAttrInterfaceMethods<ScheduleAttrInterface, methods>]>;

def Mp_ConstantScheduleAttr : Mp_Attr<"ConstantSchedule", "constant",
    [DeclareAttrInterfaceMethods<ScheduleAttrInterface, ["isConstant"]>]> {
  let summary = "constant learning rate";
  let description = [{
    Example: `#mp.constant`
  }];
  let parameters = (ins);
}

def Mp_LinearScheduleAttr : Mp_ScheduleAttr<"Linear", "linear", (ins Mp_NotNegative<"1">:$from, Mp_NotNegative<"0">:$to,
    Mp_RunLength:$steps), ["withLength"]> {
  let summary = "learning-rate factor that changes linearly from one value to another";
  let description = [{
    The factor is from + (to - from) min(t, steps) / steps at step t, counted from zero. This is
    `torch.optim.lr_scheduler.LinearLR` with start_factor `from` (1) and end_factor `to` (0). The default of
    `steps` is the length of the run.

    Example: `#mp.linear<to = 0.0>`
  }];
}

def Mp_StepScheduleAttr : Mp_ScheduleAttr<"Step", "step", (ins Mp_Length<"kRequired">:$step_size,
    Mp_NotNegative<"0.1">:$gamma)> {
  let summary = "learning-rate factor that falls every few steps";
  let description = [{
    The factor is gamma^floor(t / step_size). This is `torch.optim.lr_scheduler.StepLR`, with gamma = 0.1.

    Example: `#mp.step<step_size = 1000, gamma = 0.5>`
  }];
}

def Mp_ExponentialScheduleAttr : Mp_ScheduleAttr<"Exponential", "exponential",
    (ins Mp_NotNegative<"kRequired">:$gamma)> {
  let summary = "learning-rate factor that falls by the same share in every step";
  let description = [{
    The factor is gamma^t. This is `torch.optim.lr_scheduler.ExponentialLR`.

    Example: `#mp.exponential<gamma = 0.999>`
  }];
}

def Mp_CosineScheduleAttr : Mp_ScheduleAttr<"Cosine", "cosine", (ins Mp_NotNegative<"0">:$to, Mp_RunLength:$steps),
    ["withLength"]> {
  let summary = "learning-rate factor that falls along half a cosine wave";
  let description = [{
    The factor is to + (1 - to) (1 + cos(pi t / steps)) / 2. This is
    `torch.optim.lr_scheduler.CosineAnnealingLR` with T_max = `steps` and eta_min = `to` (0) times the
    learning rate. As in PyTorch, it rises again after `steps`. The default of `steps` is the length of the
    run.

    Example: `#mp.cosine<to = 0.1, steps = 1000>`
  }];
}

def Mp_PolynomialScheduleAttr : Mp_ScheduleAttr<"Polynomial", "polynomial", (ins Mp_NotNegative<"1">:$power,
    Mp_RunLength:$steps), ["withLength"]> {
  let summary = "learning-rate factor that falls to zero as a power of the remaining steps";
  let description = [{
    The factor is (1 - min(t, steps) / steps)^power. This is `torch.optim.lr_scheduler.PolynomialLR` with
    total_iters = `steps`. The default of `power` is 1, and the default of `steps` is the length of the run.

    Example: `#mp.polynomial<power = 2, steps = 1000>`
  }];
}

def Mp_InverseSqrtScheduleAttr : Mp_ScheduleAttr<"InverseSqrt", "inverse_sqrt",
    (ins Mp_Length<"10000">:$timescale)> {
  let summary = "learning-rate factor that falls with the square root of the steps";
  let description = [{
    The factor is sqrt(timescale / (t + timescale)), which is one at the first step. The default of
    `timescale` is 10000. After a warm-up of `timescale` steps, this is the schedule of the Transformer
    (Vaswani et al., arXiv 1706.03762, section 5.3).

    Example: `#mp.inverse_sqrt<timescale = 4000>`
  }];
}

def Mp_WarmupScheduleAttr : Mp_Attr<"WarmupSchedule", "warmup",
    [DeclareAttrInterfaceMethods<ScheduleAttrInterface, ["withLength"]>]> {
  let parameters = (ins "int64_t":$steps, "::mp::Number":$from, "::mp::ScheduleAttrInterface":$then);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let summary = "learning-rate factor that rises linearly to one, followed by another schedule";
  let description = [{
    The factor is from + (1 - from) t / steps in the first `steps` steps. After them it is that of `then`,
    which counts from there and has the rest of the run as its length. The default of `from` is 0, and the
    default of `then` is the constant schedule.

    Example: `#mp.warmup<steps = 100, then = #mp.cosine<to = 0.1>>`
  }];
}

def Mp_ScheduleOp : Mp_ElementwiseOp<"schedule"> {
  let typeRule = "";
  let summary = "learning-rate factor of a schedule, computed in f64";
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
