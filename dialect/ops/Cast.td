//===- Cast.td - changes of element type -------------------*- tablegen -*-===//
#ifndef MP_OPS_CAST_TD
#define MP_OPS_CAST_TD

include "dialect/MpBase.td"

def Mp_CastOp : Mp_Op<"cast", [Pure, AutocastOpInterface, DifferentiableOpInterface,
                              DeclareOpInterfaceMethods<ScalarOpInterface>]> {
  let summary = "conversion to another element type";
  let description = [{
    A cast rounds once, to nearest, ties to even. A value that is too large for a float type becomes infinity.
    f8E4M3FN has no infinity: a value beyond 464 becomes NaN, and so does infinity. (464 is half way from the
    largest number, 448, to what would be the next.) Nothing saturates. Floats are converted to integers
    towards zero, and a value out of range is undefined. A cast in the IR always rounds: a pair of casts folds
    only if the first one loses nothing.

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
