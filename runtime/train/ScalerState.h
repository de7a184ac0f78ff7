//===- ScalerState.h - a loss scaler's state in a checkpoint ----*- C++ -*-===//
//
// A run may continue with another loss scaler than it began with. So, unlike
// other state, a scaler's may be missing in a checkpoint or have no use there.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_TRAIN_SCALERSTATE_H
#define MP_RUNTIME_TRAIN_SCALERSTATE_H

#include "runtime/train/Checkpoint.h"

namespace mp {

/// Returns whether the variable is part of a loss scaler whose initial value
/// allows a run to continue.
bool isScaler(const Variable &variable);

/// Returns what becomes of the state of the scaler in a file.
ScalerChange compareScalers(llvm::ArrayRef<Variable> variables,
                            const Safetensors &file, const Roles &roles);

/// A field of the loss scaler that differs from the checkpoint.
struct FieldChange {
  llvm::StringRef name, before, now;
};

/// Returns the fields that are in both texts (Program::scalerFields) and
/// differ. Checkpoints of older versions have no text.
std::vector<FieldChange> compareFields(llvm::StringRef before,
                                       llvm::StringRef now);

/// Fails if the scale is zero, infinite or NaN: no factor changes such a scale,
/// so nothing would be trained any more.
llvm::Error checkScale(llvm::ArrayRef<Variable> variables,
                       const Safetensors &file);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_SCALERSTATE_H
