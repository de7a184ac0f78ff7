//===- Passes.td - casts by policy -------------------------*- tablegen -*-===//
#ifndef MP_PASSES_AUTOCAST_PASSES_TD
#define MP_PASSES_AUTOCAST_PASSES_TD

include "passes/PassBase.td"

def Autocast : Mp_Pass<"mp-autocast", "::mlir::ModuleOp"> {
  let summary = "insert casts by a policy of allowed and denied ops";
  let description = [{
    With `mode=eager`, the pass decides op by op, as PyTorch's autocast does. An op that the policy allows
    gets its eligible operands in the low type, an op that it denies gets them in f32, and any other op
    follows its category in the policy. With `mode=propagate`, the pass colours the whole graph, as
    TensorFlow's grappler does: the forward graph alone or together with its backward graph. The ops between
    two allowed ops run low, unless a denied op comes before them. The default of `mode` is the mode of the
    policy's system. An op's own `{mp.autocast = "f32"}` or `"low"` overrides any policy.

    A constant may be infinite or zero in the low type. An op that would follow its neighbours then stays in
    f32, and a remark and `explain` name the constant. If the op has to be cast, this is an error.
    `mp.autocast` regions have their own type and policy, and each is replaced by its ops. A value is cast to
    a type once. A function is also cast once, and then has the attribute `mp.precision`.

    Options override the recipe. Without a recipe and without `dtype`, nothing is cast. With `tf32`, values
    stay f32, and ops that the policy allows may multiply in tf32. Results of the function have the types that
    autocast gives them, as in PyTorch. With `keep-results` they are cast to the types that the function
    declares, as for evaluation and for `mp-run run`.

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
    Option<"policy", "policy", "std::string", "\"\"",
           "a preset (torch), a file (mine.json), an mp.policy (@mine), or jmp:p=f32,c=f16,o=f32">,
    Option<"mode", "mode", "std::string", "\"\"", "eager: op by op; propagate: by colouring the graph">,
    Option<"explain", "explain", "std::string", "\"\"",
           "file for the cast decision of each op and its reason, as JSON">,
    Option<"record", "record", "bool", "false", "also store these decisions on the module, as `mp.casts`">,
    Option<"keepResults", "keep-results", "bool", "false", "cast results to the types that the function declares">,
    ListOption<"allow", "allow", "std::string", "ops to run in the low type whatever the policy says">,
    ListOption<"deny", "deny", "std::string", "ops to run in f32 whatever the policy says">,
  ];
}

def PlaceCasts : Mp_Pass<"mp-place-casts", "::mlir::ModuleOp"> {
  let summary = "move and merge casts without changing any bit";
  let description = [{
    Autocast decides which op runs in which type. The place of a cast is free as long as no bit of a result
    changes:

    - An op that copies elements (reshape, slice, concat, gather, ...) can run on either side of a cast. Casts
      to a narrower type move up and casts to a wider type move down if this makes them no more and no larger,
      and any cast moves to where it has fewer elements. The casts of what a concat joins count as one.
    - An op computes in f32 and rounds its result once. If its operands are cast from a 16-bit type and its
      result is cast back to that type, it is replaced by the op in that type: "16 bits outside, f32 inside".
    - A cast of a value that was widened is replaced by a cast of the original value.
    - A value is cast to a type once.

    The pass runs after mp-autodiff. Before it, moving a cast would round a gradient at another place. A cast
    that rounds is never removed. mp-master-weights keeps a parameter's 16-bit copy, so the cast of a
    parameter counts as free.

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
