//===- CheckpointRoles.h - roles of the tensors in a file -------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_CHECKPOINTROLES_H
#define MP_RUNTIME_TRAIN_CHECKPOINTROLES_H

#include "program/Program.h"
#include "runtime/data/Safetensors.h"

namespace mp {

/// Roles of tensors by name. Tensors without a role are missing.
using Roles = std::map<std::string, VariableRole>;

/// The metadata key for roles, a JSON object: {"w.ema": {"role": "average",
/// "parameter": "w"}, ...}.
inline constexpr llvm::StringLiteral kRolesKey = "mantissa.roles";

/// The value of that metadata for the saved variables.
std::string rolesToText(llvm::ArrayRef<Variable> variables);

/// The roles in a file's metadata. For a file without them, which another
/// program or an earlier version wrote, the roles follow from the names that
/// mp-optimizer and mp-loss-scale give.
llvm::Expected<Roles> rolesIn(const Safetensors &file);

/// The role of the tensor, or none.
VariableRole roleOf(llvm::StringRef tensor, const Roles &roles);
/// The tensor that is the average of the parameter, or "".
llvm::StringRef averageOf(llvm::StringRef parameter, const Roles &roles);
/// Whether the tensor belongs to the state of a loss scaler.
bool isScalerState(const VariableRole &role);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_CHECKPOINTROLES_H
