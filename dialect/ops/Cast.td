//===- Cast.td - changes of element type ------------------*- tablegen -*-===//
#ifndef MP_OPS_CAST_TD
#define MP_OPS_CAST_TD

include "dialect/MpBase.td"

def Mp_CastOp : Mp_Op<"cast", [Pure, AutocastOpInterface, DifferentiableOpInterface,
                              DeclareOpInterfaceMethods<ScalarOpInterface>]> {
  let summary = "another element type";
  let description = [{
    Rounds to nearest, ties to even, once. What is too large for a float becomes infinity.
    f8E4M3FN has none: beyond 464, half way from its largest number, 448, to the next there
    would be, a value becomes NaN, as infinity does. Nothing saturates. Floats become
    integers towards zero; out of range is undefined. A cast in the IR really rounds: a pair
    of casts folds only where the first one loses nothing.

    Example: `%h = mp.cast %x : tensor<4xf32> to tensor<4xf16>`
  }];
  let arguments = (ins Mp_Tensor:$input);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraDeclarations = [{
    static ::llvm::StringRef getAutocastName(::llvm::StringRef) { return ""; }
    bool isAutocastEligible(unsigned) { return false; }
    ::llvm::LogicalResult retypeResults() { return ::mlir::success(); }
    static ::llvm::StringRef whyNotDifferentiable() { return ""; }
    ::llvm::SmallVector<::mlir::Value> buildGradients(::mlir::ImplicitLocOpBuilder &builder,
                                                      ::mlir::ValueRange gradients);
    static std::vector<::mp::OpSample> sampleInputs();
  }];
}

#endif // MP_OPS_CAST_TD
