//===- ScalerState.cpp - a loss scaler's state in a checkpoint ------------===//
#include "runtime/ScalerState.h"
#include "runtime/data/Convert.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

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

} // namespace mp
