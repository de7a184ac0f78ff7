//===- RunSettings.h - merges options with a checkpoint's -------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_RUNSETTINGS_H
#define MP_RUNTIME_TRAIN_RUNSETTINGS_H

#include "runtime/train/Checkpoint.h"
#include "runtime/train/TrainOptions.h"

namespace mp {

/// Returns the state that a run begins with. Each option is the given one, or
/// else that of the checkpoint, or else its default. `checkpoint` is null for a
/// new run. An error names each option with which the checkpoint cannot be
/// continued exactly.
llvm::Expected<RunState> settleRun(const TrainOptions &options,
                                   const Checkpoint *checkpoint);

/// Returns the settings that do not have their defaults, other than precision,
/// policy, scaler and micro-batches, which a summary names by itself.
std::vector<std::pair<std::string, std::string>>
furtherSettings(const RecipeSettings &settings);

/// Formats a setting for a message. An empty one left the choice to the recipe.
std::string settingText(llvm::StringRef value);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_RUNSETTINGS_H
