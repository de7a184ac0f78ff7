//===- CheckpointRoles.cpp - roles of the tensors in a file ---------------===//
#include "runtime/train/CheckpointRoles.h"
#include "runtime/train/Checkpoint.h"
#include "support/Error.h"
#include "support/Json.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace mp {

std::string rolesToText(ArrayRef<Variable> variables) {
  json::Object roles;
  for (const Variable &variable : variables) {
    const VariableRole &role = variable.role;
    if (role.kind == VariableRole::Kind::None || !isSaved(variable))
      continue;
    json::Object fields{{"role", roleKindName(role.kind)}};
    if (!role.parameter.empty())
      fields["parameter"] = role.parameter;
    if (!role.slot.empty())
      fields["slot"] = role.slot;
    roles[variable.name] = std::move(fields);
  }
  return formatv("{0}", json::Value(std::move(roles)));
}

/// A scaler has a `growth_tracker`, and next to it a scale and other counts.
static VariableRole scalerRoleByName(StringRef name, const Safetensors &file) {
  auto [scaler, field] = name.rsplit('.');
  if (!file.tensors.count((scaler + ".growth_tracker").str()))
    return {};
  return {StringSwitch<VariableRole::Kind>(field)
              .Case("scale", VariableRole::Kind::Scale)
              .Cases({"growth_tracker", "hysteresis_tracker",
                      "steps_since_rescale", "overflows_since_rescale"},
                     VariableRole::Kind::Tracker)
              .Default(VariableRole::Kind::None)};
}

static VariableRole roleByName(StringRef name, const TensorType &type,
                               const Safetensors &file) {
  StringRef parameter = name;
  if (parameter.consume_back(".ema"))
    return {.kind = VariableRole::Kind::Average, .parameter = parameter.str()};
  if (!type.shape.empty())
    return {};
  if (name.ends_with(".applied") && type.element == ElementType::I64)
    return {.kind = VariableRole::Kind::Count};
  return scalerRoleByName(name, file);
}

static std::optional<VariableRole> parseRole(const json::Value &value) {
  const json::Object *fields = value.getAsObject();
  if (!fields)
    return std::nullopt;
  auto text = [&](StringRef key) {
    return fields->getString(key).value_or("").str();
  };
  auto kind = parseRoleKind(text("role"));
  if (!kind)
    return std::nullopt;
  return VariableRole{*kind, text("parameter"), text("slot")};
}

Expected<Roles> rolesIn(const Safetensors &file) {
  Roles roles;
  auto kept = file.metadata.find(kRolesKey.str());
  if (kept == file.metadata.end()) {
    for (auto &[name, tensor] : file.tensors)
      if (VariableRole role = roleByName(name, tensor.type, file);
          role != VariableRole())
        roles[name] = std::move(role);
    return roles;
  }
  auto parsed = parseJson(kept->second);
  const json::Object *all = parsed ? parsed->getAsObject() : nullptr;
  if (!parsed)
    consumeError(parsed.takeError());
  auto damaged = [&] {
    return makeError("{0}: damaged checkpoint: metadata '{1}' is malformed",
                     file.path, kRolesKey);
  };
  if (!all)
    return damaged();
  for (auto &[name, value] : *all) {
    auto role = parseRole(value);
    if (!role || !file.tensors.count(name.str()))
      return damaged();
    roles[name.str()] = std::move(*role);
  }
  return roles;
}

VariableRole roleOf(StringRef tensor, const Roles &roles) {
  auto found = roles.find(tensor.str());
  return found == roles.end() ? VariableRole() : found->second;
}

StringRef averageOf(StringRef parameter, const Roles &roles) {
  for (auto &[name, role] : roles)
    if (role.kind == VariableRole::Kind::Average && role.parameter == parameter)
      return name;
  return "";
}

bool isScalerState(const VariableRole &role) {
  return role.kind == VariableRole::Kind::Scale ||
         role.kind == VariableRole::Kind::Tracker;
}

} // namespace mp
