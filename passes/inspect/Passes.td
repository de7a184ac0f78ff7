//===- Passes.td - examining a graph -----------------------*- tablegen -*-===//
#ifndef MP_PASSES_INSPECT_PASSES_TD
#define MP_PASSES_INSPECT_PASSES_TD

include "passes/PassBase.td"

def NumberOps : Mp_Pass<"mp-number-ops", "::mlir::func::FuncOp"> {
  let summary = "give each op that yields a value a number";
  let description = [{
    Ops are numbered from one, in the order of the text. Passes that change types keep the numbers, so
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
    The pass makes the reference that a function is compared with. Arguments, variables, constants and random
    numbers keep their types and values and are cast to f64, so everything that follows is computed in f64. A
    cast between floats no longer rounds. A value that is written to a variable is cast to the variable's
    type. An op that does not accept f64 keeps its types, with a warning that names it. The number of an op
    moves to the cast of its result.

    ```mlir
    // before                             // after
                                          %0 = mp.cast %x : tensor<4xf16> to tensor<4xf64>
    %y = mp.exp %x : tensor<4xf16>        %y = mp.exp %0 : tensor<4xf64>
    ```

    With `to=f32`, everything that has fewer bits than f32 is computed in f32, and the rest does not change.
    Each value that autocast made f16 still exists, with a gradient of its own that neither underflows nor
    overflows.
  }];
  let options = [Option<"to", "to", "std::string", "\"f64\"", "f64 or f32">];
}

def Lint : Mp_Pass<"mp-lint", "::mlir::ModuleOp"> {
  let summary = "report numbers that will go wrong in training";
  let description = [{
    The pass changes nothing. It examines the module as `mp-autocast` would cast it, by its recipes or by the
    options, and warns at the lines of the text:

    - `f16-without-scaler`: gradients pass through f16, and the recipe names no scaler;
    - `no-master-weight`: a trained parameter of 16 bits or less has no f32 master;
    - `lost-constant`: a constant becomes zero, infinite or subnormal;
    - `lost-epsilon`: a constant that is added in 16 bits is too small next to one;
    - `sum-overflow`: the worst case of a sum or product in f16 is beyond 65504;
    - `exp-overflow`: an exponential or a power has operands without a bound;
    - `softmax-without-max`: the same, and the result is summed;
    - `cut-gradient`: no gradient reaches a trained parameter.

    Bounds are derived from types of integers, from constants and from what ops compute. Without `batch`, sums
    over `?` have no bound. Recipes are checked together with their functions, and numbers in all functions.

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
    Option<"dtype", "dtype", "std::string", "\"\"", "low type of mp-autocast, instead of the recipe's">,
    Option<"policy", "policy", "std::string", "\"\"", "policy of mp-autocast, instead of the recipe's">,
    Option<"batch", "batch", "int64_t", "0", "rows in a batch; 0: not known">,
    Option<"masterWeights", "master-weights", "bool", "true", "whether training runs mp-master-weights">,
    Option<"magnitude", "magnitude", "double", "1.0", "assumed bound of numbers of unknown size in sums">,
    ListOption<"disable", "disable", "std::string", "checks to disable">,
  ];
}

def Instrument : Mp_Pass<"mp-instrument", "::mlir::func::FuncOp"> {
  let summary = "return the magnitudes of values";
  let description = [{
    The pass helps to find the op whose result is not finite. A function returns records of its values in
    addition to its results. A record is a list of numbers with names of the form `record.N.FACT`.
    `mp.records` describes record N: the op and its place, whether it belongs to the forward graph, the
    backward graph or the update, and the records of the values that it was computed from. Values are rounded
    to their types whether they are fused or not, so recording does not change them.

    With `mode=step`, after mp-fuse, each float tensor that a kernel stores has one fact, the largest
    `mp.magnitude`. This is a reduction in the kernel itself, or in a kernel that reads the value if an anchor
    computed it. It adds little work, so it can be part of every step.

    With `mode=all`, before mp-fuse, every input and every op that yields floats has several facts: how many
    elements are not finite, the least and the largest of the finite ones and, if rows are samples of a batch,
    the first row that is not finite. Constants are not recorded, and what an infinite constant produces, as
    in a mask, is marked `meant`. The facts are computed in kernels of one dimension, so on the CPU no sum
    changes its order. On a CUDA device, a sum that would be in the kernel of a matrix product may change its
    order.

    With `replay`, the results of the function are dropped, and it writes no variables except those of a
    window of micro-batches. A step can then be examined once more.

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
    Option<"replay", "replay", "bool", "false", "return only records, and write no state">,
  ];
}

def ViewGraph : Mp_Pass<"mp-view-graph", "::mlir::ModuleOp"> {
  let summary = "draw a graph, alone or before and after passes";
  let description = [{
    The pass changes nothing. It draws ops as nodes and values as edges, coloured by element type. Variables,
    constants and casts have shapes of their own. The ops of a kernel, of an `mp.autocast` region, and the
    forward pass, the backward pass and the update of a step are grouped. With `passes`, these run on a copy
    of the module, and the graphs before and after them are drawn side by side, with marks on what is new,
    changed or gone. An op is identified by its name and its source location.

    `file` is text for Graphviz (`.dot`, `.gv`), or a page of HTML (`.html`) that needs no other file and no
    network. `-` is standard output. Without a file, the text goes to standard error, as that of upstream's
    `view-op-graph` does. If the module is also written to standard output, add `-o /dev/null`.

    ```mlir
    // before and after: the pass changes nothing
    %h = mp.relu %x : tensor<4xf16>
    // mp-view-graph writes
    // digraph "module" {
    //   ...
    //   n1 [label="relu\n4xf16", shape=box, fillcolor="#e69f00", ...];
    //   n0 -> n1 [label="4xf16"];
    // }
    ```
  }];
  let options = [
    Option<"file", "file", "std::string", "\"\"", "where to write; -: standard output; none: standard error">,
    Option<"format", "format", "std::string", "\"\"", "dot or html, if the file's extension does not tell">,
    Option<"function", "function", "std::string", "\"\"", "draw only this function, or that of this recipe">,
    Option<"passes", "passes", "std::string", "\"\"", "draw the graph before and after these passes">,
    Option<"stages", "stages", "bool", "false", "draw the stages of lowered kernels">,
    Option<"title", "title", "std::string", "\"\"", "title, instead of the module's name">,
  ];
}

#endif // MP_PASSES_INSPECT_PASSES_TD
