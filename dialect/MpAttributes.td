//===- MpAttributes.td - attributes ------------------------*- tablegen -*-===//
#ifndef MP_ATTRIBUTES_TD
#define MP_ATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"
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
// Facts
//===----------------------------------------------------------------------===//

def Mp_NumericClass : Mp_Enum<"NumericClass", "what kind of arithmetic an op is", [
  I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"contraction", 1>, I32EnumAttrCase<"arithmetic", 2>,
  I32EnumAttrCase<"activation", 3>, I32EnumAttrCase<"function", 4>, I32EnumAttrCase<"reduction", 5>,
  I32EnumAttrCase<"normalization", 6>, I32EnumAttrCase<"loss", 7>, I32EnumAttrCase<"movement", 8>,
  I32EnumAttrCase<"random", 9>,
]>;

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

def Mp_VariableKind : Mp_Enum<"StateKind", "kind of a variable, which determines the steps that write it", [
  I32EnumAttrCase<"parameter", 0>, // trained
  I32EnumAttrCase<"buffer", 1>,    // state that no gradient reaches
  I32EnumAttrCase<"slot", 2>,      // optimizer state, written only by applied steps
  I32EnumAttrCase<"scaler", 3>,    // loss scaler state, written by every step
  I32EnumAttrCase<"attempt", 4>,   // counts of step attempts, written by every step
  I32EnumAttrCase<"derived", 5>,   // computed from other variables, never saved
  I32EnumAttrCase<"window", 6>,    // what micro-batches gather until they are applied, never saved
]>;
def Mp_VariableKindAttr : EnumAttr<Mp_Dialect, Mp_VariableKind, "kind">;

def Mp_VariableRole : Mp_Enum<"StateRole", "what a variable is for, within its kind", [
  I32EnumAttrCase<"slot", 0>,     // an optimizer's state for one parameter
  I32EnumAttrCase<"average", 1>,  // the moving average of a parameter
  I32EnumAttrCase<"count", 2>,    // the number of steps that were applied or attempted
  I32EnumAttrCase<"scale", 3>,    // the loss scale
  I32EnumAttrCase<"tracker", 4>,  // a count by which a loss scaler decides
  I32EnumAttrCase<"history", 5>,  // the largest magnitudes of a tensor in earlier steps
  I32EnumAttrCase<"position", 6>, // the entry of histories that the step writes
]>;

def Mp_RoleAttr : Mp_Attr<"Role", "role"> {
  let summary = "what a variable is for, within its kind";
  let description = [{
    The passes that add variables set the role. Checkpoints, reports and the runtime identify a variable by its
    role, never by its name. A slot and an average name their parameter. A slot also has a name of its own.

    Example: `#mp.role<slot of @fc1.weight named "exp_avg">`, `#mp.role<average of @fc1.weight>`,
    `#mp.role<count>`
  }];
  let parameters = (ins EnumParameter<Mp_VariableRole>:$role,
    OptionalParameter<"::mlir::FlatSymbolRefAttr">:$parameter, OptionalParameter<"::mlir::StringAttr">:$slot);
  let assemblyFormat = "`<` $role (`of` $parameter^)? (`named` $slot^)? `>`";
}

def Mp_InitFormula : Mp_Enum<"InitFormula", "initialiser of a variable", [
  I32EnumAttrCase<"zeros", 0>, I32EnumAttrCase<"ones", 1>,
  I32EnumAttrCase<"constant", 2>, I32EnumAttrCase<"uniform", 3>,
  I32EnumAttrCase<"normal", 4>, I32EnumAttrCase<"kaiming_uniform", 5>,
  I32EnumAttrCase<"kaiming_normal", 6>, I32EnumAttrCase<"xavier_uniform", 7>,
  I32EnumAttrCase<"xavier_normal", 8>, I32EnumAttrCase<"seed", 9>,
]>;

def Mp_InitAttr : Mp_Attr<"Init", "init"> {
  let summary = "how a variable gets its first value";
  let description = [{
    The formulas are those of `torch.nn.init`, with its argument names and defaults:

    | formula | arguments | distribution |
    |---|---|---|
    | `zeros`, `ones`, `constant` | `value` | one value, also `inf` or `-inf` |
    | `uniform` | `a` = 0, `b` = 1 | uniform in [a, b) |
    | `normal` | `mean` = 0, `std` = 1 | normal |
    | `kaiming_uniform`, `kaiming_normal` | `a` = sqrt(5) | gain sqrt(2 / (1 + a^2)), by fan-in |
    | `xavier_uniform`, `xavier_normal` | `gain` = 1 | by fan-in + fan-out |
    | `seed` | | none; the value is the run's seed, from which random ops make their key |

    The default of `a` is the one that `torch.nn.Linear` passes, not the default of the function itself. The
    fan-in is derived from the shape. `fan_in` sets it if the shape does not show it. `uniform` with `fan_in`
    draws within 1/sqrt(fan_in) of zero, as `torch.nn.Linear` does for its bias.

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
  let description = [{
    An optimizer attribute has the arguments, the state and the update of an optimizer. Its parameters include
    `lr` and `maximize`.
  }];
  let methods = [
    InterfaceMethod<"The base learning rate.", "double", "getLearningRate", (ins),
      [{ return $_attr.getLr(); }]>,
    InterfaceMethod<"Whether the optimizer maximises. `buildUpdate` then gets negated gradients.", "bool",
      "isMaximizing", (ins), [{ return $_attr.getMaximize(); }]>,
    InterfaceMethod<"The per-parameter state that the update needs, under the names that PyTorch uses.",
      "::llvm::SmallVector<::mp::SlotSpec>", "getSlots">,
    InterfaceMethod<[{
        Builds the update of one parameter in f32. `learningRate` and `step` have rank 0, and
        `step` (i64) counts from one. Returns the new parameter, followed by the new slots.
      }], "::llvm::SmallVector<::mlir::Value>", "buildUpdate",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::Value":$parameter,
           "::mlir::Value":$gradient, "::mlir::ValueRange":$slots,
           "::mlir::Value":$learningRate, "::mlir::Value":$step)>,
    InterfaceMethod<[{
        Returns the names of measures of a parameter and its slots. The largest values of these
        measures bound the result of an update, so the update need not be computed to know that
        its result fits a smaller type. The first measure is that of the parameter itself. The
        list is empty if no bound is known.
      }], "::llvm::SmallVector<::std::string>", "getMeasures", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
        Builds the measures of every element. They are f32 and not negative. The first is the
        absolute value of the parameter.
      }], "::llvm::SmallVector<::mlir::Value>", "buildMeasures",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::Value":$parameter,
           "::mlir::ValueRange":$slots), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
        Builds upper bounds (tensor<f32>) on the measures after an update from those before
        it, for any gradient whose norm, itself computed in f32, is `gradientNorm`. If the norm is
        finite, the bounds hold for the update as it is computed, including its rounding. A bound
        that is not finite carries no information.
      }], "::llvm::SmallVector<::mlir::Value>", "buildBounds",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$bounds,
           "::mlir::Value":$gradientNorm, "::mlir::Value":$learningRate,
           "::mlir::Value":$step), [{}], [{ return {}; }]>,
  ];
}

def ScheduleAttrInterface : AttrInterface<"ScheduleAttrInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    A schedule attribute defines how the learning rate changes with the count of applied steps.
  }];
  let methods = [
    InterfaceMethod<"Whether the factor is always one.", "bool", "isConstant", (ins),
      [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Returns the schedule with a length. If the schedule has no length of its own, it gets
        `totalSteps`, the length of the run (0: not known). Reports an error if neither is known.
      }], "::llvm::FailureOr<::mlir::Attribute>", "withLength",
      (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError, "int64_t":$totalSteps),
      [{}], [{ return ::mlir::Attribute($_attr); }]>,
    InterfaceMethod<[{
        Builds the factor (f64) from the number of steps applied before this one (i64), with
        ops of `arith` and `math`. The length must be known.
      }], "::mlir::Value", "buildFactor",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::Value":$applied)>,
  ];
}

/// An attribute that implements an interface. `what` describes it in diagnostics.
class Mp_InterfaceAttr<string interface, string what>
    : Attr<CPred<"::llvm::isa<::mp::" # interface # ">($_self)">, what> {
  let storageType = "::mp::" # interface;
  let returnType = storageType;
  let convertFromStorage = "$_self";
}
def Mp_Optimizer : Mp_InterfaceAttr<"OptimizerAttrInterface", "an optimizer, such as #mp.adamw<lr = 1.0e-3>">;
def Mp_Schedule : Mp_InterfaceAttr<"ScheduleAttrInterface", "a schedule, such as #mp.cosine<steps = 1000>">;

def Mp_AutocastAttr : Mp_Attr<"Autocast", "autocast"> {
  let summary = "low type and policy of a recipe's casts";
  let description = [{
    Example: `#mp.autocast<dtype = f16, policy = "torch">`
  }];
  let parameters = (ins "::mlir::FloatType":$dtype,
                        DefaultValuedParameter<"::mlir::StringAttr",
                                               "::mlir::StringAttr::get($_ctxt, \"torch\")">:$policy);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Mp_StorageAttr : Mp_Attr<"Storage", "storage"> {
  let summary = "8-bit types of a contraction's operands, such as #mp.storage<forward = f8E4M3FN, backward = f8E5M2>";
  let description = [{
    `forward` is the type of what the forward pass reads, and `backward` is the type of the gradients that
    arrive. Each tensor has its own scale: the largest number of the type, divided by the largest magnitude of
    the tensor in the last `amax_history` steps and by 2^`margin`. `mp-autocast` attaches the attribute to ops
    as `mp.storage`, and `mp-quantize` carries it out.

    Example: `#mp.storage<forward = f8E4M3FN, backward = f8E5M2, amax_history = 16>`
  }];
  let parameters = (ins "::mlir::FloatType":$forward, "::mlir::FloatType":$backward,
                        DefaultValuedParameter<"int64_t", "16">:$amax_history,
                        DefaultValuedParameter<"int64_t", "0">:$margin);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Mp_DataFormat : Mp_Enum<"DataFormat", "format of a data file", [
  I32EnumAttrCase<"idx", 0>, I32EnumAttrCase<"npy", 1>, I32EnumAttrCase<"safetensors", 2>,
  I32EnumAttrCase<"records", 3>, // samples of one size, one after another, without a header
  I32EnumAttrCase<"images", 4>,  // a folder of pictures, in a folder for each class
  I32EnumAttrCase<"classes", 5>, // the classes of these pictures
  I32EnumAttrCase<"tokens", 6>,  // windows of a text's tokens
]>;

def Mp_RecordAttr : Mp_Attr<"Record", "record"> {
  let summary = "the record that a sample is a part of, such as #mp.record<bytes = 3073, offset = 1>";
  let description = [{
    A file of records has no header. Each record has `bytes` bytes, and the sample lies in it from byte `offset` on.

    Example: `#mp.record<bytes = 3073, offset = 1>`
  }];
  let parameters = (ins "int64_t":$bytes, DefaultValuedParameter<"int64_t", "0">:$offset);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Mp_WindowAttr : Mp_Attr<"Window", "window"> {
  let summary = "windows of a file of tokens, such as #mp.window<tokens = 65, stride = 64, offset = 1>";
  let description = [{
    Window i is the `tokens` tokens from token i * `stride` on, for each i for which the file has all of them, and its
    sample lies in it from token `offset` on. With the same windows, a column with `offset = 1` has the tokens that
    follow those of one with `offset = 0`.

    With `streams` S, the windows are S texts of equal length, one after the other, and what is left at the end is not
    used. Sample i is window i / S of text i mod S, so that each row of a batch of S samples goes on in the next batch,
    as a network needs that keeps its states from batch to batch. A stride of the length of a sample leaves no gap.

    Example: `#mp.window<tokens = 65, stride = 64, offset = 1>`, `#mp.window<tokens = 36, stride = 35, streams = 20>`
  }];
  let parameters = (ins "int64_t":$tokens, "int64_t":$stride, DefaultValuedParameter<"int64_t", "0">:$offset,
                        DefaultValuedParameter<"int64_t", "1">:$streams);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Mp_ColumnAttr : Mp_Attr<"Column", "column"> {
  let summary = "location of one argument's values in a data folder";
  let description = [{
    `pattern` is a shell glob. `format` is one of:

    - `idx`, `npy`, `safetensors`: one file, which holds the samples along its first dimension; `key` names the
      tensor in a safetensors file.
    - `records`: one file or several, in the order of their names, of records without a header. `record` says how
      large a record is and where the sample begins in it, and `shape` is that of a sample.
    - `images`: a folder that has a folder for each class, with PNG and JPEG files in it. A picture is scaled so that
      it just covers the height and width of `shape`, and its middle is taken. `classes` is the same folder; a sample
      is the number of the class of a picture, in the order of the names of the classes.
    - `tokens`: one file of tokens of the type of the element, ui8, ui16 or ui32, little-endian, without a header. A
      sample is the `shape[length]` tokens of a `window`.

    `dims_in_files` says in which order the file holds the dimensions of the argument, as for `mp.variable`: images
    with channels first become an argument with channels last when a batch is copied. The samples stay the first
    dimension.

    Example: `#mp.column<"train-images*" as idx, ui8>`,
    `#mp.column<"data_batch_*.bin" as records, ui8 shape[3, 32, 32] record <bytes = 3073, offset = 1>
    dims_in_files[0, 3, 1, 2]>`, `#mp.column<"train" as images, ui8 shape[224, 224, 3]>`,
    `#mp.column<"train.bin" as tokens, ui16 shape[64] window <tokens = 65, stride = 64>>`
  }];
  let parameters = (ins "::mlir::StringAttr":$pattern, EnumParameter<Mp_DataFormat>:$format,
                        "::mlir::Type":$element, OptionalParameter<"::mlir::StringAttr">:$key,
                        OptionalArrayRefParameter<"int64_t">:$dims_in_files,
                        OptionalArrayRefParameter<"int64_t">:$shape, OptionalParameter<"::mp::RecordAttr">:$record,
                        OptionalParameter<"::mp::WindowAttr">:$window);
  let assemblyFormat = [{
    `<` $pattern `as` $format `,` $element (`shape` `[` $shape^ `]`)? (`record` $record^)?
    (`window` $window^)? (`dims_in_files` `[` $dims_in_files^ `]`)? (`,` `key` `=` $key^)? `>`
  }];
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Mp_RowsAttr : Mp_Attr<"Rows", "rows", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "layout of a tensor that is a part of another, such as #mp.rows<count = 32, stride = 1024>";
  let description = [{
    The elements of the tensor, in order, are `count` rows of as many elements each. A row is contiguous in memory and
    begins `stride` elements after the one before it. The first element's place, and `stride`, are multiples of
    `aligned` elements, which is a power of two.

    Example: `#mp.rows<count = 32, stride = 1024, aligned = 16>`
  }];
  let parameters = (ins "int64_t":$count, "int64_t":$stride, DefaultValuedParameter<"int64_t", "1">:$aligned);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Returns the layout of a type, or null for elements without gaps.
    static RowsAttr of(::mlir::Type type) {
      auto tensor = ::llvm::dyn_cast<::mlir::RankedTensorType>(type);
      return tensor ? ::llvm::dyn_cast_or_null<RowsAttr>(tensor.getEncoding()) : RowsAttr();
    }
    /// Returns the number of elements from the first of `elements` to the last, with the gaps.
    int64_t extent(int64_t elements) const {
      return (getCount() - 1) * getStride() + elements / getCount();
    }
  }];
}

#endif // MP_ATTRIBUTES_TD
