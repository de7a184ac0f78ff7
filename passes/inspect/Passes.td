//===- Passes.td - looking at a graph ----------------------*- tablegen -*-===//
#ifndef MP_PASSES_INSPECT_PASSES_TD
#define MP_PASSES_INSPECT_PASSES_TD

include "passes/PassBase.td"

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

def Instrument : Mp_Pass<"mp-instrument", "::mlir::func::FuncOp"> {
  let summary = "return how large values are";
  let description = [{
    For when something is not finite: which op is it? A function returns records of its values
    beside what it returned, numbers by the name `record.N.FACT`; `mp.records` says what record
    N is of: the op and its place, whether it is of the forward graph, of backward or of the
    update, and the records of what it was computed from. Values have the bits of their types,
    fused or not, so looking changes none.

    With `mode=step`, behind mp-fuse, each float that a kernel stores has one fact, the
    largest `mp.magnitude`: a reduction in the kernel itself, or in one that reads the value
    where an anchor made it. A step has hardly more to do, and so each may have it.

    With `mode=all`, before mp-fuse, every input and every op that yields floats has how many
    elements are not finite, the least and the largest of those that are, and, where rows are
    records of a batch, the first row that is not. Nothing is said of constants, and what an
    infinite one makes is `meant`, as in a mask. Looking is in kernels of one
    dimension, so that no sum goes in another order on the CPU; on a CUDA device one that
    would be in the kernel of a matrix product may.

    With `replay` what the function returned is dropped, and it no longer writes variables,
    those of a window of micro-batches excepted: a step can be looked at once more.

    ```mlir
    // before                                  // after, mode=all
    %y = mp.exp %x : tensor<4xf16>             %y = mp.exp %x : tensor<4xf16>
    return %y                                  %f = mp.is_finite %y : tensor<4xf16>
                                               %n = how many are not
                                               ...
                                               return %y, %n, ...  // "record.1.nonfinite"
    ```
  }];
  let options = [
    Option<"mode", "mode", "std::string", "\"all\"", "step: what kernels store; all: every op">,
    Option<"replay", "replay", "bool", "false", "return records alone, and write no state">,
  ];
}

#endif // MP_PASSES_INSPECT_PASSES_TD
