//===- ScalerState.cpp - a loss scaler's state in a checkpoint ------------===//
#include "runtime/train/ScalerState.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace llvm;

namespace mp {

static double number(const Array &tensor) {
  return loadElement(tensor.type.element, tensor.bytes.data());
}

bool isScaler(const Variable &variable) {
  return variable.kind == VariableKind::Scaler &&
         variable.init.kind == Initializer::Kind::Constant &&
         variable.type.shape.empty();
}

ScalerChange compareScalers(ArrayRef<Variable> variables,
                            const Safetensors &file, const Roles &roles) {
  ScalerChange change;
  StringSet<> known;
  for (const Variable &variable : variables) {
    known.insert(variable.name);
    if (!isScaler(variable))
      continue;
    auto tensor = file.tensors.find(variable.name);
    if (tensor == file.tensors.end())
      change.begun.emplace_back(variable.name, variable.init.a);
    else
      change.kept.emplace_back(variable.name, number(tensor->second));
  }
  for (auto &[name, tensor] : file.tensors)
    if (!known.contains(name) && isScalerState(roleOf(name, roles)))
      change.dropped.emplace_back(name, number(tensor));
  return change;
}

std::vector<FieldChange> compareFields(StringRef before, StringRef now) {
  StringMap<StringRef> known;
  for (StringRef field : split(before, ' '))
    known.insert(field.split('='));
  std::vector<FieldChange> changes;
  for (StringRef field : split(now, ' ')) {
    auto [name, value] = field.split('=');
    auto found = known.find(name);
    if (found != known.end() && found->second != value)
      changes.push_back({name, found->second, value});
  }
  return changes;
}

Error checkScale(ArrayRef<Variable> variables, const Safetensors &file) {
  for (const Variable &variable : variables) {
    auto tensor = file.tensors.find(variable.name);
    if (variable.role.kind != VariableRole::Kind::Scale ||
        tensor == file.tensors.end())
      continue;
    double value = number(tensor->second);
    if (!(value > 0 && std::isfinite(value)))
      return makeError("{0}: '{1}' is {2}, with which no gradient is left: "
                       "resume with a scale that is known, --scaler static:N",
                       file.path, variable.name, value);
  }
  return Error::success();
}

} // namespace mp
