//===- Outputs.h - values that a caller asks for ----------------*- C++ -*-===//
#ifndef MP_CODEGEN_OUTPUTS_H
#define MP_CODEGEN_OUTPUTS_H

#include "dialect/Mp.h"
#include "llvm/Support/SourceMgr.h"

namespace mp {

/// The values of a module by their names in its text.
class ValueNames {
public:
  /// Parses the module. With `keepsNames`, keeps what `lookup` finds; this
  /// takes text. Null after a diagnostic.
  mlir::OwningOpRef<mlir::ModuleOp>
  parse(llvm::SourceMgr &sources, mlir::MLIRContext *context, bool keepsNames);
  /// Returns the value of that name ("%h1") at the top level of a function.
  /// Fails with a diagnostic at the function, which names the nearest ones.
  llvm::FailureOr<mlir::Value> lookup(mlir::func::FuncOp function,
                                      llvm::StringRef name) const;

private:
  /// The results of ops and their names, in the order of the text.
  llvm::SmallVector<std::pair<mlir::Value, std::string>> values;
};

/// Makes a function also return every value that `outputs` asks for as
/// "value:%name", under this name, unless it returns it already. Other outputs
/// are skipped.
llvm::LogicalResult returnValues(mlir::func::FuncOp function,
                                 llvm::ArrayRef<std::string> outputs,
                                 const ValueNames &names);

} // namespace mp

#endif // MP_CODEGEN_OUTPUTS_H
