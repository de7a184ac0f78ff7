//===- Passes.td - casts by policy -------------------------*- tablegen -*-===//
#ifndef MP_PASSES_AUTOCAST_PASSES_TD
#define MP_PASSES_AUTOCAST_PASSES_TD

include "passes/PassBase.td"

def Autocast : Mp_Pass<"mp-autocast", "::mlir::ModuleOp"> {
  let summary = "insert casts by a policy of allowed and denied ops";
  let description = [{
    With `mode=eager` op by op, as PyTorch's autocast: an op that the policy allows gets
    its eligible operands in the low type, one that it denies in f32, and any other what
    the policy's category says. With `mode=propagate` by colouring the whole graph, forward
    alone or with its backward, as TensorFlow's grappler: ops run low from one that is
    allowed to another, and behind none that is denied. Without `mode` as the policy's
    system does. An op's own `{mp.autocast = "f32"}` or `"low"` goes before any policy.
    A constant that would be infinite or zero in the low type keeps an op in f32 that would follow its
    neighbours, and a remark and `explain` name it; it is an error where the op has to be cast.
    `mp.autocast` regions have a type and a policy of their own; their ops are left in their place.
    A value is cast to a type once, and a function, which then has `mp.precision`, is too. Options override
    the recipe; without recipe and without `dtype` nothing is cast. With `tf32` values stay
    f32, and ops that the policy allows may multiply in tf32. Results of the function have the
    types that autocast leaves them with, as in PyTorch; with `keep-results` they are cast to
    those that the function declares, as where it is evaluated or run.

    ```mlir
    // before                                       // after mp-autocast{dtype=f16}
                                                     %0 = mp.cast %x : tensor<4x8xf32> to tensor<4x8xf16>
                                                     %1 = mp.cast %w : tensor<2x8xf32> to tensor<2x8xf16>
    %y = mp.linear %x, %w                            %y = mp.linear %0, %1
        : tensor<4x8xf32>, tensor<2x8xf32>               : tensor<4x8xf16>, tensor<2x8xf16>
    ```
  }];
  let options = [
    Option<"dtype", "dtype", "std::string", "\"\"", "f16, bf16 or tf32; f32 switches autocast off">,
    Option<"policy", "policy", "std::string", "\"\"", "a preset (torch), a file (mine.json), an mp.policy (@mine), or jmp:p=f32,c=f16,o=f32">,
    Option<"mode", "mode", "std::string", "\"\"", "eager: op by op; propagate: by colouring the graph">,
    Option<"explain", "explain", "std::string", "\"\"", "file for what became of each op and why, as JSON">,
    Option<"record", "record", "bool", "false", "leave the same on the module, as `mp.casts`">,
    Option<"keepResults", "keep-results", "bool", "false", "cast results to the types that the function declares">,
    ListOption<"allow", "allow", "std::string", "ops to run in the low type whatever the policy says">,
    ListOption<"deny", "deny", "std::string", "ops to run in f32 whatever the policy says">,
  ];
}

def PlaceCasts : Mp_Pass<"mp-place-casts", "::mlir::ModuleOp"> {
  let summary = "fewer and smaller casts that give the same bits";
  let description = [{
    Autocast decides what runs in which type; where a cast stands is free as long as no bit of
    a result changes:

    - an op that copies elements (reshape, slice, concat, gather, ...) runs on either side of a
      cast: casts to a narrower type go up and those to a wider one down, where they are no
      more and no larger, and any cast goes where it has fewer elements;
    - an op computes in f32 and rounds its result once: one between casts from a 16-bit type
      and back to it is the op in that type, "16 bits outside, f32 inside";
    - what was cast to a wider type is cast on from before that;
    - a value is cast to a type once.

    It runs behind mp-autodiff: in front of it, another place of a cast would round a
    gradient elsewhere. A cast that rounds is never removed. A parameter's 16-bit copy is kept
    by mp-master-weights, and its cast counts as free.

    ```mlir
    // before                                                    // after
    %0 = mp.cast %x : tensor<4x8xf16> to tensor<4x8xf32>
    %1 = mp.softmax %0 dim(1) : tensor<4x8xf32>                  %1 = mp.softmax %x dim(1) : tensor<4x8xf16>
    %2 = mp.cast %1 : tensor<4x8xf32> to tensor<4x8xf16>
    %3 = mp.cast %y : tensor<4x8xf32> to tensor<4x8xf16>         %2 = mp.slice %y offsets[0, 0] sizes[4, 2] : tensor<4x8xf32>
    %4 = mp.slice %3 offsets[0, 0] sizes[4, 2]                   %3 = mp.cast %2 : tensor<4x2xf32> to tensor<4x2xf16>
        : tensor<4x8xf16>
    ```
  }];
  let options = [Option<"explain", "explain", "std::string", "\"\"",
                        "file for the number and the bytes of the casts, before and after, as JSON">];
}

#endif // MP_PASSES_AUTOCAST_PASSES_TD
