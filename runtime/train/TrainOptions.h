//===- TrainOptions.h - options and outcome of training ---------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_TRAINOPTIONS_H
#define MP_RUNTIME_TRAIN_TRAINOPTIONS_H

#include "program/Compiler.h"
#include "program/RecipeSettings.h"
#include "runtime/train/Metrics.h"

namespace mp {

/// The options of a training run. A field or setting that is left unset is the
/// checkpoint's if a run is resumed, and else has the default named here.
///
/// With `nanCheck` "step" or "all", StepMetrics::nonFinite and
/// RUN/offenders.jsonl name the first op whose result is not finite, for each
/// step with such a gradient, loss or new weight; "all" also keeps a table of
/// every op's values. A run whose weights or slots would become non-finite ends
/// before that step: it goes back to its last checkpoint, or the beginning, and
/// runs again up to there.
/// beginning, and runs again from there.
struct TrainOptions : RecipeSettings {
  std::string module; ///< path of the .mlir file
  std::string data;   ///< folder for the module's data sources
  std::string out;    ///< run folder, made if needed; empty: nothing is written
  std::string resume; ///< run folder or checkpoint to go on from
  std::string init;   ///< safetensors file with the initial weights
  std::string function; ///< recipe to run; empty: the only one
  /// As in CompileOptions. A checkpoint names them, but never loads them.
  std::vector<std::string> passPlugins, insertPasses;
  std::string device = "auto";   ///< or "cpu", "cuda", "cuda:N"
  std::optional<int64_t> epochs; ///< 1
  std::optional<int64_t> batch;  ///< 32 samples
  std::optional<uint64_t> seed;  ///< 0; for initialisers, order and random ops
  std::optional<bool> shuffle;   ///< true
  std::optional<bool> dropLast;  ///< false: train on each epoch's remainder too
  /// Stop after this many steps, including those before a resume; the schedule
  /// keeps its length. 0: no limit.
  int64_t maxSteps = 0;
  /// End the run after this many skipped steps in a row; 0: never. A scale of
  /// 2^100 falls to 1 in 100 steps.
  int64_t maxSkipped = 100;
  int64_t checkpointEvery = 0; ///< steps; 0: at the end of each epoch
  /// Record gradient statistics for f16 in `out` before the first step, after
  /// every so many steps and at the end; 0: never. The run's bits are the same.
  int64_t ledgerEvery = 0;
  unsigned threads = 0;               ///< 0: one per core
  UseOnednn onednn = UseOnednn::Auto; ///< Auto: used if installed
  std::string plan;    ///< path of a tuning plan, for a CUDA device
  std::string profile; ///< file for the cost of a step; empty: none
  std::string trace;   ///< file for a Chrome trace of the run; empty: none
  bool handleSignals = false; ///< SIGINT and SIGTERM end train() after a step
  llvm::raw_ostream *log = nullptr; ///< facts and progress for the user
};

/// How train() ended.
struct TrainOutcome {
  Summary summary;
  bool interrupted = false; ///< by a signal; the checkpoint is saved
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TRAINOPTIONS_H
