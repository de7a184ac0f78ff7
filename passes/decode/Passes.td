//===- Passes.td - a model that writes texts ---------------*- tablegen -*-===//
#ifndef MP_PASSES_DECODE_PASSES_TD
#define MP_PASSES_DECODE_PASSES_TD

include "passes/PassBase.td"

def Decode : Mp_Pass<"mp-decode", "::mlir::ModuleOp"> {
  let summary = "compute a few tokens of a text, and keep what later ones look at";
  let description = [{
    The function of a language model, from a text of T tokens to results for each of them, becomes one for `tokens` of
    them: those from the argument `position` on, which is added. Everything but attention must compute a token from
    that token alone. Causal attention looks at earlier tokens, so that the keys and values of all tokens are kept in
    variables, which each call changes in its own rows. What depends on positions alone, such as a table of them or
    the angles of a rotary embedding, is taken at those of the tokens.

    A loop over the tokens (mp.scan) gets as many time steps as there are tokens, and begins with what it carried after
    the token before, which variables keep; at position 0 it begins as written. Such a state is all that is left of
    earlier tokens unless there is attention, or anything else that depends on positions: a text may then have any
    length, and `mp.context` is 0. No token may be given twice to a loop, and none that is not there; from position 0
    on, a text may begin anew. A loop from the last token on is an error, as is one whose last state is used. The pass
    takes loops as they are before mp-unroll-scans; with `only-loops` it leaves functions without them alone, so that
    the pipeline runs it there and again when casts are decided.

    The pass runs after mp-keep-results, with static shapes. The text is the argument of integers of [batch, T]; of
    several, it is the one that the function shifts by a token (`mp.pad` of all tokens but the last), or that `input`
    names. A shifted text is given as it is behind the shift: token p is the one that stood at p - 1, and at position
    0 the constant is taken, whatever is given there. The argument is marked `mp.text`.

    Tokens are given in their order from position 0 on. Without loops, a call may compute tokens again, and may be given
    more tokens than there are: what it keeps of those is not looked at until they are given. An op that mixes
    tokens otherwise is an error, as is attention that is not causal.

    ```mlir
    // before                                     // after mp-decode{tokens=1}
    func.func @logits(%x: tensor<1x64xui16>)      mp.variable window @decode.key.0 : tensor<1x64x4x32xf32> = ...
      %k = mp.reshape ... to tensor<1x64x4x32xf32>  func.func @logits(%x: tensor<1x1xui16>, %position: tensor<i32>)
      %y, %l = mp.scaled_dot_product_attention      %k = mp.reshape ... to tensor<1x1x4x32xf32>
          %q, %k, %v causal                         %k1 = mp.select %isHere, %k, %before
      return %logits : tensor<1x64x256xf32>         mp.write @decode.key.0, %k1
                                                    %y, %l = mp.scaled_dot_product_attention
                                                        %q, %k1, %v1 mask(%isEarlier) lengths(%n)
                                                    return %logits : tensor<1x1x256xf32>
    ```
  }];
  let options = [
    Option<"tokens", "tokens", "int64_t", "1", "how many tokens a call computes">,
    Option<"input", "input", "std::string", "", "mp.name of the argument that holds the tokens">,
    Option<"onlyLoops", "only-loops", "bool", "false", "leave functions without a loop over the tokens alone">,
  ];
}

def SplitSource : Mp_Pass<"mp-split-source", "::mlir::ModuleOp"> {
  let summary = "compute once what a text is written from";
  let description = [{
    A function that mp-decode has changed may have arguments beside its text: another text, such as the one that a
    translation is written from, and its length. What is computed of them alone, an encoder, is the same for each
    token. With `part=source` the function computes these values and writes those that the text needs to variables; it
    has no results. With `part=text` it reads them from there, and has no arguments but the text and its position.

    Both are made of one function, behind the casts, so that all values have the types of training. A function that
    also has loops over its text takes one token at a time. What is computed
    of variables and constants alone stays where it is needed. A function without other arguments stays as it is, and
    has no part `source`.

    ```mlir
    // before                                             // after mp-split-source{part=text}
    func.func @logits(%text, %source, %lengths, %pos)     mp.variable window @decode.source.0 : ...
      %keys = mp.linear %source, %w                       func.func @logits(%text, %pos)
      %y, %l = mp.scaled_dot_product_attention              %keys = mp.read @decode.source.0
          %q, %keys, %values lengths(%lengths)              %lengths = mp.read @decode.source.2
      return %logits                                        %y, %l = mp.scaled_dot_product_attention
                                                                %q, %keys, %values lengths(%lengths)
                                                            return %logits
    ```
  }];
  let options = [
    Option<"part", "part", "std::string", "\"text\"", "text, or source">,
  ];
}

#endif // MP_PASSES_DECODE_PASSES_TD
