//===- MpAttributes.td - attributes -----------------------*- tablegen -*-===//
#ifndef MP_ATTRIBUTES_TD
#define MP_ATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "dialect/MpDialect.td"

class Mp_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Mp_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class Mp_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mp";
  let genSpecializedAttr = 0;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

def Mp_VariableKind : Mp_Enum<"StateKind", "what a variable is to a step", [
  I32EnumAttrCase<"parameter", 0>, // trained
  I32EnumAttrCase<"buffer", 1>,    // state that no gradient reaches
  I32EnumAttrCase<"slot", 2>,      // optimizer state, written only by applied steps
  I32EnumAttrCase<"scaler", 3>,    // loss scaler state, written by every step
  I32EnumAttrCase<"attempt", 4>,   // counts of tries, written by every step
  I32EnumAttrCase<"derived", 5>,   // computed from other variables, never saved
  I32EnumAttrCase<"window", 6>,    // what micro-batches gather until they are applied, never saved
]>;
def Mp_VariableKindAttr : EnumAttr<Mp_Dialect, Mp_VariableKind, "kind">;

def Mp_InitFormula : Mp_Enum<"InitFormula", "initialiser of a variable", [
  I32EnumAttrCase<"zeros", 0>, I32EnumAttrCase<"ones", 1>,
  I32EnumAttrCase<"constant", 2>, I32EnumAttrCase<"uniform", 3>,
  I32EnumAttrCase<"normal", 4>, I32EnumAttrCase<"kaiming_uniform", 5>,
  I32EnumAttrCase<"kaiming_normal", 6>, I32EnumAttrCase<"xavier_uniform", 7>,
  I32EnumAttrCase<"xavier_normal", 8>,
]>;

def Mp_InitAttr : Mp_Attr<"Init", "init"> {
  let summary = "how a variable gets its first value";
  let description = [{
    The formulas of `torch.nn.init`, with its argument names and defaults:

    | formula | arguments | distribution |
    |---|---|---|
    | `zeros`, `ones`, `constant` | `value` | one value |
    | `uniform` | `a` = 0, `b` = 1 | uniform in [a, b) |
    | `normal` | `mean` = 0, `std` = 1 | normal |
    | `kaiming_uniform`, `kaiming_normal` | `a` = sqrt(5) | gain sqrt(2 / (1 + a^2)), by fan-in |
    | `xavier_uniform`, `xavier_normal` | `gain` = 1 | by fan-in + fan-out |

    The default of `a` is what `torch.nn.Linear` passes, not the bare function's. The
    fan-in is read off the shape; `fan_in` states it where the shape does not show it.
    `uniform` with `fan_in` draws within 1/sqrt(fan_in) of zero, as `torch.nn.Linear`
    does for its bias.

    Example: `#mp.init<kaiming_uniform>`, `#mp.init<normal, std = 2.0e-2>`,
    `#mp.init<uniform, fan_in = 784>`
  }];
  let parameters = (ins EnumParameter<Mp_InitFormula>:$formula, "::mlir::DictionaryAttr":$arguments);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// The recipe
//===----------------------------------------------------------------------===//

def OptimizerAttrInterface : AttrInterface<"OptimizerAttrInterface"> {
  let cppNamespace = "::mp";
  let description = [{An optimizer: its arguments, its state, its update.}];
  let methods = [
    InterfaceMethod<"The base learning rate.", "double", "getLearningRate">,
    InterfaceMethod<"Per-parameter state that the update needs, by the names PyTorch gives it.",
      "::llvm::SmallVector<::mp::SlotSpec>", "getSlots">,
    InterfaceMethod<[{
        Builds the update of one parameter in f32. `learningRate` and `step` are rank 0,
        `step` (i64) counts from one. Returns the new parameter, then the new slots.
      }], "::llvm::SmallVector<::mlir::Value>", "buildUpdate",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::Value":$parameter,
           "::mlir::Value":$gradient, "::mlir::ValueRange":$slots,
           "::mlir::Value":$learningRate, "::mlir::Value":$step)>,
    InterfaceMethod<[{
        Names of the measures of a parameter and its slots whose largest values bound what
        an update can do, so that it need not be computed to know that it fits a smaller
        type. The first measures the parameter itself. Empty: no bound is known.
      }], "::llvm::SmallVector<::std::string>", "getMeasures", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
        Builds the measures of every element, in f32 and not negative: the first is the
        parameter's absolute value.
      }], "::llvm::SmallVector<::mlir::Value>", "buildMeasures",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::Value":$parameter,
           "::mlir::ValueRange":$slots), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
        Builds upper bounds (tensor<f32>) on the measures after an update from those before
        it, for any gradient whose norm, itself computed in f32, is `gradientNorm`. They hold for
        the update as it is computed, roundings included, where the norm is finite; a
        bound that is not finite says nothing.
      }], "::llvm::SmallVector<::mlir::Value>", "buildBounds",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$bounds,
           "::mlir::Value":$gradientNorm, "::mlir::Value":$learningRate,
           "::mlir::Value":$step), [{}], [{ return {}; }]>,
  ];
}

def ScheduleAttrInterface : AttrInterface<"ScheduleAttrInterface"> {
  let cppNamespace = "::mp";
  let description = [{How the learning rate changes with the count of applied steps.}];
  let methods = [
    InterfaceMethod<[{
        Builds the factor (tensor<f32>) from the number of steps applied before this
        one (tensor<i64>); null for a constant one. `totalSteps` is the run's length,
        0 where it is not known: then a schedule that needs it reports an error.
      }], "::llvm::FailureOr<::mlir::Value>", "buildFactor",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::Value":$applied,
           "int64_t":$totalSteps)>,
  ];
}

def Mp_AutocastAttr : Mp_Attr<"Autocast", "autocast"> {
  let summary = "which casts a recipe wants";
  let description = [{Example: `#mp.autocast<dtype = f16, policy = "torch">`}];
  let parameters = (ins "::mlir::FloatType":$dtype,
                        DefaultValuedParameter<"::mlir::StringAttr", "::mlir::StringAttr::get($_ctxt, \"torch\")">:$policy);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Mp_SgdAttr : Mp_Attr<"Sgd", "sgd", [DeclareAttrInterfaceMethods<OptimizerAttrInterface,
    ["getMeasures", "buildMeasures", "buildBounds"]>]> {
  let summary = "stochastic gradient descent, with torch.optim.SGD's arguments";
  let description = [{Example: `#mp.sgd<lr = 1.0e-1, momentum = 9.0e-1, nesterov = true>`}];
  let parameters = (ins "::mp::Number":$lr,
                        "::mp::Number":$momentum,
                        "::mp::Number":$dampening,
                        "::mp::Number":$weight_decay,
                        "bool":$nesterov);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Mp_AdamWAttr : Mp_Attr<"AdamW", "adamw", [DeclareAttrInterfaceMethods<OptimizerAttrInterface,
    ["getMeasures", "buildMeasures", "buildBounds"]>]> {
  let summary = "AdamW, with torch.optim.AdamW's arguments";
  let description = [{Example: `#mp.adamw<lr = 1.0e-3, weight_decay = 1.0e-2>`}];
  let parameters = (ins "::mp::Number":$lr,
                        "::mp::Number":$beta1,
                        "::mp::Number":$beta2,
                        "::mp::Number":$eps,
                        "::mp::Number":$weight_decay);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Mp_ConstantScheduleAttr : Mp_Attr<"ConstantSchedule", "constant", [DeclareAttrInterfaceMethods<ScheduleAttrInterface>]> {
  let summary = "the learning rate stays";
  let description = [{Example: `#mp.constant`}];
  let parameters = (ins);
}

def Mp_LinearScheduleAttr : Mp_Attr<"LinearSchedule", "linear", [DeclareAttrInterfaceMethods<ScheduleAttrInterface>]> {
  let summary = "the learning rate's factor goes linearly from one value to another";
  let description = [{
    `torch.optim.lr_scheduler.LinearLR` with start_factor `from` and end_factor `to`
    over `steps` applied steps (0: as many as the run has).

    Example: `#mp.linear<to = 0.0>`
  }];
  let parameters = (ins "::mp::Number":$from,
                        "::mp::Number":$to,
                        "int64_t":$steps);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Mp_DataFormat : Mp_Enum<"DataFormat", "format of a data file", [
  I32EnumAttrCase<"idx", 0>, I32EnumAttrCase<"npy", 1>, I32EnumAttrCase<"safetensors", 2>,
]>;

def Mp_ColumnAttr : Mp_Attr<"Column", "column"> {
  let summary = "where the values of one argument lie in a data folder";
  let description = [{
    `pattern` is a shell glob, `format` one of idx, npy, safetensors (`key` names the
    tensor in it).

    Example: `#mp.column<"train-images*" as idx, ui8>`
  }];
  let parameters = (ins "::mlir::StringAttr":$pattern, EnumParameter<Mp_DataFormat>:$format,
                        "::mlir::Type":$element, OptionalParameter<"::mlir::StringAttr">:$key);
  let assemblyFormat = "`<` $pattern `as` $format `,` $element (`,` `key` `=` $key^)? `>`";
  let genVerifyDecl = 1;
}

#endif // MP_ATTRIBUTES_TD
