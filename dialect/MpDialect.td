//===- MpDialect.td - the dialect --------------------------*- tablegen -*-===//
#ifndef MP_DIALECT_TD
#define MP_DIALECT_TD

include "mlir/IR/OpBase.td"

def Mp_Dialect : Dialect {
  let name = "mp";
  let cppNamespace = "::mp";
  let summary = "training graphs in mixed precision";
  let description = [{
    Tensors are builtin ranked tensors. Their shapes are static, except for `?` as the leading (batch)
    dimension. Everything is SSA, and the only side effects are reads and writes of variables. Every op
    computes in its compute type (f32 for operands of at most 32 bits, f64 for f64) and rounds once to its
    result type, whether it is fused or not.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Each family of ops registers its ops, because one file with all of them would compile for minutes.
    template <typename... Ops> void addFamily() { addOperations<Ops...>(); }
    /// For an op that does not exist, fails with a message that suggests the nearest names.
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef name) const override;
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}

#endif // MP_DIALECT_TD
