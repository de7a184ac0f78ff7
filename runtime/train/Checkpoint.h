//===- Checkpoint.h - the state of a training run in a file ---------------===//
#ifndef MP_RUNTIME_TRAIN_CHECKPOINT_H
#define MP_RUNTIME_TRAIN_CHECKPOINT_H

#include "program/RecipeSettings.h"
#include "runtime/Session.h"
#include "runtime/data/Safetensors.h"
#include "runtime/train/CheckpointRoles.h"
#include "runtime/train/Metrics.h"

namespace mp {

/// What a run must know, beside its variables, to go on exactly where it
/// stopped. The settings are those that it was begun with; micro-batches are
/// counted, 1 where there are none.
struct RunState : RecipeSettings {
  uint64_t seed = 0;
  int64_t step = 0; ///< step attempts so far, which say where in the data
  int64_t skippedSteps = 0;
  int64_t samples = 0, batch = 0, epochs = 0;
  bool shuffle = true, dropLast = false;
  std::string module = {}, target = {}, cpu = {};
  std::string scalerFields = {}; ///< Program's
  std::string plan = {};         ///< Program::plan
  std::string insertPasses = {}; ///< CompileOptions', as on a command line
  double lastScale = 1;          ///< loss scale of the last step
  double epochLossSum = 0;    ///< over the steps of the running epoch that were
  int64_t epochLossCount = 0; ///< not skipped
};

/// Whether checkpoints hold the variable: derived ones are computed again, and
/// those of a window are empty between two steps.
bool isSaved(const Variable &variable);

/// A hash of the variables that a checkpoint holds: names, kinds and types.
std::string fingerprint(llvm::ArrayRef<Variable> variables);

/// Writes every variable that is saved, and the state, atomically: on an error
/// the file that was there before is untouched. Derived variables and those of
/// a window are not saved: the moment is one between two steps.
llvm::Error saveCheckpoint(llvm::StringRef path, Session &session,
                           const RunState &state);

/// How the loss scaler's state in a checkpoint and that of the graph differ,
/// where a run goes on with another scaler.
struct ScalerChange {
  NamedNumbers kept, begun; ///< as the checkpoint has it; as a new run's
  NamedNumbers dropped;     ///< the graph's scaler has no use for it
  bool isNone() const { return begun.empty() && dropped.empty(); }
};

/// A checkpoint file, read and validated but not yet applied.
class Checkpoint {
public:
  /// `path` is the file or the run folder that holds `checkpoint.safetensors`.
  static llvm::Expected<Checkpoint> open(llvm::StringRef path);

  const RunState &state() const { return run; }
  /// The loss scale that the next step has, or where the scaler never changes
  /// it, that of the last.
  double scale() const;
  /// Fills every variable that is saved, begins a window and runs `derive`. A
  /// loss scaler may be another: what it lacks in the file begins anew. The
  /// error names the variables that are missing, unknown, or of another type;
  /// the session is not touched then.
  llvm::Expected<ScalerChange> restore(Session &session) const;

private:
  Safetensors file;
  Roles roles;
  RunState run;
  std::string print; ///< the fingerprint in the file
};

/// Which weights of a checkpoint: as trained, or their moving averages where a
/// recipe's `ema` keeps any, or those that training begins with: histories of
/// 8-bit training, which other weights come without, then stay empty.
enum class Weights { Trained, Averaged, Initial };

/// Fills parameters and buffers by name, converting between floating-point
/// types, then runs `derive`; all other state stays as it is. `path` is a
/// safetensors file (such as a PyTorch state_dict), a checkpoint, or a run
/// folder. The error lists missing and unexpected names; the session is not
/// touched then.
llvm::Error loadWeights(llvm::StringRef path, Session &session,
                        Weights which = Weights::Trained);

/// How many tensors were exported, and their bytes.
struct Exported {
  size_t tensors = 0;
  uint64_t bytes = 0;
};

/// Writes the parameters and buffers of a checkpoint (or run folder) to a
/// safetensors file: no slot, no scaler, no history of 8-bit training, so that
/// PyTorch's load_state_dict takes it. `which` is Trained or Averaged.
llvm::Expected<Exported> exportWeights(llvm::StringRef from, llvm::StringRef to,
                                       Weights which = Weights::Trained);

/// `path`, or the checkpoint inside it where it is a folder.
std::string checkpointPath(llvm::StringRef path);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_CHECKPOINT_H
