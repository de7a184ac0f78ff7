//===- Inspection.td - passes that look at a graph --------*- tablegen -*-===//
//
// They number, widen and return values, flag them, or say what will go wrong.
// Passes.td includes this behind its class Mp_Pass.
//
//===----------------------------------------------------------------------===//
#ifndef MP_INSPECTION_TD
#define MP_INSPECTION_TD

def NumberOps : Mp_Pass<"mp-number-ops", "::mlir::func::FuncOp"> {
  let summary = "give each op that yields a value a number";
  let description = [{
    From one, in the order of the text. Passes that change types keep the numbers, so that
    variants of a function (under two policies, in f64) can be compared op by op.

    ```mlir
    // before                             // after
    %y = mp.exp %x : tensor<4xf32>        %y = mp.exp %x {mp.number = 1 : i64} : tensor<4xf32>
    ```
  }];
  let options = [Option<"only", "only", "std::string", "\"\"",
                        "number only ops that yield this type, such as f16">];
}

def WidenFloats : Mp_Pass<"mp-widen-floats", "::mlir::func::FuncOp"> {
  let summary = "compute in f64, or in f32";
  let description = [{
    Makes the reference that a function is compared with: arguments, variables, constants and
    random numbers keep their types and values and are cast to f64, and so what follows is
    computed in f64. A cast between floats rounds no more. What is written to a variable is
    cast to its type. An op that takes no f64 keeps its types, with a warning that names it.
    The number of an op moves to the cast of its result.

    ```mlir
    // before                             // after
                                          %0 = mp.cast %x : tensor<4xf16> to tensor<4xf64>
    %y = mp.exp %x : tensor<4xf16>        %y = mp.exp %0 : tensor<4xf64>
    ```

    With `to=f32` what has fewer bits than f32 is computed in f32, and the rest stays: each
    value that autocast made f16 is there still, with a gradient of its own that neither
    underflows nor overflows.
  }];
  let options = [Option<"to", "to", "std::string", "\"f64\"", "f64 or f32">];
}

def ExposeValues : Mp_Pass<"mp-expose-values", "::mlir::ModuleOp"> {
  let summary = "return the floats that numbered ops yield, and gradients";
  let description = [{
    What a function returned is replaced by every float result of every op that
    `mp-number-ops` has numbered, so that they can be looked at: `mp.name` is `value.N.R` for
    result R of op N. A value has the bits of its type, fused or not, so looking changes
    none.

    With `gradients`, the function of a recipe returns, too, the gradients of its losses with
    respect to the same values, where they depend on trained parameters:
    `gradient.L.N.R` for loss L. Backward begins with `scale`. The recipe is gone. Without
    `values` the gradients are all, and `mp.origin` says what made their values, and where;
    functions that no recipe trains stay as they are.

    ```mlir
    // before                                             // after
    %y = mp.exp %x {mp.number = 1 : i64}                  %y = mp.exp %x {mp.number = 1 : i64}
    %l = mp.sum %y dims[0] {mp.number = 2 : i64}          %l = mp.sum %y dims[0] {mp.number = 2 : i64}
    return %l                                             return %y, %l
    ```
  }];
  let options = [
    Option<"values", "values", "bool", "true", "the values themselves">,
    Option<"gradients", "gradients", "bool", "false", "gradients of a recipe's losses too">,
    Option<"scale", "scale", "double", "1.0", "what backward begins with">,
  ];
}

def Lint : Mp_Pass<"mp-lint", "::mlir::ModuleOp"> {
  let summary = "say which numbers go wrong in training";
  let description = [{
    Changes nothing. Looks at the module as `mp-autocast` would cast it by its recipes, or
    by the options, and warns, at the lines of the text:

    - `f16-without-scaler`: gradients pass f16, and the recipe names no scaler;
    - `no-master-weight`: a trained parameter of 16 bits or less without f32 master;
    - `lost-constant`: a constant that becomes zero, infinite or subnormal;
    - `lost-epsilon`: a constant that is added in 16 bits and too small beside one;
    - `sum-overflow`: a sum or product in f16 whose worst case is beyond 65504;
    - `exp-overflow`: an exponential or a power of numbers that nothing bounds;
    - `softmax-without-max`: the same, and summed;
    - `cut-gradient`: a trained parameter that no gradient reaches.

    Bounds follow from types of integers, constants and what ops compute. Without `batch`
    sums over `?` have none. Recipes are checked with their functions, numbers in all.

    ```mlir
    // model.mlir
    %e = mp.exp %x : tensor<8x4xf32>
    %s = mp.sum %e dims[1] keepdim : tensor<8x4xf32>
    %p = mp.div %e, %s : tensor<8x4xf32>, tensor<8x1xf32>
    // model.mlir:2:6: warning: 'mp.exp' of numbers up to 3.40282e+38 overflows f32, ...
    ```
  }];
  let dependentDialects = ["::mp::MpDialect", "::mlir::math::MathDialect", "::mlir::arith::ArithDialect"];
  let options = [
    Option<"dtype", "dtype", "std::string", "\"\"", "type that mp-autocast casts to, instead of the recipe's">,
    Option<"policy", "policy", "std::string", "\"\"", "policy that it casts by, instead of the recipe's">,
    Option<"batch", "batch", "int64_t", "0", "rows in a batch; 0: not known">,
    Option<"masterWeights", "master-weights", "bool", "true", "whether training runs mp-master-weights">,
    Option<"magnitude", "magnitude", "double", "1.0", "numbers of unknown size are taken to be at most this in sums">,
    ListOption<"disable", "disable", "std::string", "checks that are not made">,
  ];
}

def FlagOverflow : Mp_Pass<"mp-flag-overflow", "::mlir::func::FuncOp"> {
  let summary = "return, for every op, whether a value stops being finite there";
  let description = [{
    For when steps are skipped: which op is it? What a function returned is replaced by a flag
    for every input and every op that yields floats: whether its result is not finite although
    all of its operands are. Constants are not asked: an infinity in a mask is meant. `mp.name`
    of a flag says the op, its place, and whether it is of the backward graph. The function no
    longer writes variables, those of a window of micro-batches excepted. Values have the bits
    of their types, fused or not, so looking changes none.

    ```mlir
    // before                                  // after
    %y = mp.exp %x : tensor<4xf16>             %y = mp.exp %x : tensor<4xf16>
    mp.write @last, %y                         %a = any element of %x is not finite
    return %y                                  %b = any element of %y is not, and not %a
                                               return %a, %b    // "0: input 'x'", "1: mp.exp at ..."
    ```
  }];
}

#endif // MP_INSPECTION_TD
