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

/// Whether the variable is scaler state, which has an initial value.
bool isScaler(const Variable &variable);

/// Compares the scaler's state in the file with the graph's.
ScalerChange compareScalers(llvm::ArrayRef<Variable> variables,
                            const Safetensors &file, const Roles &roles);

/// A field of the loss scaler that differs from the checkpoint's.
struct FieldChange {
  llvm::StringRef name, before, now;
};

/// The fields that both texts (Program::scalerFields) have and that differ.
/// Checkpoints of older versions have none.
std::vector<FieldChange> compareFields(llvm::StringRef before,
                                       llvm::StringRef now);

/// Fails if the scale is zero, infinite or NaN: no factor could change it, so
/// nothing would be trained any more.
llvm::Error checkScale(llvm::ArrayRef<Variable> variables,
                       const Safetensors &file);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_SCALERSTATE_H
