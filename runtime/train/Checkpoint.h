//===- Checkpoint.h - the state of a training run in a file ---------------===//
#ifndef MP_RUNTIME_TRAIN_CHECKPOINT_H
#define MP_RUNTIME_TRAIN_CHECKPOINT_H

#include "program/RecipeSettings.h"
#include "runtime/Session.h"
#include "runtime/data/Safetensors.h"
#include "runtime/train/CheckpointOrders.h"
#include "runtime/train/CheckpointRoles.h"
#include "runtime/train/GraphRecord.h"
#include "runtime/train/Metrics.h"

namespace mp {

/// What a run needs, besides its variables, to continue exactly where it
/// stopped. The settings are those with which it began; `accumulate` is 1 if a
/// step has no micro-batches.
struct RunState : RecipeSettings {
  uint64_t seed = 0;
  int64_t step =
      0; ///< step attempts so far; they determine the place in the data
  int64_t skippedSteps = 0;
  /// No samples: the step took tensors of its caller. No batch: the function
  /// has no batch dimension.
  int64_t samples = 0, batch = 0, epochs = 0;
  bool shuffle = true, dropLast = false;
  std::vector<int64_t> buckets = {}; ///< as in TrainOptions
  std::string module = {}, target = {}, cpu = {};
  std::string scalerFields = {};         ///< as in Program
  std::string plan = {};                 ///< Program::plan
  std::vector<SourceOp> graph = {};      ///< as in Program
  std::vector<std::string> classes = {}; ///< as in Dataset
  std::string insertPasses =
      {};                     ///< those of CompileOptions, as on a command line
  double lastScale = 1;       ///< loss scale of the last step
  double epochLossSum = 0;    ///< over the steps of this epoch that were
  int64_t epochLossCount = 0; ///< not skipped
  /// As in TrainOptions; 0 evaluations of patience is no end to it.
  int64_t evalEvery = 0, patience = 0;
  std::string monitor = {};
  int64_t evaluated = 0; ///< step of the last evaluation
  int64_t bestStep = 0;  ///< of the best evaluation; 0: none yet
  double bestScore = 0;
  int64_t evaluationsSinceBest = 0;
};

/// Returns whether checkpoints hold the variable. Derived variables are
/// computed again, and window variables are empty between two steps.
bool isSaved(const Variable &variable);

/// Returns a hash of the names, kinds and types of the variables that a
/// checkpoint holds. Their orders in files do not count, as the file has them.
std::string fingerprint(llvm::ArrayRef<Variable> variables);

/// Writes the state and every variable that checkpoints hold, atomically: an
/// error leaves an earlier file as it was. To be called between two steps.
llvm::Error saveCheckpoint(llvm::StringRef path, Session &session,
                           const RunState &state);

/// The difference between the state of the loss scaler in a checkpoint and that
/// of the graph, for a run that continues with another scaler.
struct ScalerChange {
  NamedNumbers kept, begun; ///< taken from the checkpoint; initialised anew
  NamedNumbers dropped;     ///< of no use to the scaler of the graph
  bool isNone() const { return begun.empty() && dropped.empty(); }
};

/// A checkpoint file that has been read and validated, but not yet applied.
class Checkpoint {
public:
  /// `path` is the file or the run folder that holds `checkpoint.safetensors`.
  static llvm::Expected<Checkpoint> open(llvm::StringRef path);

  const RunState &state() const { return run; }
  size_t tensors() const { return file.tensors.size(); }
  uint64_t bytes() const; ///< of all tensors
  /// Returns whether the file was compared with its digests, which files of
  /// earlier versions lack.
  bool hasDigests() const { return file.hasDigests; }
  /// Returns the loss scale of the next step. If the scaler never changes the
  /// scale, this is the scale of the last step.
  double scale() const;
  /// Fails unless the session has the variables of the file. An error names
  /// those that are missing, unknown, or of another type.
  llvm::Error checkVariables(Session &session) const;
  /// Returns how a graph differs from the one that made the checkpoint. There
  /// is nothing to compare if an earlier version wrote the file.
  std::vector<GraphDifference>
  compareGraph(llvm::StringRef module, llvm::ArrayRef<SourceOp> graph) const;
  /// Fails if they differ in more than hyperparameters, and lists how.
  llvm::Error checkGraph(llvm::StringRef module,
                         llvm::ArrayRef<SourceOp> graph) const;
  /// Fills every variable that checkpoints hold, begins a window and runs
  /// `derive`. The loss scaler may be another one: state that the file lacks is
  /// initialised anew. An error, such as one of checkVariables, leaves the
  /// session as it was.
  llvm::Expected<ScalerChange> restore(Session &session) const;

private:
  Safetensors file;
  Roles roles;
  FileOrders orders;
  RunState run;
  std::string print; ///< the fingerprint in the file
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_CHECKPOINT_H
