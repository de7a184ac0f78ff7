//===- RunSettings.h - merges options with a checkpoint's -------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_RUNSETTINGS_H
#define MP_RUNTIME_TRAIN_RUNSETTINGS_H

#include "runtime/train/Checkpoint.h"
#include "runtime/train/TrainOptions.h"

namespace mp {

/// The state that a run begins with: each option that was given, else the
/// checkpoint's, else its default. `checkpoint` is null for a new run. The
/// error names each option with which the checkpoint cannot be continued
/// exactly.
llvm::Expected<RunState> settleRun(const TrainOptions &options,
                                   const Checkpoint *checkpoint);

/// A setting for messages: an empty name left the choice to the recipe.
std::string settingText(llvm::StringRef value);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_RUNSETTINGS_H
