//===- Pipeline.cpp - the passes in their order ---------------------------===//
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/analysis/SettingOptions.h"
#include "passes/inspect/PassInsertion.h"
#include "program/PrecisionName.h"
#include "support/Spelling.h"
#include "llvm/ADT/StringExtras.h"

namespace mp {
#define GEN_PASS_REGISTRATION
#include "passes/autocast/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/autodiff/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/decode/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/inspect/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/kernels/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/loops/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Precisions
//===----------------------------------------------------------------------===//

// f16 needs a loss scaler: the recipe's, or else the one that the precision's
// system brings. The other precisions train without one.
static constexpr Precision kPrecisions[] = {
    {.name = "fp32", .dtype = "f32", .scaler = "none"},
    {.name = "tf32", .dtype = "tf32", .scaler = "none"},
    {.name = "fp16", .dtype = "f16", .defaultScaler = "torch"},
    {.name = "bf16", .dtype = "bf16", .scaler = "none"},
    {.name = "fp8", .dtype = "bf16", .policy = "fp8", .scaler = "none"},
    // PyTorch Lightning
    {.name = "16-mixed", .dtype = "f16", .defaultScaler = "torch"},
    {.name = "bf16-mixed", .dtype = "bf16", .scaler = "none"},
    // Keras
    {.name = "mixed_float16",
     .dtype = "f16",
     .policy = "keras",
     .defaultScaler = "keras"},
    {.name = "mixed_bfloat16",
     .dtype = "bf16",
     .policy = "keras",
     .scaler = "none"},
    // Apex
    {.name = "O0", .dtype = "f32", .scaler = "none"},
    {.name = "O1",
     .dtype = "f16",
     .policy = "apex-o1",
     .defaultScaler = "apex"},
    {.name = "O2",
     .dtype = "f16",
     .policy = "apex-o2",
     .defaultScaler = "apex"},
    {.name = "O3", .dtype = "f16", .policy = "apex-o3", .scaler = "none"},
};

llvm::Expected<Precision> mp::resolvePrecision(StringRef given) {
  if (given.empty())
    return Precision();
  StringRef name = canonicalPrecision(given);
  std::vector<std::string> names;
  for (const Precision &precision : kPrecisions) {
    if (precision.name == name)
      return precision;
    names.push_back(precision.name.str());
  }
  auto nearest = nearestNames(name, names);
  return llvm::createStringError(
      "unknown precision \"" + name + "\"" +
      (nearest.empty()
           ? ", expected "
           : "; did you mean " + llvm::join(nearest, ", ") + "? There are ") +
      llvm::join(names, ", "));
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

static void addCleanUp(PassList &passes) {
  passes.add(createCanonicalizerPass());
  passes.add(createCSEPass());
}

static void addRandomKeys(PassList &passes) {
  passes.add(createNumberStreams());
  passes.add(createRandomKeys());
}

/// With `records`, adds a record of each value that a kernel stores.
static void addKernels(PassList &passes, bool records = false) {
  passes.add(createInlineRounds());
  passes.add(createJoinProducts());
  passes.add(createSliceOperands());
  addCleanUp(passes);
  passes.add(createFuse());
  if (records)
    passes.add(createInstrument({"step"}));
  passes.add(createRemoveCopies());
  passes.add(createShareStreams());
  passes.add(createLowerKernels());
}

/// Adds the numbers by which a calibration names values.
static void addNumbersOfHalves(PassList &passes) {
  passes.add(createNumberOps({"f16"}));
}

/// Returns the options' own settings, else those of the precision's name, else
/// the recipe's.
static llvm::Expected<AutocastOptions>
chooseAutocast(const PipelineOptions &options) {
  auto precision = resolvePrecision(options.precision);
  if (!precision)
    return precision.takeError();
  AutocastOptions autocast;
  autocast.dtype = precision->dtype.str();
  autocast.policy =
      options.policy.empty() ? precision->policy.str() : options.policy;
  autocast.record = options.recordCasts;
  return autocast;
}

/// Whether a function returns the types that autocast gives its results, or
/// those that it declares.
enum class Results { AsCast, AsDeclared };

/// Whether scans become loops where they can. What is said of each op, as of
/// its values, is said of those of each time step.
enum class Scans { Unrolled, Loops };

static Scans scansFor(const PipelineOptions &options) {
  bool hasRecords = options.nanCheck == "all" || options.nanCheck == "step";
  return hasRecords || !options.scales.empty() ? Scans::Unrolled : Scans::Loops;
}

/// Moves casts inside of loops and outside, and those that then stand at their
/// borders across these.
static void addCastPlaces(PassList &passes) {
  passes.add(createPlaceCasts());
  passes.add(createHoistLoops());
  passes.add(createPlaceCasts());
}

/// Adds casts, which are decided on the forward graph, and static shapes before
/// them.
static llvm::Error addForward(PassList &passes, const PipelineOptions &options,
                              StringRef mode, Scans scans,
                              Results results = Results::AsCast) {
  auto autocast = chooseAutocast(options);
  if (!autocast)
    return autocast.takeError();
  autocast->keepResults = results == Results::AsDeclared;
  if (!options.set.empty())
    passes.add(createOverrideRecipe(options));
  passes.add(createInline());
  passes.add(createNumberStreams()); // before scans become time steps
  passes.add(createUnrollScans({scans == Scans::Unrolled}));
  // The mode comes first: a batch of one row is too small to train some ops,
  // but not to evaluate them.
  passes.add(createSetMode({mode.str()}));
  passes.add(createSpecialize({options.batch}));
  passes.add(createOutlineLoops());
  passes.add(createRecognizeAttention());
  passes.add(createAutocast(*autocast));
  passes.add(createHoistLoops({/*casts=*/false}));
  return llvm::Error::success();
}

llvm::Expected<ScalerChoice> mp::chooseScaler(const PipelineOptions &options) {
  auto precision = resolvePrecision(options.precision);
  if (!precision)
    return precision.takeError();
  if (!options.scaler.empty())
    return ScalerChoice{.scaler = options.scaler};
  return ScalerChoice{.scaler = precision->scaler.str(),
                      .defaultScaler = precision->defaultScaler.str()};
}

static DataParallelOptions dataParallel(const PipelineOptions &options) {
  DataParallelOptions parallel;
  parallel.ranks = options.ranks;
  parallel.rows = options.batch;
  parallel.wire = options.wire;
  return parallel;
}

/// Adds the passes from a recipe to its step, verified, but not as kernels yet.
static llvm::Error addStep(PassList &passes, const PipelineOptions &options,
                           Scans scans) {
  auto scaler = chooseScaler(options);
  if (!scaler)
    return scaler.takeError();
  if (auto error = addForward(passes, options, "train", scans))
    return error;
  if (!options.scales.empty()) {
    SynthesizeScalesOptions scales;
    scales.scaler = scaler->scaler;
    scales.defaultScaler = scaler->defaultScaler;
    addNumbersOfHalves(passes);
    passes.add(createSynthesizeScales(options, scales));
  }
  if (options.ranks > 1 && options.batchNorm == "all")
    passes.add(createSyncBatchNorm());
  if (!options.lossChunks.empty())
    passes.add(createChunkLoss(options, {options.returnsNumbers}));
  passes.add(createAutodiff());
  if (!options.lossChunks.empty())
    passes.add(createOrderChunks());
  addCastPlaces(passes);
  passes.add(createSparseGradients());
  passes.add(createRecompute(options));
  passes.add(createLossScale({scaler->scaler, scaler->defaultScaler}));
  passes.add(createQuantize());
  passes.add(createAccumulate(options, {options.batch, options.ranks}));
  passes.add(createDataParallel(dataParallel(options)));
  if (options.masterWeights)
    passes.add(createMasterWeights());
  passes.add(createClipGradients(options));
  OptimizerOptions optimizer;
  optimizer.totalSteps = options.totalSteps;
  optimizer.steersLearningRate = options.steersLearningRate;
  optimizer.gradients.assign(options.gradients.begin(),
                             options.gradients.end());
  passes.add(createOptimizer(optimizer));
  if (options.shardOptimizer)
    passes.add(createShardOptimizer({options.ranks}));
  passes.add(createSymbolDCEPass());
  if (options.returnsNumbers)
    passes.add(createReturnNumbers());
  addRandomKeys(passes); // the optimizer's keys too
  passes.add(createPredicateStep());
  addCleanUp(passes);
  passes.add(createVerifyStep());
  return llvm::Error::success();
}

llvm::Error mp::buildTrainPipeline(OpPassManager &manager,
                                   const PipelineOptions &options) {
  PassList passes(manager, options.insertPasses);
  if (auto error = addStep(passes, options, scansFor(options)))
    return error;
  if (options.nanCheck == "all")
    passes.add(createInstrument());
  addKernels(passes, /*records=*/options.nanCheck == "step");
  return passes.finish(options.isPartOfRun);
}

llvm::Error mp::buildDiagnosePipeline(OpPassManager &manager,
                                      const PipelineOptions &options) {
  PassList passes(manager, options.insertPasses);
  if (auto error = addStep(passes, options, Scans::Unrolled))
    return error;
  passes.add(createInstrument({"all", /*replay=*/true}));
  addKernels(passes);
  return passes.finish(options.isPartOfRun);
}

/// Adds the passes of evaluation before those that form kernels.
static llvm::Error addEvaluation(PassList &passes,
                                 const PipelineOptions &options) {
  if (auto error = addForward(passes, options, "eval", Scans::Loops,
                              Results::AsDeclared))
    return error;
  passes.add(createExpandGradients());
  addCastPlaces(passes);
  passes.add(createQuantize());
  if (options.masterWeights)
    passes.add(createMasterWeights());
  return llvm::Error::success();
}

static KeepResultsOptions keptResults(const PipelineOptions &options) {
  KeepResultsOptions keep;
  keep.results.assign(options.results.begin(), options.results.end());
  return keep;
}

/// Adds the passes of prediction before those that form kernels.
static llvm::Error addPrediction(PassList &passes,
                                 const PipelineOptions &options) {
  if (auto error = addEvaluation(passes, options))
    return error;
  passes.add(createKeepResults(keptResults(options)));
  return llvm::Error::success();
}

llvm::Error mp::buildPredictPipeline(OpPassManager &manager,
                                     const PipelineOptions &options) {
  PassList passes(manager, options.insertPasses);
  if (auto error = addPrediction(passes, options))
    return error;
  addRandomKeys(passes);
  addKernels(passes);
  return passes.finish(options.isPartOfRun);
}

/// Adds the decoding of loops, which are unrolled before casts are decided. The
/// recipe stays, which says what the casts are.
static void addDecodedLoops(PassList &passes, const PipelineOptions &options) {
  passes.add(createInline());
  passes.add(createSetMode({"eval"}));
  passes.add(createSpecialize({options.batch}));
  KeepResultsOptions keep = keptResults(options);
  keep.keepRecipe = true;
  passes.add(createKeepResults(keep));
  passes.add(createRecognizeAttention()); // that stands beside loops
  passes.add(createDecode({options.tokens, options.text, /*onlyLoops=*/true}));
}

/// Builds one of the parts of a function that writes texts: mp-split-source.
static llvm::Error buildPart(OpPassManager &manager,
                             const PipelineOptions &options, StringRef part) {
  PassList passes(manager, options.insertPasses);
  addDecodedLoops(passes, options);
  if (auto error = addPrediction(passes, options))
    return error;
  passes.add(createDecode({options.tokens, options.text}));
  passes.add(createSplitSource({part.str()}));
  addRandomKeys(passes);
  addKernels(passes);
  return passes.finish(options.isPartOfRun);
}

llvm::Error mp::buildDecodePipeline(OpPassManager &manager,
                                    const PipelineOptions &options) {
  return buildPart(manager, options, "text");
}

llvm::Error mp::buildEncodePipeline(OpPassManager &manager,
                                    const PipelineOptions &options) {
  return buildPart(manager, options, "source");
}

llvm::Error mp::buildEvaluatePipeline(OpPassManager &manager,
                                      const PipelineOptions &options) {
  PassList passes(manager, options.insertPasses);
  if (auto error = addEvaluation(passes, options))
    return error;
  addRandomKeys(passes);
  addKernels(passes);
  return passes.finish(options.isPartOfRun);
}

llvm::Error mp::buildCalibratePipeline(OpPassManager &manager,
                                       const PipelineOptions &options) {
  PassList passes(manager, options.insertPasses);
  if (auto error = addForward(passes, options, "train", Scans::Unrolled))
    return error;
  addNumbersOfHalves(passes);
  passes.add(createWidenFloats({"f32"}));
  ExposeValuesOptions expose;
  expose.values = false;
  expose.gradients = true;
  passes.add(createExposeValues(expose));
  addRandomKeys(passes);
  addKernels(passes);
  return passes.finish(options.isPartOfRun);
}

llvm::Error mp::buildRunPipeline(OpPassManager &manager,
                                 const PipelineOptions &options) {
  PassList passes(manager, options.insertPasses);
  if (auto error = addForward(passes, options, options.mode, scansFor(options),
                              Results::AsDeclared))
    return error;
  passes.add(createExpandGradients());
  addCastPlaces(passes);
  passes.add(createQuantize());
  addRandomKeys(passes);
  addKernels(passes);
  return passes.finish(options.isPartOfRun);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
class TextOptions : public PassPipelineOptions<TextOptions> {
public:
  TextOptions() {
    forEachSetting(
        [&]<typename T>(const SettingInfo &info, T RecipeSettings::*field) {
          settings.add<OptionOf>(*this, info, field);
        });
  }
  TextOptions(const TextOptions &) = delete;

  PipelineOptions get() {
    PipelineOptions options;
    settings.readInto(options);
    options.batch = batch;
    options.totalSteps = totalSteps;
    options.masterWeights = masterWeights;
    options.returnsNumbers = returnsNumbers;
    options.mode = mode;
    options.tokens = tokens;
    options.ranks = ranks;
    options.shardOptimizer = shardOptimizer;
    return options;
  }

private:
  template <typename T> using OptionOf = Option<T>;
  SettingOptions settings;
  Option<int64_t> batch{*this, "batch", llvm::cl::desc("rows in a batch"),
                        llvm::cl::init(0)};
  Option<int64_t> totalSteps{*this, "total-steps",
                             llvm::cl::desc("steps of the run"),
                             llvm::cl::init(0)};
  Option<int64_t> ranks{*this, "ranks",
                        llvm::cl::desc("ranks that train together"),
                        llvm::cl::init(1)};
  Option<bool> shardOptimizer{
      *this, "shard-optimizer",
      llvm::cl::desc("divide the optimizer's state among ranks"),
      llvm::cl::init(false)};
  Option<bool> masterWeights{*this, "master-weights",
                             llvm::cl::desc("keep f32 masters"),
                             llvm::cl::init(true)};
  Option<bool> returnsNumbers{
      *this, "returns-numbers",
      llvm::cl::desc("drop the results of a step that are not one number, as "
                     "mp-run train does"),
      llvm::cl::init(false)};
  Option<int64_t> tokens{*this, "tokens",
                         llvm::cl::desc("tokens that mp-decode-pipeline "
                                        "computes at a time"),
                         llvm::cl::init(1)};
  Option<std::string> mode{
      *this, "mode",
      llvm::cl::desc("how mp-run-pipeline has dropout and batch norm: eval or "
                     "train"),
      llvm::cl::init("eval")};
};

using Build = llvm::Error (*)(OpPassManager &, const PipelineOptions &);

void registerPipeline(StringRef name, StringRef description, Build build) {
  registerPassPipeline(
      name, description,
      [build](OpPassManager &manager, StringRef text,
              function_ref<LogicalResult(const Twine &)> report) {
        TextOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        if (auto error = build(manager, options.get()))
          return report(toString(std::move(error)));
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> show) {
        show(TextOptions());
      });
}
} // namespace

void mp::registerMpPasses() {
  registerMpAutocastPasses();
  registerMpAutodiffPasses();
  registerMpDecodePasses();
  registerMpInspectPasses();
  registerMpKernelsPasses();
  registerMpLoopsPasses();
  registerMpStepPasses();
}

void mp::registerPipelines() {
  registerPipeline("mp-train-pipeline", "from a recipe to its step, as kernels",
                   buildTrainPipeline);
  registerPipeline("mp-diagnose-pipeline",
                   "from a recipe to records of all values of its step, as "
                   "kernels",
                   buildDiagnosePipeline);
  registerPipeline("mp-evaluate-pipeline",
                   "from a recipe's function to its evaluation, as kernels",
                   buildEvaluatePipeline);
  registerPipeline("mp-predict-pipeline",
                   "from a recipe's function to its prediction, as kernels",
                   buildPredictPipeline);
  registerPipeline("mp-decode-pipeline",
                   "from a recipe's function to its prediction a few tokens at "
                   "a time, as kernels",
                   buildDecodePipeline);
  registerPipeline("mp-encode-pipeline",
                   "from a recipe's function to what its texts are written "
                   "from, as kernels",
                   buildEncodePipeline);
  registerPipeline("mp-calibrate-pipeline",
                   "from a recipe's function to the gradients that training "
                   "has in f16, in f32, as kernels",
                   buildCalibratePipeline);
  registerPipeline("mp-run-pipeline", "any function, as kernels",
                   buildRunPipeline);
}
