//===- ScalerState.cpp - a loss scaler's state in a checkpoint ------------===//
#include "runtime/train/ScalerState.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace llvm;

namespace mp {

bool isScalerState(StringRef name, const Array &tensor,
                   const Safetensors &file) {
  auto [scaler, field] = name.rsplit('.');
  bool isKnown = StringSwitch<bool>(field)
                     .Cases({"scale", "growth_tracker", "hysteresis_tracker",
                             "steps_since_rescale", "overflows_since_rescale"},
                            true)
                     .Default(false);
  return isKnown && tensor.type.shape.empty() &&
         file.tensors.count((scaler + ".growth_tracker").str());
}

bool isScaler(const Variable &variable) {
  return variable.kind == VariableKind::Scaler &&
         variable.init.kind == Initializer::Kind::Constant &&
         variable.type.shape.empty();
}

ScalerChange compareScalers(ArrayRef<Variable> variables,
                            const Safetensors &file) {
  ScalerChange change;
  auto number = [](const Array &tensor) {
    return loadElement(tensor.type.element, tensor.bytes.data());
  };
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
    if (!known.contains(name) && isScalerState(name, tensor, file))
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

Error checkScale(const ScalerChange &change, const Safetensors &file) {
  for (auto &[name, value] : change.kept)
    if (StringRef(name).ends_with(".scale") &&
        !(value > 0 && std::isfinite(value)))
      return makeError("{0}: '{1}' is {2}, with which no gradient is left: "
                       "resume with a scale that is known, --scaler static:N",
                       file.path, name, value);
  return Error::success();
}

} // namespace mp
