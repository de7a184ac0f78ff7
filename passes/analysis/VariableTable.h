//===- VariableTable.h - a module's variables by name -----------*- C++ -*-===//
#ifndef MP_PASSES_ANALYSIS_VARIABLETABLE_H
#define MP_PASSES_ANALYSIS_VARIABLETABLE_H

#include "dialect/ops/State.h"
#include "llvm/ADT/StringMap.h"

namespace mp {

/// The variables of a module, looked up without going through all of them. Good
/// as long as variables come by way of it, and none goes.
class VariableTable {
public:
  explicit VariableTable(mlir::ModuleOp module);

  /// Null where there is none.
  VariableOp lookup(llvm::StringRef name) const { return byName.lookup(name); }
  /// That are derived from the one of that name.
  llvm::ArrayRef<VariableOp> derivedFrom(llvm::StringRef name) const;

  /// A new variable behind the last one, all of whose elements are `initial`;
  /// or the one that is there with this name, type and kind.
  VariableOp create(mlir::Location location, llvm::StringRef name,
                    mlir::RankedTensorType type, StateKind kind,
                    double initial);
  /// The working copy of `master` in a type, behind it; made where missing.
  VariableOp derive(VariableOp master, mlir::Type element,
                    llvm::StringRef name);

  /// Whether a write is of a variable that every try changes, skipped or not:
  /// of a scaler's, a count's or a window's.
  bool countsTries(WriteOp write) const;
  static bool countsTries(StateKind kind);

private:
  void add(VariableOp variable);

  mlir::ModuleOp module;
  llvm::StringMap<VariableOp> byName;
  llvm::StringMap<llvm::SmallVector<VariableOp, 1>> derived;
  VariableOp last;
};

} // namespace mp

#endif // MP_PASSES_ANALYSIS_VARIABLETABLE_H
