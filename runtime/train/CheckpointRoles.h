//===- CheckpointRoles.h - roles of the tensors in a file -------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_CHECKPOINTROLES_H
#define MP_RUNTIME_TRAIN_CHECKPOINTROLES_H

#include "program/Program.h"
#include "runtime/data/Safetensors.h"

namespace mp {

/// The roles of tensors by name. Tensors without a role are left out.
using Roles = std::map<std::string, VariableRole>;

/// The key of the metadata that holds the roles as a JSON object: {"w.ema":
/// {"role": "average", "parameter": "w"}, ...}.
inline constexpr llvm::StringLiteral kRolesKey = "mantissa.roles";

/// Returns the value of that metadata for the variables that checkpoints hold.
std::string rolesToText(llvm::ArrayRef<Variable> variables);

/// Returns the roles in the metadata of a file. If another program or an
/// earlier version wrote the file without roles, they are inferred from the
/// names that mp-optimizer and mp-loss-scale give.
llvm::Expected<Roles> rolesIn(const Safetensors &file);

/// Returns the role of a tensor, or no role.
VariableRole roleOf(llvm::StringRef tensor, const Roles &roles);
/// Returns the tensor that is the average of a parameter, or "".
llvm::StringRef averageOf(llvm::StringRef parameter, const Roles &roles);
/// Returns whether the role is part of the state of a loss scaler.
bool isScalerState(const VariableRole &role);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_CHECKPOINTROLES_H
