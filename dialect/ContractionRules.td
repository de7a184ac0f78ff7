//===- ContractionRules.td - base of all contractions ------*- tablegen -*-===//
#ifndef MP_CONTRACTIONRULES_TD
#define MP_CONTRACTIONRULES_TD

include "dialect/MpBase.td"

/// A contraction of its first two operands. `compute = tf32` allows a target to round f32
/// operands to tf32 (10 bits of mantissa) before it multiplies, as tensor cores do. The
/// CPU target does not. `out_dtype(f32)` keeps the sums of 16-bit operands without rounding.
class Mp_ContractionOp<string mnemonic, list<Trait> traits = []>
    : Mp_PureOp<mnemonic, !listconcat([DeclareOpInterfaceMethods<AnchorOpInterface, ["buildWithoutLoop"]>], traits)> {
  let numericClass = "contraction";
  let extraDeclarations = [{
    void setComputeType(::mlir::FloatType type) {
      setComputeAttr(type ? ::mlir::TypeAttr::get(type) : ::mlir::TypeAttr());
    }
    bool keepSums() {
      setOutDtypeAttr(::mlir::TypeAttr::get(::mlir::Float32Type::get(getContext())));
      return true;
    }
    std::optional<int64_t> getTermCount();
  }];
  let hasVerifier = 1;
  let extraDefinitions = [{
    ::llvm::LogicalResult $cppClass::verify() {
      return ::mp::verifyContraction(*this, getCompute(), getOutDtype());
    }
  }];
}

#endif // MP_CONTRACTIONRULES_TD
