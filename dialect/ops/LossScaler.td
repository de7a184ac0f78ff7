//===- LossScaler.td - state machine of the loss scale -----*- tablegen -*-===//
#ifndef MP_OPS_LOSSSCALER_TD
#define MP_OPS_LOSSSCALER_TD

include "dialect/MpBase.td"

/// A counter of the state machine. Assembly omits its type.
def Mp_Tracker : Type<Mp_ScalarOf<I32>.predicate, "0D tensor of 32-bit signless integer values">,
                 BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI32Type())">;

/// The fields that both ops have: ScalerFields. Without an attribute, mp.scaler takes the field of its preset, and
/// mp.update_scale that of `torch`.
defvar Mp_ScalerFields = (ins OptionalAttr<F64Attr>:$growth_factor, OptionalAttr<F64Attr>:$backoff_factor,
  OptionalAttr<I64Attr>:$growth_interval, OptionalAttr<I64Attr>:$growth_delay, OptionalAttr<F64Attr>:$min_scale,
  OptionalAttr<F64Attr>:$max_scale, OptionalAttr<I64Attr>:$hysteresis, OptionalAttr<StrAttr>:$hysteresis_refill,
  OptionalAttr<F64Attr>:$tolerance, OptionalAttr<StrAttr>:$on_min);

def Mp_ScalerOp : Mp_Op<"scaler", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "loss scaler";
  let description = [{
    `preset` is the scaler of another system: `torch`, `apex`, `apex-hysteresis`, `keras`, `keras2`,
    `deepspeed`, `deepspeed-consecutive`, `megatron`, `fairseq` or `jmp`. It can also be `static:1024`, a
    scale that never changes; `static:auto`, a static scale that a calibration run chooses; or `none`. The
    preset gives all the fields, and fields that are written replace its own. `mp.update_scale` defines their
    meaning, and docs/loss-scaling.md has the table. A `growth_factor` of 1, with which the scale never grows,
    is accepted where the preset's system accepts it: `torch` and `megatron` do not.

    No preset lets the scale become 0 or infinite. Where the original does, `min_scale = 0.0` or
    `max_scale = 0x7FF0000000000000 : f64` (infinity) restores its behaviour.

    Example: `mp.scaler @scaler {preset = "torch", growth_interval = 100}`
  }];
  let arguments = !con((ins SymbolNameAttr:$sym_name, DefaultValuedAttr<StrAttr, "\"torch\"">:$preset,
    OptionalAttr<F64Attr>:$init_scale), Mp_ScalerFields, (ins DefaultValuedAttr<BoolAttr, "true">:$enabled));
  let assemblyFormat = "$sym_name attr-dict";
  let hasVerifier = 1;
  let extraDeclarations = [{
    /// The fields of the preset, unless an attribute overrides them.
    ::mp::ScalerFields getFields();
  }];
}

def Mp_UpdateScaleOp : Mp_ElementwiseOp<"update_scale"> {
  let typeRule = "";
  let summary = "loss scale and counters after a step";
  let description = [{
    The op is one state machine for the scalers of all systems. Without attributes it is
    `torch.amp.GradScaler.update` with a floor: the least normal f32, because smaller scales have no inverse.
    The defaults are `growth_factor` = 2, `backoff_factor` = 0.5, `growth_interval` = 2000, the greatest f32 as
    `max_scale`, `hysteresis` = 1, `hysteresis_refill` = "growth", `on_min` = "hold", and 0 for the others.

    A clean step increments the growth tracker. When the tracker is `growth_interval` or more, it is reset to
    0, and the scale is multiplied by `growth_factor`, which is 1 or more. The scale becomes at most
    `max_scale`. It does not change if the product is not finite (unless `max_scale` is infinite).

    An overflow resets the tracker to minus `growth_delay` and multiplies the scale by `backoff_factor`. The
    scale becomes at least `min_scale`. The first `hysteresis` - 1 overflows do not change the scale. They are
    counted again after a growth, or after every clean step if `hysteresis_refill` is "clean_step" rather than
    "growth". With a `tolerance` above 0, the scale does not change either if less than this share of the
    steps since its last change have overflowed.

    `on_min` defines what happens on an overflow at which the scale cannot become lower. With "hold", nothing
    happens. "raise" sets `exhausted` if the scale is already `min_scale` or less. "raise_before" sets
    `exhausted` if the scale would become `min_scale` or less, and does not change the scale. A run ends when
    `exhausted` is set.

    Products are computed in f64 and rounded to f32. `counters` are the hysteresis tracker if `hysteresis` is
    more than 1, followed, with a `tolerance`, by the steps and the overflows since the scale last changed.

    Example:
    ```mlir
    %s, %t, %e = mp.update_scale %scale, %tracker, %found_inf {growth_interval = 100}
        : tensor<f32>, tensor<i32>, tensor<i1>
    ```
  }];
  let notDifferentiable = "it is the end of a step";
  let arguments = !con((ins Mp_ScalarOf<F32>:$scale, Mp_ScalarOf<I32>:$growth_tracker, Mp_ScalarOf<I1>:$found_inf,
    Variadic<Mp_Tracker>:$counters), Mp_ScalerFields);
  let results = (outs Mp_ScalarOf<F32>:$new_scale, Mp_ScalarOf<I32>:$new_growth_tracker,
    Variadic<Mp_Tracker>:$new_counters, Mp_ScalarOf<I1>:$exhausted);
  let builders = [OpBuilder<(ins "::mlir::Value":$scale, "::mlir::Value":$growthTracker, "::mlir::Value":$foundInf,
    "::mlir::ValueRange":$counters, "const ::mp::ScalerFields &":$fields)>];
  let assemblyFormat = [{
    $scale `,` $growth_tracker `,` $found_inf (`counters` `(` $counters^ `)`)? attr-dict
    `:` type($scale) `,` type($growth_tracker) `,` type($found_inf)
  }];
  let hasVerifier = 1;
}

#endif // MP_OPS_LOSSSCALER_TD
