//===- AveragedWeights.cpp - moving averages in place of weights ----------===//
#include "runtime/train/AveragedWeights.h"
#include "runtime/data/Convert.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mp {

AveragedWeights::AveragedWeights(Session &session) : session(session) {
  using Kind = VariableRole::Kind;
  ArrayRef<Variable> variables = session.variables();
  for (const Variable &variable : variables) {
    if (variable.role.kind == Kind::Count)
      counts.push_back(&variable);
    if (variable.role.kind != Kind::Average)
      continue;
    auto weight = find_if(variables, [&](const Variable &other) {
      return other.name == variable.role.parameter;
    });
    if (weight != variables.end())
      weights.push_back({&*weight, &variable, {}});
  }
}

Expected<bool> AveragedWeights::exist() const {
  if (weights.empty())
    return false;
  for (const Variable *count : counts) {
    std::vector<char> bytes(count->type.bytes());
    if (Error error = session.read(count->name, bytes))
      return std::move(error);
    if (loadElement(count->type.element, bytes.data()) == 0)
      return false;
  }
  return true;
}

Error AveragedWeights::swapIn() {
  for (Weight &each : weights) {
    const TensorType &type = each.weight->type, &from = each.average->type;
    each.bytes.resize(type.bytes());
    std::vector<char> average(from.bytes()), converted(type.bytes());
    if (Error error = session.read(each.weight->name, each.bytes))
      return error;
    if (Error error = session.read(each.average->name, average))
      return error;
    convertElements(from.element, average, type.element, converted);
    if (Error error = session.write(each.weight->name, converted))
      return error;
  }
  return session.derive();
}

Error AveragedWeights::swapBack() {
  for (Weight &each : weights) {
    if (Error error = session.write(each.weight->name, each.bytes))
      return error;
    each.bytes = {};
  }
  return session.derive();
}

} // namespace mp
