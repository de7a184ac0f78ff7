//===- TrainOptions.h - what to train on what, and how it ended -*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_TRAINOPTIONS_H
#define MP_RUNTIME_TRAIN_TRAINOPTIONS_H

#include "program/Compiler.h"
#include "program/RecipeSettings.h"
#include "runtime/train/Metrics.h"

namespace mp {

/// What to train on what. A field or a setting that is left unset is the
/// checkpoint's when a run is resumed, and else has the default named here.
///
/// With `nanCheck` "step" or "all", StepMetrics::nonFinite and
/// RUN/non-finite.jsonl name the first op whose result is not finite, of each
/// step with such a gradient, loss or new weight; "all" keeps a table of every
/// op's values too. A run whose weights or slots would not be finite ends
/// before that step; for this it goes back to its last checkpoint, or the
/// beginning, and runs again from there.
struct TrainOptions : RecipeSettings {
  std::string module; ///< path of the .mlir file
  std::string data;   ///< folder for the module's data sources
  std::string out; ///< run folder, made if need be; empty: nothing is written
  std::string resume;   ///< run folder or checkpoint to go on from
  std::string init;     ///< safetensors file with the first weights
  std::string function; ///< recipe to run; empty: the only one
  /// As CompileOptions'. A checkpoint names them, but never loads them.
  std::vector<std::string> passPlugins, insertPasses;
  std::string device = "auto";   ///< or "cpu", "cuda", "cuda:N"
  std::optional<int64_t> epochs; ///< 1
  std::optional<int64_t> batch;  ///< 32 samples
  std::optional<uint64_t> seed;  ///< 0; of initialisers, order and random ops
  std::optional<bool> shuffle;   ///< true
  std::optional<bool> dropLast;  ///< false: train on each epoch's remainder too
  /// Stop after this many steps, those before a resume included; the schedule
  /// keeps its length. 0: no limit.
  int64_t maxSteps = 0;
  /// End a run where so many steps in a row were skipped; 0: never. A scale of
  /// 2^100 comes down to 1 in as many.
  int64_t maxSkipped = 100;
  int64_t checkpointEvery = 0; ///< steps; 0: at the end of each epoch
  /// Count what f16 makes of gradients before the first step, after every so
  /// many and at the end, into `out`; 0: never. The run's bits are the same.
  int64_t ledgerEvery = 0;
  unsigned threads = 0;               ///< 0: one a core
  UseOnednn onednn = UseOnednn::Auto; ///< where it is installed
  std::string plan;    ///< path of a tuning plan, for a CUDA device
  std::string profile; ///< file for what a step costs; empty: nobody asks
  std::string trace;   ///< file for a Chrome trace of the run; empty: none
  bool handleSignals = false; ///< SIGINT and SIGTERM end train() after the step
  llvm::raw_ostream *log = nullptr; ///< facts and progress for a person
};

/// How train() ended.
struct TrainOutcome {
  Summary summary;
  bool interrupted = false; ///< by a signal; the checkpoint is saved
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TRAINOPTIONS_H
