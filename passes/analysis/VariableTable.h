//===- VariableTable.h - a module's variables by name -----------*- C++ -*-===//
#ifndef MP_PASSES_ANALYSIS_VARIABLETABLE_H
#define MP_PASSES_ANALYSIS_VARIABLETABLE_H

#include "dialect/ops/State.h"
#include "llvm/ADT/StringMap.h"

namespace mp {

/// The variables of a module, looked up without going through all of them. It
/// is valid as long as new variables come from it, and none is erased.
class VariableTable {
public:
  explicit VariableTable(mlir::ModuleOp module);

  /// Returns null if there is none.
  VariableOp lookup(llvm::StringRef name) const { return byName.lookup(name); }
  /// Returns the variables that are derived from the one of that name.
  llvm::ArrayRef<VariableOp> derivedFrom(llvm::StringRef name) const;

  /// Adds a variable after the last one, with all elements `initial`; or
  /// returns the existing one with this name, type and kind, with this role.
  /// The role's parameter, if of this shape, gives it its order in files.
  VariableOp create(mlir::Location location, llvm::StringRef name,
                    mlir::RankedTensorType type, StateKind kind, double initial,
                    RoleAttr role = {});
  /// A role that needs no parameter.
  RoleAttr role(StateRole role);
  /// A slot of a parameter, such as "exp_avg".
  RoleAttr slotOf(VariableOp parameter, llvm::StringRef slot);
  RoleAttr averageOf(VariableOp parameter);
  /// Returns the working copy of `master` in a type; creates it after `master`
  /// if missing.
  VariableOp derive(VariableOp master, mlir::Type element,
                    llvm::StringRef name);

  /// Whether a write is to a variable that every step attempt changes, skipped
  /// or not: a scaler's, a count's or a window's.
  bool changesWhenSkipped(WriteOp write) const;
  static bool changesWhenSkipped(StateKind kind);

private:
  void add(VariableOp variable);
  mlir::DenseI64ArrayAttr dimsOf(RoleAttr role,
                                 mlir::RankedTensorType type) const;

  mlir::ModuleOp module;
  llvm::StringMap<VariableOp> byName;
  llvm::StringMap<llvm::SmallVector<VariableOp, 1>> derived;
  VariableOp last;
};

} // namespace mp

#endif // MP_PASSES_ANALYSIS_VARIABLETABLE_H
