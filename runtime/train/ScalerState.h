//===- ScalerState.h - a loss scaler's state in a checkpoint ----*- C++ -*-===//
//
// A run may go on with another loss scaler than it began with. Unlike all other
// state, that of a scaler need not be in a checkpoint, and may be too much.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_TRAIN_SCALERSTATE_H
#define MP_RUNTIME_TRAIN_SCALERSTATE_H

#include "runtime/train/Checkpoint.h"

namespace mp {

/// Whether it has a first value that a run can go on with.
bool isScaler(const Variable &variable);

/// What becomes of the scaler's state in a file.
ScalerChange compareScalers(llvm::ArrayRef<Variable> variables,
                            const Safetensors &file, const Roles &roles);

/// A field of the loss scaler that is another one than in the checkpoint.
struct FieldChange {
  llvm::StringRef name, before, now;
};

/// The fields that both texts (Program::scalerFields) have, and that differ.
/// Checkpoints of older versions have none.
std::vector<FieldChange> compareFields(llvm::StringRef before,
                                       llvm::StringRef now);

/// From zero, an infinity or NaN no factor leads back: nothing would be trained
/// any more.
llvm::Error checkScale(llvm::ArrayRef<Variable> variables,
                       const Safetensors &file);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_SCALERSTATE_H
