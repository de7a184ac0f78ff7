//===- Checkpoint.h - the state of a training run in a file ---------------===//
#ifndef MP_RUNTIME_TRAIN_CHECKPOINT_H
#define MP_RUNTIME_TRAIN_CHECKPOINT_H

#include "program/RecipeSettings.h"
#include "runtime/Session.h"
#include "runtime/data/Safetensors.h"
#include "runtime/train/CheckpointRoles.h"
#include "runtime/train/Metrics.h"

namespace mp {

/// The state besides variables that a run needs to go on exactly where it
/// stopped. The settings are those that it was started with; micro-batches are
/// counted, 1 without accumulation.
struct RunState : RecipeSettings {
  uint64_t seed = 0;
  int64_t step =
      0; ///< step attempts so far, which give the position in the data
  int64_t skippedSteps = 0;
  int64_t samples = 0, batch = 0, epochs = 0;
  bool shuffle = true, dropLast = false;
  std::string module = {}, target = {}, cpu = {};
  std::string scalerFields = {}; ///< as in Program
  std::string plan = {};         ///< Program::plan
  std::string insertPasses = {}; ///< as in CompileOptions, in command line form
  double lastScale = 1;          ///< loss scale of the last step
  double epochLossSum = 0;    ///< over the steps of the running epoch that were
  int64_t epochLossCount = 0; ///< not skipped
};

/// Whether checkpoints hold the variable: derived ones are computed again, and
/// those of a window are empty between two steps.
bool isSaved(const Variable &variable);

/// A hash of the names, kinds and types of the variables in a checkpoint.
std::string fingerprint(llvm::ArrayRef<Variable> variables);

/// Writes every saved variable and the state, atomically: on an error the
/// earlier file is untouched. Must be called between two steps, as derived
/// variables and those of a window are not saved.
llvm::Error saveCheckpoint(llvm::StringRef path, Session &session,
                           const RunState &state);

/// How the loss scaler's state in a checkpoint differs from the graph's, if a
/// run continues with another scaler.
struct ScalerChange {
  NamedNumbers kept,
      begun;            ///< with values from the checkpoint; with initial ones
  NamedNumbers dropped; ///< the graph's scaler does not have these
  bool isNone() const { return begun.empty() && dropped.empty(); }
};

/// A checkpoint file, read and validated but not yet applied.
class Checkpoint {
public:
  /// `path` is the file or the run folder that holds `checkpoint.safetensors`.
  static llvm::Expected<Checkpoint> open(llvm::StringRef path);

  const RunState &state() const { return run; }
  /// The loss scale of the next step; of the last step if the scaler never
  /// changes it.
  double scale() const;
  /// Fills every saved variable, begins a window and runs `derive`. The loss
  /// scaler may differ: state that the file lacks gets its initial value. The
  /// error names the variables that are missing, unknown, or of another type;
  /// the session is untouched then.
  llvm::Expected<ScalerChange> restore(Session &session) const;

private:
  Safetensors file;
  Roles roles;
  RunState run;
  std::string print; ///< the fingerprint in the file
};

/// Which weights to take: as trained, or their moving averages if a recipe's
/// `ema` keeps any, or initial ones, for which the histories of 8-bit training
/// may be missing and then stay empty.
enum class Weights { Trained, Averaged, Initial };

/// Fills parameters and buffers by name, converting between floating-point
/// types, then runs `derive`; all other state stays as it is. `path` is a
/// safetensors file (such as a PyTorch state_dict), a checkpoint, or a run
/// folder. The error lists missing and unexpected names; the session is
/// untouched then.
llvm::Error loadWeights(llvm::StringRef path, Session &session,
                        Weights which = Weights::Trained);

/// The number of exported tensors, and their bytes.
struct Exported {
  size_t tensors = 0;
  uint64_t bytes = 0;
};

/// Writes the parameters and buffers of a checkpoint (or run folder) to a
/// safetensors file, without slots, scaler and histories of 8-bit training, so
/// that PyTorch's load_state_dict takes it. `which` is Trained or Averaged.
llvm::Expected<Exported> exportWeights(llvm::StringRef from, llvm::StringRef to,
                                       Weights which = Weights::Trained);

/// `path`, or the checkpoint in it if it is a folder.
std::string checkpointPath(llvm::StringRef path);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_CHECKPOINT_H
