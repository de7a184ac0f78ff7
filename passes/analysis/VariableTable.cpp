//===- VariableTable.cpp - a module's variables by name -------------------===//
#include "passes/analysis/VariableTable.h"
#include "dialect/ops/State.h"

using namespace mlir;
using namespace mp;

VariableTable::VariableTable(ModuleOp module) : module(module) {
  for (auto variable : module.getOps<VariableOp>()) {
    add(variable);
    last = variable;
  }
}

void VariableTable::add(VariableOp variable) {
  byName[variable.getSymName()] = variable;
  if (auto source = variable.getSource())
    derived[*source].push_back(variable);
}

ArrayRef<VariableOp> VariableTable::derivedFrom(StringRef name) const {
  auto found = derived.find(name);
  return found == derived.end() ? ArrayRef<VariableOp>() : found->second;
}

/// A slot or an average is read and written in files beside its parameter.
DenseI64ArrayAttr VariableTable::dimsOf(RoleAttr role,
                                        RankedTensorType type) const {
  VariableOp parameter = role && role.getParameter()
                             ? lookup(role.getParameter().getValue())
                             : VariableOp();
  if (!parameter || parameter.getTensorType().getShape() != type.getShape())
    return {};
  return parameter.getDimsInFilesAttr();
}

VariableOp VariableTable::create(Location location, StringRef name,
                                 RankedTensorType type, StateKind kind,
                                 double initial, RoleAttr role) {
  if (VariableOp known = lookup(name);
      known && known.getKind() == kind && known.getTensorType() == type) {
    if (role)
      known.setRoleAttr(role);
    if (auto dims = dimsOf(role, type))
      known.setDimsInFilesAttr(dims);
    return known;
  }
  OpBuilder builder(module.getContext());
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(module.getBody());
  auto value = builder.getNamedAttr("value", builder.getF64FloatAttr(initial));
  auto init = initial == 0
                  ? InitAttr::get(module.getContext(), InitFormula::zeros,
                                  builder.getDictionaryAttr({}))
                  : InitAttr::get(module.getContext(), InitFormula::constant,
                                  builder.getDictionaryAttr({value}));
  auto variable = VariableOp::create(builder, location, name, type, kind, init,
                                     FlatSymbolRefAttr(), role,
                                     dimsOf(role, type), TypeAttr());
  add(variable);
  last = variable;
  return variable;
}

RoleAttr VariableTable::role(StateRole role) {
  return RoleAttr::get(module.getContext(), role, FlatSymbolRefAttr(),
                       StringAttr());
}

RoleAttr VariableTable::slotOf(VariableOp parameter, StringRef slot) {
  return RoleAttr::get(module.getContext(), StateRole::slot,
                       FlatSymbolRefAttr::get(parameter.getSymNameAttr()),
                       StringAttr::get(module.getContext(), slot));
}

RoleAttr VariableTable::averageOf(VariableOp parameter) {
  return RoleAttr::get(module.getContext(), StateRole::average,
                       FlatSymbolRefAttr::get(parameter.getSymNameAttr()),
                       StringAttr());
}

VariableOp VariableTable::derive(VariableOp master, Type element,
                                 StringRef name) {
  for (VariableOp known : derivedFrom(master.getSymName()))
    if (known.getTensorType().getElementType() == element)
      return known;
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(master);
  auto variable = VariableOp::create(
      builder, master.getLoc(), name, master.getTensorType().clone(element),
      StateKind::derived, InitAttr(),
      FlatSymbolRefAttr::get(master.getSymNameAttr()), RoleAttr(),
      DenseI64ArrayAttr(), TypeAttr());
  add(variable);
  if (last == master)
    last = variable;
  return variable;
}

bool VariableTable::changesWhenSkipped(WriteOp write) const {
  return changesWhenSkipped(lookup(write.getVariable()).getKind());
}

bool VariableTable::changesWhenSkipped(StateKind kind) {
  return kind == StateKind::scaler || kind == StateKind::attempt ||
         kind == StateKind::window;
}
