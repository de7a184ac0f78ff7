//===- Trainer.h - trains a module on a folder of data --------------------===//
//
// The C++ API of training, without a type of MLIR. `examples/train_api.cpp`
// shows it in thirty lines.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_TRAIN_TRAINER_H
#define MP_RUNTIME_TRAIN_TRAINER_H

#include "runtime/data/Prefetcher.h"
#include "runtime/numerics/NanCheck.h"
#include "runtime/train/Checkpoint.h"
#include "runtime/train/Evaluate.h"
#include "runtime/train/Progress.h"
#include "runtime/train/StepProgram.h"
#include "runtime/train/TrainingLedger.h"
#include <chrono>
#include <deque>

namespace mp {

class Interrupt;

/// What to train on what. A field or a setting that is left unset is the
/// checkpoint's when a run is resumed, and else has the default named here.
///
/// With `nanCheck` "step" or "all", StepMetrics::nonFinite and
/// RUN/offenders.jsonl name the first op whose result is not finite, of each
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
  std::optional<int64_t> batch;  ///< 32 records
  std::optional<uint64_t> seed;  ///< 0; of initialisers, order and random ops
  std::optional<bool> shuffle;   ///< true
  std::optional<bool> dropLast;  ///< false: train on each epoch's remainder too
  int64_t maxSteps =
      0; ///< stop after this many steps, those before a resume
         ///< included; the schedule keeps its length. 0: no limit
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

class Trainer {
public:
  /// Compiles the step, binds and checks the data, initialises, loads the
  /// weights or the checkpoint. `compiler` is mp::compile. Errors are located
  /// and name the file that is wrong.
  static llvm::Expected<std::unique_ptr<Trainer>>
  create(TrainOptions options, Compiler compiler,
         SessionFactory createSession = Session::create);
  ~Trainer();

  /// Runs one step on the next batch and waits for it. Error after the last
  /// step, which is that of `maxSteps` where there is one.
  llvm::Expected<StepMetrics> step();

  /// Runs the steps that are left; writes plan.json, casts.json, metrics.jsonl,
  /// checkpoint.safetensors, summary.json and, where it is asked for,
  /// ledger.jsonl to the run folder; scores the data source `test` if there is
  /// one; profiles where that is asked for and no signal came. An error, once
  /// all that is saved, where the loss scaler gave up, `maxSkipped` steps in a
  /// row were skipped, or all steps were: it says what explainSkip() does.
  llvm::Expected<TrainOutcome> train();

  /// Runs the last step again, in a form that changes no state, and says where
  /// a value stops being finite first: "mp.exp at net.mlir:5:8", or "input
  /// 'x'", or "" where all are. Compiles that form when it is first asked for.
  llvm::Expected<std::string> explainSkip();

  /// What a whole batch's step costs; of micro-batches, what one and the update
  /// cost. The state is as before.
  llvm::Expected<Profile> profile();

  /// Means of the scalar results of `evaluate` over the data source `test`.
  llvm::Expected<NamedNumbers> evaluate();

  /// Writes a checkpoint of this moment.
  llvm::Error save(llvm::StringRef path);
  /// Goes back to (or on from) a checkpoint of the same graph, data and batch.
  llvm::Error load(llvm::StringRef path);

  /// The state variables: read(name, bytes) and write(name, bytes).
  Session &session() { return model->session(); }
  int64_t stepsDone() const { return run.step; }
  int64_t stepsPerEpoch() const { return plan.stepsPerEpoch(); }
  /// Length of the schedule: epochs times steps per epoch.
  int64_t totalSteps() const { return run.epochs * plan.stepsPerEpoch(); }
  double compileSeconds() const { return secondsToCompile; }

private:
  using Clock = std::chrono::steady_clock;

  /// A step that was submitted and whose metrics nobody has seen.
  struct StepUnderWay {
    const StepProgram *program;
    Executable::Ticket ticket;
    Clock::time_point start;
  };

  Trainer() = default;
  llvm::Error setUp(Compiler compiler, SessionFactory createSession);
  llvm::Error resolve(const std::optional<Checkpoint> &checkpoint);
  llvm::Error findData();
  /// At the same time, as unpacking takes a quarter of a second.
  llvm::Error readDataAndCompile();
  llvm::Error compileStep();
  llvm::Error apply(const Checkpoint &checkpoint);
  /// Where the scaler is static:auto, chooses the scale; the run's scaler is
  /// then static:N.
  llvm::Error chooseScale(ModelOptions options, Compiler compiler,
                          const SessionFactory &createSession);
  /// Where a ledger is asked for, makes ready what writes it.
  llvm::Error setUpLedger(ModelOptions options, Compiler compiler,
                          const SessionFactory &createSession);
  /// Cuts off the lines of steps that are run again; an earlier run's too,
  /// where no ledger is asked for.
  llvm::Error openLedger();
  /// Unless there is one of this moment.
  llvm::Error writeLedger(Progress &progress);
  std::string calibrateCommand() const;
  void announce();
  llvm::Expected<StepProgram *> program(int64_t rows);
  llvm::Error submitStep();
  llvm::Error submitUntil(int64_t pause);
  llvm::Expected<StepMetrics> finishStep();
  StepMetrics readResults(const StepProgram &program,
                          Executable::Results results) const;
  void count(const StepMetrics &metrics);
  bool givesUp(const StepMetrics &metrics);
  llvm::Error checkSkips();
  /// Runs a step again, from 0, in a form that changes nothing, and looks at
  /// every op. The state is that before the step or, where it is the last and
  /// was skipped, rewinds to that.
  llvm::Expected<std::optional<Offender>> replayStep(int64_t step,
                                                     bool rewinds);
  /// Behind a step that broke the state: runs again from the last state that
  /// was saved, or from the beginning, up to before that step, as bits are the
  /// same, and looks at it there.
  llvm::Error goBack(StepMetrics &metrics, const Interrupt &interrupt);
  /// To the first step of this run.
  llvm::Error begin();
  /// Of a step, from 0, and its micro-batch, or all of it.
  static constexpr int64_t wholeStep = -1;
  void describeSamples(Offender &offender, int64_t step, int64_t micro) const;
  llvm::Error lookAtGathered(Executable &executable, Executable::Ticket ticket,
                             int64_t micro);
  llvm::Error lookAtStep(const Entry &entry, Executable::Results results,
                         StepMetrics &metrics);
  void note(Offender found, StepMetrics &metrics);
  /// On the screen and in offenders.jsonl.
  llvm::Error tellOffender(Progress &progress, const StepMetrics &metrics);
  llvm::Error openOffenders();
  llvm::Error writeValues() const;
  int64_t lastStep() const;
  int64_t submitted() const { return run.step + underWay.size(); }
  llvm::Expected<bool> runSteps(double &seconds);
  llvm::Error saveKeepingEarlier();
  llvm::Error writeProfile();
  llvm::Error writeTrace();
  /// With what is known before the first step.
  llvm::Error makeRunFolder();
  llvm::Error writeFile(llvm::StringRef name, llvm::StringRef text);
  Summary summarize(double trainSeconds) const;
  std::string outPath(llvm::StringRef name) const;

  TrainOptions options;
  std::shared_ptr<Trace> trace; ///< null: nobody asks
  std::unique_ptr<Model> model;
  std::optional<Dataset> trainData, testData;
  BatchPlan plan;
  RunState run;
  ColumnBinding binding;
  std::map<int64_t, StepProgram> programs; ///< by rows
  std::unique_ptr<Prefetcher> batches;     ///< of the steps from run.step on
  std::deque<StepUnderWay> underWay;       ///< steps from run.step on
  Clock::time_point lastFinish = {};
  double secondsToCompile = 0;
  std::unique_ptr<TrainingLedger> ledger; ///< null: nobody asks
  bool hasSaved = false;    ///< the run folder's checkpoint is of this run
  int64_t skippedInRow = 0; ///< steps that changed nothing, up to the last
  bool hasTrained = false;  ///< whether any step changed something
  std::string scaler;       ///< that the run trains with, by name
  std::string scalerFields; ///< Program's, of that scaler
  std::string casts;        ///< CompileOptions::onCasts of a whole batch's step
  std::string gaveUp;       ///< why the run ends early; empty: it does not
  std::optional<Offender> offender;     ///< the last, where nanCheck asks
  bool stateIsBroken = false;           ///< by the last step
  std::optional<Offender> gathered;     ///< of the window that is under way
  std::optional<MetricsFile> offenders; ///< that were found, in the run folder
  int64_t offendersFound = 0;
  /// With nanCheck "all", what every op had: in the last micro-batch under way,
  /// or the first with an offender, and in the last step, or the last with an
  /// offender.
  std::vector<ValueRange> gatheredValues, values;
  int64_t valuesStep = 0;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TRAINER_H
