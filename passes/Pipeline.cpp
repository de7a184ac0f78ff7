//===- Pipeline.cpp - the passes in their order ---------------------------===//
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/Policy.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Precisions
//===----------------------------------------------------------------------===//

// A scaler is for f16: a precision asked for by name brings the recipe's, or
// that of its system where the recipe has none, or leaves it idle.
static constexpr Precision kPrecisions[] = {
    {"fp32", "f32", "", "none"},
    {"tf32", "tf32", "", "none"},
    {"fp16", "f16", "", "else:torch"},
    {"bf16", "bf16", "", "none"},
    {"fp8", "bf16", "fp8", "none"},
    // PyTorch Lightning
    {"16-mixed", "f16", "", "else:torch"},
    {"bf16-mixed", "bf16", "", "none"},
    // Keras
    {"mixed_float16", "f16", "keras", "else:keras"},
    {"mixed_bfloat16", "bf16", "keras", "none"},
    // Apex
    {"O0", "f32", "", "none"},
    {"O1", "f16", "apex-o1", "else:apex"},
    {"O2", "f16", "apex-o2", "else:apex"},
    {"O3", "f16", "apex-o3", "none"},
};

llvm::Expected<Precision> mp::resolvePrecision(StringRef name) {
  if (name.empty())
    return Precision();
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

static void addCleanUp(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

static void addRandomKeys(OpPassManager &manager) {
  manager.addPass(createNumberStreams());
  manager.addPass(createRandomKeys());
}

/// `records`: with a record of each value that a kernel stores.
static void addKernels(OpPassManager &manager, bool records = false) {
  addCleanUp(manager);
  manager.addNestedPass<func::FuncOp>(createFuse());
  if (records)
    manager.addNestedPass<func::FuncOp>(createInstrument({"step"}));
  manager.addNestedPass<func::FuncOp>(createLowerKernels());
}

/// By which a calibration names values.
static void addNumbersOfHalves(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createNumberOps({"f16"}));
}

/// What the options say, else what the precision's name means, else the recipe.
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

/// Casts decided on the forward graph, static shapes before.
static llvm::Error addForward(OpPassManager &manager,
                              const PipelineOptions &options, StringRef mode) {
  auto autocast = chooseAutocast(options);
  if (!autocast)
    return autocast.takeError();
  manager.addPass(createInline());
  manager.addPass(createNumberStreams());
  // The mode first: a batch of one row is too small to train some ops, but not
  // to evaluate them.
  manager.addPass(createSetMode({mode.str()}));
  manager.addPass(createSpecialize({options.batch}));
  manager.addPass(createAutocast(*autocast));
  return llvm::Error::success();
}

llvm::Expected<std::string> mp::chooseScaler(const PipelineOptions &options) {
  auto precision = resolvePrecision(options.precision);
  if (!precision)
    return precision.takeError();
  return options.scaler.empty() ? precision->scaler.str() : options.scaler;
}

/// From a recipe to its step, proven, but not as kernels yet.
static llvm::Error addStep(OpPassManager &manager,
                           const PipelineOptions &options) {
  auto scaler = chooseScaler(options);
  if (!scaler)
    return scaler.takeError();
  if (auto error = addForward(manager, options, "train"))
    return error;
  if (!options.scales.empty()) {
    SynthesizeScalesOptions scales;
    scales.calibration = options.scales;
    scales.scaler = *scaler;
    addNumbersOfHalves(manager);
    manager.addPass(createSynthesizeScales(scales));
  }
  manager.addPass(createAutodiff());
  manager.addPass(createPlaceCasts());
  manager.addPass(createRecompute({options.recompute}));
  manager.addPass(createLossScale({*scaler}));
  manager.addPass(createQuantize());
  manager.addPass(createAccumulate({options.accumulate, options.batch}));
  if (options.masterWeights)
    manager.addPass(createMasterWeights());
  manager.addPass(createClipGradients({options.clipNorm, options.clipValue}));
  manager.addPass(createOptimizer({options.totalSteps}));
  manager.addPass(createSymbolDCEPass());
  addRandomKeys(manager); // those of the optimizer too
  manager.addNestedPass<func::FuncOp>(createPredicateStep());
  addCleanUp(manager);
  manager.addPass(createVerifyStep());
  return llvm::Error::success();
}

llvm::Error mp::buildTrainPipeline(OpPassManager &manager,
                                   const PipelineOptions &options) {
  if (auto error = addStep(manager, options))
    return error;
  if (options.nanCheck == "all")
    manager.addNestedPass<func::FuncOp>(createInstrument());
  addKernels(manager, /*records=*/options.nanCheck == "step");
  return llvm::Error::success();
}

llvm::Error mp::buildDiagnosePipeline(OpPassManager &manager,
                                      const PipelineOptions &options) {
  if (auto error = addStep(manager, options))
    return error;
  manager.addNestedPass<func::FuncOp>(
      createInstrument({"all", /*replay=*/true}));
  addKernels(manager);
  return llvm::Error::success();
}

llvm::Error mp::buildEvaluatePipeline(OpPassManager &manager,
                                      const PipelineOptions &options) {
  if (auto error = addForward(manager, options, "eval"))
    return error;
  manager.addNestedPass<func::FuncOp>(createExpandGradients());
  manager.addPass(createPlaceCasts());
  manager.addPass(createQuantize());
  if (options.masterWeights)
    manager.addPass(createMasterWeights());
  addRandomKeys(manager);
  addKernels(manager);
  return llvm::Error::success();
}

llvm::Error mp::buildCalibratePipeline(OpPassManager &manager,
                                       const PipelineOptions &options) {
  if (auto error = addForward(manager, options, "train"))
    return error;
  addNumbersOfHalves(manager);
  manager.addNestedPass<func::FuncOp>(createWidenFloats({"f32"}));
  ExposeValuesOptions expose;
  expose.values = false;
  expose.gradients = true;
  manager.addPass(createExposeValues(expose));
  addRandomKeys(manager);
  addKernels(manager);
  return llvm::Error::success();
}

llvm::Error mp::buildRunPipeline(OpPassManager &manager,
                                 const PipelineOptions &options) {
  auto autocast = chooseAutocast(options);
  if (!autocast)
    return autocast.takeError();
  manager.addPass(createInline());
  manager.addPass(createSpecialize({options.batch}));
  manager.addPass(createAutocast(*autocast));
  manager.addNestedPass<func::FuncOp>(createExpandGradients());
  manager.addPass(createPlaceCasts());
  manager.addPass(createQuantize());
  addRandomKeys(manager);
  addKernels(manager);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
struct TextOptions : PassPipelineOptions<TextOptions> {
  Option<int64_t> batch{*this, "batch", llvm::cl::desc("rows in a batch"),
                        llvm::cl::init(0)};
  Option<std::string> precision{
      *this, "precision",
      llvm::cl::desc("fp32, fp16, bf16, ... instead of the recipe's")};
  Option<std::string> scaler{
      *this, "scaler",
      llvm::cl::desc("preset or none, instead of the recipe's")};
  Option<std::string> policy{
      *this, "policy",
      llvm::cl::desc("autocast policy instead of the recipe's")};
  Option<int64_t> totalSteps{*this, "total-steps",
                             llvm::cl::desc("steps of the run"),
                             llvm::cl::init(0)};
  Option<bool> masterWeights{*this, "master-weights",
                             llvm::cl::desc("keep f32 masters"),
                             llvm::cl::init(true)};
  Option<int64_t> accumulate{
      *this, "accumulate",
      llvm::cl::desc("micro-batches a step, instead of the recipe's"),
      llvm::cl::init(0)};

  Option<double> clipNorm{*this, "clip-norm",
                          llvm::cl::desc("largest norm of all gradients, "
                                         "instead of the recipe's"),
                          llvm::cl::init(0)};
  Option<double> clipValue{*this, "clip-value",
                           llvm::cl::desc("largest element of a gradient, "
                                          "instead of the recipe's"),
                           llvm::cl::init(0)};
  Option<std::string> scales{
      *this, "scales",
      llvm::cl::desc("calibration that mp-synthesize-scales reads")};
  Option<std::string> nanCheck{
      *this, "nan-check",
      llvm::cl::desc("records that the step returns: step or all")};
  Option<std::string> recompute{
      *this, "recompute",
      llvm::cl::desc("what is kept for backward: marked, all or a size, "
                     "instead of the recipe's")};

  PipelineOptions get() const {
    return {batch,      precision,     scaler,     policy,
            totalSteps, masterWeights, accumulate, clipNorm,
            clipValue,  recompute,     scales,     nanCheck};
  }
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
  registerPipeline("mp-calibrate-pipeline",
                   "from a recipe's function to the gradients that training "
                   "has in f16, in f32, as kernels",
                   buildCalibratePipeline);
  registerPipeline("mp-run-pipeline", "any function, as kernels",
                   buildRunPipeline);
}
