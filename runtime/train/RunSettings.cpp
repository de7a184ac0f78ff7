//===- RunSettings.cpp - merges options with a checkpoint's ---------------===//
#include "runtime/train/RunSettings.h"
#include "program/Limits.h"
#include "program/Names.h"
#include "runtime/data/LengthBuckets.h"
#include "runtime/numerics/Calibration.h"
#include "support/Error.h"
#include "support/Number.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace mp {

std::string settingText(StringRef value) {
  return value.empty() ? "the recipe's" : ("'" + value + "'").str();
}

template <typename T> static std::string toText(const T &value) {
  if constexpr (std::is_floating_point_v<T>)
    return shortestDecimal(value);
  else
    return formatv("{0}", value).str();
}
static std::string describeOther(StringRef name, const std::string &checkpoint,
                                 const std::string &given) {
  return formatv("another {0}: the checkpoint has {1}, this run asks for '{2}'",
                 name, checkpoint, given);
}

static Error refuse(const std::string &other) {
  return makeError("cannot resume with {0}", other);
}

std::vector<std::pair<std::string, std::string>>
furtherSettings(const RecipeSettings &settings) {
  std::vector<std::pair<std::string, std::string>> texts;
  forEachSetting(
      [&]<typename T>(const SettingInfo &setting, T RecipeSettings::*field) {
        const T &value = settings.*field;
        bool isFurther = StringSwitch<bool>(setting.name)
                             .Cases({"precision", "policy", "scaler"}, false)
                             .Case("accumulate", false)
                             .Default(true);
        if (isFurther && value != T())
          texts.emplace_back(setting.name.str(), toText(value));
      });
  return texts;
}

/// Takes an option that was given, else the checkpoint's. It is an error to
/// give another value than the checkpoint's, which would not continue exactly.
template <typename T>
static Error settle(StringRef name, const std::optional<T> &given, bool resumed,
                    T &value) {
  if (given && resumed && *given != value)
    return refuse(
        describeOther(name, settingText(toText(value)), toText(*given)));
  value = given.value_or(value);
  return Error::success();
}

/// Does the same for the buckets. A run that began without them has none.
static Error settleBuckets(const std::vector<int64_t> &given, bool resumed,
                           std::vector<int64_t> &buckets) {
  if (resumed && !given.empty() && given != buckets)
    return refuse(formatv("other buckets: the checkpoint has {0}, this run "
                          "asks for {1}",
                          buckets.empty() ? "none" : bucketsText(buckets),
                          bucketsText(given)));
  if (!given.empty())
    buckets = given;
  return Error::success();
}

/// Does the same for each setting of the recipe. With `resumeAnyway`, the user
/// accepts another value, and a note says so.
static Error settleSettings(const TrainOptions &options,
                            const RecipeSettings &given, bool resumed,
                            RecipeSettings &run) {
  Error error = Error::success();
  auto another = [&](const std::string &text) {
    if (!options.resumeAnyway)
      error = joinErrors(std::move(error), refuse(text));
    else if (options.log)
      *options.log << "note: the run goes on with " << withoutControls(text)
                   << "\n";
  };
  forEachSetting(
      [&]<typename T>(const SettingInfo &setting, T RecipeSettings::*field) {
        const T &asked = given.*field;
        bool isAsked = asked != T();
        if (isAsked && resumed && setting.onResume == OnResume::MustAgree &&
            asked != run.*field)
          another(describeOther(
              setting.name,
              settingText(run.*field == T() ? "" : toText(run.*field)),
              toText(asked)));
        if (isAsked)
          run.*field = asked;
      });
  return error;
}

/// The recipe settings that the options request: a resumed run keeps the scale
/// that was calibrated when it started.
static RecipeSettings askedSettings(const TrainOptions &options,
                                    const Checkpoint *checkpoint) {
  RecipeSettings asked = options.settings();
  if (checkpoint && asked.scaler == kCalibratedScaler &&
      StringRef(checkpoint->state().scaler).starts_with("static:"))
    asked.scaler.clear();
  return asked;
}

static Error checkInitialWeights(const TrainOptions &options, bool resumed) {
  if (resumed && !options.init.empty())
    return makeError("initial weights and a checkpoint to resume exclude each "
                     "other");
  if (options.init.empty() && !options.initExcept.empty())
    return makeError("--init-except needs --init, the weights of which some "
                     "are not taken");
  // This is checked before data is read and kernels are compiled.
  if (!options.init.empty() && !sys::fs::exists(options.init))
    return makeError("{0}: no such file of initial weights", options.init);
  return Error::success();
}

static Error checkCounts(const RunState &run) {
  if (run.batch < 1 || run.epochs < 1 || run.epochs > kMostCount)
    return makeError("batch {0} or epochs {1} out of range, expected 1 to {2}",
                     run.batch, run.epochs, kMostCount);
  if (run.accumulate < 0 || run.accumulate > kMostCount ||
      run.batch > kMostCount)
    return makeError("{0} micro-batches of {1} samples, expected 1 to {2}",
                     run.accumulate, run.batch, kMostCount);
  return Error::success();
}

Expected<RunState> settleRun(const TrainOptions &options,
                             const Checkpoint *checkpoint) {
  bool resumed = checkpoint;
  if (Error error = checkInitialWeights(options, resumed))
    return error;
  RunState run;
  run.batch = 32;
  run.epochs = 1;
  if (resumed)
    run = checkpoint->state();
  auto all = [](auto... errors) {
    Error error = Error::success();
    ((error = joinErrors(std::move(error), std::move(errors))), ...);
    return error;
  };
  if (Error error =
          all(settle("batch", options.batch, resumed, run.batch),
              settle("seed", options.seed, resumed, run.seed),
              settle("shuffle", options.shuffle, resumed, run.shuffle),
              settle("drop-last", options.dropLast, resumed, run.dropLast),
              settleBuckets(options.buckets, resumed, run.buckets),
              settleSettings(options, askedSettings(options, checkpoint),
                             resumed, run)))
    return error;
  // Inserted passes are those of this run's options: a checkpoint is data, so
  // the passes that it names are not loaded.
  run.insertPasses = llvm::join(options.insertPasses, " --insert-pass ");
  // More epochs than planned are a new schedule that the user requested.
  run.epochs = options.epochs.value_or(run.epochs);
  run.evalEvery = options.evalEvery.value_or(run.evalEvery);
  run.patience = options.patience.value_or(run.patience);
  run.monitor = options.monitor.value_or(run.monitor);
  if (options.tensorBoard && options.out.empty())
    return makeError("TensorBoard's events are written to a run folder, and "
                     "there is none: name one, --out RUN");
  if (run.patience > 0 && run.monitor.empty())
    return makeError("patience needs a score to monitor, such as max:accuracy");
  if (Error error = checkCounts(run))
    return error;
  return run;
}

} // namespace mp
