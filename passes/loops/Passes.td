//===- Passes.td - loops over time steps -------------------*- tablegen -*-===//
#ifndef MP_PASSES_LOOPS_PASSES_TD
#define MP_PASSES_LOOPS_PASSES_TD

include "passes/PassBase.td"

def UnrollScans : Mp_Pass<"mp-unroll-scans", "::mlir::ModuleOp"> {
  let summary = "replace loops over time steps by their time steps";
  let description = [{
    Of the scans that an `mp-outline-loops` after it could make a loop of, none is replaced, unless it asks for
    that with `unroll`, or `all` is set. Others are: those without a time step, those around which there are four
    scans, and those with batch norms, checkpoints, or gradients of their own. Random ops must know their time step
    (`mp-number-streams`).

    Every pass after it sees ops without loops around them, so what it decides holds for each time step. Slices
    of the values that a scan runs over are taken where they are used, and what it stacks is joined after its
    last time step. Inner scans are unrolled before those around them.

    An op of a time step has the location `callsite(... at "time step 3"(...))`, which diagnoses print as "in time
    step 3", counted from 0 along the dimension; ops of rounds (`unroll`) have no number. A scan that would give a
    function more than 100,000 ops is an error.

    ```mlir
    // before                                                     // after
    %s, %r = mp.scan carried(%a = %x : tensor<4xf32>)             %0 = mp.relu %x : tensor<4xf32>
        length(2) -> (tensor<4xf32>, tensor<2x4xf32>) {             %s = mp.relu %0 : tensor<4xf32>
      %b = mp.relu %a : tensor<4xf32>                             %1 = mp.reshape %0 : tensor<4xf32> to tensor<1x4xf32>
      mp.yield %b, %b : tensor<4xf32>, tensor<4xf32>              %2 = mp.reshape %s : tensor<4xf32> to tensor<1x4xf32>
    }                                                             %r = mp.concat %1, %2 dim(0) : tensor<1x4xf32>, tensor<1x4xf32>
    ```
  }];
  let options = [
    Option<"all", "all", "bool", "false", "replace every scan">,
  ];
}

def OutlineLoops : Mp_Pass<"mp-outline-loops", "::mlir::ModuleOp"> {
  let summary = "make a function of the body of a scan";
  let description = [{
    The region of an `mp.scan` becomes a private function, and the scan an `mp.loop` that calls it, so that the
    passes that follow decide for one time step what holds for all of them. The function of an outer scan has the
    loops of inner ones. What a time step computes from values
    of the outside alone is computed once, before the loop, and variables are read there. A loop runs over the
    first dimension: other ones are transposed, and so are the rows that a product makes wider, before it. Shapes
    must be known (`mp-specialize`). The scans that are left are errors: `mp-unroll-scans` replaces those that
    cannot be loops.

    ```mlir
    // before                                                 // after
    %s = mp.scan carried(%a = %x : tensor<4xf32>)             func.func private @f.loop0(%a: tensor<4xf32>)
        length(9) -> tensor<4xf32> {                              -> tensor<4xf32> {
      %b = mp.relu %a : tensor<4xf32>                           %b = mp.relu %a : tensor<4xf32>
      mp.yield %b : tensor<4xf32>                               return %b : tensor<4xf32>
    }                                                         }
                                                              %s = mp.loop @f.loop0 carried(%x : tensor<4xf32>)
                                                                  rounds(9) -> tensor<4xf32>
    ```
  }];
}

def HoistLoops : Mp_Pass<"mp-hoist-loops", "::mlir::ModuleOp"> {
  let summary = "compute outside of loops what is the same in all rounds";
  let description = [{
    Ops that read nothing but `invariant` values move before their loop: a weight is cast once, and not in each
    round. Casts move across the border of a loop where less is then stored: a tensor that a loop runs over or
    leaves is kept in the narrower of the types that it has inside and outside, and what one round carries to the
    next in the narrower of those that it has in both, beside the wider one if something else reads that. Of
    results that are the same, one is left, and none that nothing reads. Values do not change.

    ```mlir
    // before                                                 // after
    func.func private @body(%w: tensor<4xf32>, ...) {         func.func private @body(%w: tensor<4xf16>, ...) {
      %h = mp.cast %w : tensor<4xf32> to tensor<4xf16>          ...
      ...                                                     }
    }                                                         %h = mp.cast %v : tensor<4xf32> to tensor<4xf16>
    %s = mp.loop @body invariant(%v : tensor<4xf32>) ...      %s = mp.loop @body invariant(%h : tensor<4xf16>) ...
    ```
  }];
  let options = [
    Option<"movesCasts", "casts", "bool", "true",
      "move casts across the border too; values of which gradients are asked for must stay before mp-autodiff">,
  ];
}

def InlineRounds : Mp_Pass<"mp-inline-rounds", "::mlir::ModuleOp"> {
  let summary = "replace loops of one round by their ops";
  let description = [{
    Until it runs, a loop of one round is decided about as one of several is: what mp-decode makes for one token and for
    several differs in its sizes alone.

    ```mlir
    // before                                              // after
    func.func private @body(%a: tensor<4xf32>, ...) {      %x0 = mp.reshape %x : tensor<1x4xf32> to tensor<4xf32>
      %b = mp.relu %a : tensor<4xf32>                      %s = mp.relu %x0 : tensor<4xf32>
      return %b : tensor<4xf32>
    }
    %s = mp.loop @body ... over(%x : tensor<1x4xf32>)
        rounds(1) -> tensor<4xf32>
    ```
  }];
}

#endif // MP_PASSES_LOOPS_PASSES_TD
