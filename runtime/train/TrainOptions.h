//===- TrainOptions.h - options and outcome of training ---------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_TRAINOPTIONS_H
#define MP_RUNTIME_TRAIN_TRAINOPTIONS_H

#include "program/Compiler.h"
#include "program/RecipeSettings.h"
#include "runtime/data/PictureReader.h"
#include "runtime/ranks/Communicator.h"
#include "runtime/train/Metrics.h"

namespace mp {

/// The options of a training run. A field that is not set is taken from the
/// checkpoint if a run is resumed, and has the default named here otherwise.
///
/// With `nanCheck` "step" or "all", StepMetrics::nonFinite and
/// RUN/non-finite.jsonl name the first op whose result is not finite, for each
/// step with such a gradient, loss or new weight; "all" also keeps a table of
/// the values of every op. A run ends before the step that makes weights or
/// slots non-finite: it restores its last checkpoint, or the initial state, and
/// runs again up to that step.
struct TrainOptions : RecipeSettings {
  std::string module; ///< path of the .mlir file
  /// The processes that train together, each with the same options; null: this
  /// one alone. Rank 0 writes and logs. `accumulate` counts the micro-batches
  /// of all ranks; it is their number, unless it is given.
  std::shared_ptr<Communicator> ranks = nullptr;
  std::string data;             ///< folder for the module's data sources
  PictureOptions pictures = {}; ///< how pictures in it are read
  std::string
      out; ///< run folder, created if missing; empty: nothing is written
  std::string resume; ///< run folder or checkpoint to go on from
  /// Whether a run may resume with another graph, or other settings of the
  /// recipe, than the checkpoint has; notes in `log` name each difference.
  bool resumeAnyway = false;
  std::string init; ///< safetensors file with the first weights
  /// Shell patterns of weights that `init` does not give: those of a last layer
  /// for other classes.
  std::vector<std::string> initExcept;
  std::string function; ///< recipe to run; empty: the only one
  /// As in CompileOptions. A checkpoint names them, but never loads them.
  std::vector<std::string> plugins, insertPasses;
  std::string device = "auto";   ///< or "cpu", "cuda", "cuda:N"
  std::optional<int64_t> epochs; ///< 1
  std::optional<int64_t> batch;  ///< 32 samples
  std::optional<uint64_t> seed;  ///< 0; for initialisers, order and random ops
  std::optional<bool> shuffle;   ///< true
  std::optional<bool> dropLast;  ///< false: train on each epoch's remainder too
  /// The lengths of buckets, which go up; empty: samples have one length. Each
  /// has a module of its own (modulesOfBuckets), and a batch holds samples of
  /// one bucket, by the column `lengths`.
  std::vector<int64_t> buckets;
  /// The number of steps after which the run stops, counting those before it
  /// was resumed. The schedule keeps its length. 0: no limit.
  int64_t maxSteps = 0;
  /// The number of consecutive skipped steps that ends a run; 0: any. In the
  /// default of 100 steps, a scale of 2^100 comes down to 1.
  int64_t maxSkipped = 100;
  int64_t checkpointEvery = 0; ///< steps; 0: at the end of each epoch
  /// The number of further checkpoints that are kept, the last ones, each under
  /// the number of its step.
  int64_t keepLast = 0;
  /// The number of steps after which the data source `test` is scored again; 0:
  /// at the end of each epoch.
  std::optional<int64_t> evalEvery;
  /// The score whose best evaluation is kept as checkpoint.best.safetensors:
  /// "max:accuracy", "min:loss", "max:ema.accuracy"; empty: none.
  std::optional<std::string> monitor;
  /// The number of evaluations without a better one that ends a run; 0: any.
  std::optional<int64_t> patience;
  /// The number of steps after which gradient statistics are written to `out`
  /// again; 0: none are written. The bits of the run are the same.
  int64_t ledgerEvery = 0;
  /// Whether `out` gets an event file for TensorBoard with the metrics of steps
  /// and the scores of evaluations.
  bool tensorBoard = false;
  /// Whether each rank keeps a part of the optimizer's state (ZeRO, stage 1),
  /// and of the masters of 16-bit copies.
  /// The bits are the same, and checkpoints too.
  bool shardOptimizer = false;
  unsigned threads = 0; ///< 0: one per core
  bool onednn = false;  ///< for matrix products on the CPU
  std::string plan;     ///< path of a tuning plan, for a CUDA device
  std::string profile;  ///< file for the cost of a step; empty: none
  std::string trace;    ///< file for a Chrome trace of the run; empty: none
  bool handleSignals =
      false; ///< whether SIGINT and SIGTERM end train() after the step
  llvm::raw_ostream *log =
      nullptr; ///< gets facts and progress as text; null: nothing
};

/// How train() ended.
struct TrainOutcome {
  Summary summary;
  int signal = 0; ///< that ended it, with the checkpoint saved; or 0
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TRAINOPTIONS_H
