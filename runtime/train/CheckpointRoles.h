//===- CheckpointRoles.h - what the tensors of a file are for ---*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_CHECKPOINTROLES_H
#define MP_RUNTIME_TRAIN_CHECKPOINTROLES_H

#include "program/Program.h"
#include "runtime/data/Safetensors.h"

namespace mp {

/// Roles of tensors by name. A tensor without a role is not in it.
using Roles = std::map<std::string, VariableRole>;

/// The metadata that keeps roles, a JSON object: {"w.ema": {"role": "average",
/// "parameter": "w"}, ...}.
inline constexpr llvm::StringLiteral kRolesKey = "mantissa.roles";

/// The value of that metadata for the variables that are saved.
std::string rolesToText(llvm::ArrayRef<Variable> variables);

/// The roles in a file's metadata. For a file without them, which another
/// program or an earlier version wrote, the roles follow from the names that
/// mp-optimizer and mp-loss-scale give.
llvm::Expected<Roles> rolesIn(const Safetensors &file);

/// The role of that tensor, or none.
VariableRole roleOf(llvm::StringRef tensor, const Roles &roles);
/// The tensor that is the average of the parameter, or "".
llvm::StringRef averageOf(llvm::StringRef parameter, const Roles &roles);
/// Whether it belongs to the state of a loss scaler.
bool isScalerState(const VariableRole &role);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_CHECKPOINTROLES_H
