//===- Loop.td - a loop whose rounds are a function --------*- tablegen -*-===//
#ifndef MP_OPS_LOOP_TD
#define MP_OPS_LOOP_TD

include "dialect/MpBase.td"

def Mp_LoopOp : Mp_Op<"loop", [AttrSizedOperandSegments, Pure, AnchorOpInterface, DifferentiableOpInterface,
                              DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls of a function, one after another";
  let description = [{
    `mp-outline-loops` makes this op of an `mp.scan`. The private function `body` computes one round: from the
    `invariant` values, which are the same in all rounds, from the `carried` values, and from element t of each
    of the tensors `over`, in round t. It returns the carried values of the next round, and then what the other
    results hold in their element t. `reverse` begins with the last round. A function reads no variable, so that
    passes treat it like any other function; what it draws depends on the number of the round, over which the loop runs.
    A module that is compiled has scans, and no loop yet.

    Example:
    ```mlir
    func.func private @sum(%scale: tensor<f32>, %s: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %y = mp.mul %x, %scale : tensor<4xf32>, tensor<f32>
      %t = mp.add %s, %y : tensor<4xf32>, tensor<4xf32>
      return %t, %t : tensor<4xf32>, tensor<4xf32>
    }
    func.func @sums(%scale: tensor<f32>, %zero: tensor<4xf32>, %xs: tensor<9x4xf32>) -> tensor<9x4xf32> {
      %last, %sums = mp.loop @sum invariant(%scale : tensor<f32>) carried(%zero : tensor<4xf32>)
          over(%xs : tensor<9x4xf32>) rounds(9) -> tensor<4xf32>, tensor<9x4xf32>
      return %sums : tensor<9x4xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$body, Variadic<Mp_Tensor>:$invariant, Variadic<Mp_Tensor>:$carried,
    Variadic<Mp_Tensor>:$sliced, I64Attr:$rounds, UnitAttr:$reverse);
  let results = (outs Variadic<Mp_Tensor>:$outputs);
  let assemblyFormat = [{
    $body (`invariant` `(` $invariant^ `:` type($invariant) `)`)? (`carried` `(` $carried^ `:` type($carried) `)`)?
    (`over` `(` $sliced^ `:` type($sliced) `)`)? `rounds` `(` $rounds `)` (`reverse` $reverse^)? attr-dict
    (`->` type($outputs)^)?
  }];
  let extraDeclarations = [{
    bool takesEpilogue() { return false; }
    /// A carried value may lie where its first value does.
    bool mayReplace(unsigned operand, unsigned result) {
      return operand == getInvariant().size() + result && result < getCarried().size();
    }
    /// The results that are stacked, one element from each round.
    ::mlir::ResultRange getStacked() { return getOutputs().drop_front(getCarried().size()); }
    static ::llvm::StringRef whyNotDifferentiable() {
      return "it calls a function, which mp-autodiff differentiates in its place";
    }
    ::llvm::SmallVector<::mlir::Value> buildGradients(::mlir::ImplicitLocOpBuilder &, ::mlir::ValueRange) { return {}; }
    /// The type of the values of that type of all rounds.
    static ::mlir::RankedTensorType stackOf(::mlir::RankedTensorType type, int64_t rounds);
    /// The function that computes a round.
    ::mlir::func::FuncOp lookUpBody();
  }];
}

#endif // MP_OPS_LOOP_TD
