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

namespace {
struct Precision {
  StringRef name, dtype;
};
} // namespace

static const Precision kPrecisions[] = {
    {"fp32", "f32"},
    {"O0", "f32"}, // Apex
    {"tf32", "tf32"},
    {"fp16", "f16"},
    {"16-mixed", "f16"},
    {"mixed_float16", "f16"},
    {"O1", "f16"}, // Lightning, Keras, Apex
    {"bf16", "bf16"},
    {"bf16-mixed", "bf16"},
    {"mixed_bfloat16", "bf16"},
};

llvm::Expected<std::string> mp::resolvePrecision(StringRef name) {
  if (name.empty())
    return std::string();
  std::vector<std::string> names;
  for (const Precision &precision : kPrecisions) {
    if (precision.name == name)
      return precision.dtype.str();
    names.push_back(precision.name.str());
  }
  return llvm::createStringError("unknown precision \"" + name +
                                 "\", expected " + llvm::join(names, ", "));
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

static void addKernels(OpPassManager &manager) {
  addCleanUp(manager);
  manager.addNestedPass<func::FuncOp>(createFuse());
  manager.addNestedPass<func::FuncOp>(createLowerKernels());
}

/// Casts decided on the forward graph, static shapes before.
static llvm::Error addForward(OpPassManager &manager,
                              const PipelineOptions &options, StringRef mode) {
  auto dtype = resolvePrecision(options.precision);
  if (!dtype)
    return dtype.takeError();
  manager.addPass(createNumberStreams());
  // The mode first: a batch of one row is too small to train some ops, but not
  // to evaluate them.
  manager.addPass(createSetMode({mode.str()}));
  manager.addPass(createSpecialize({options.batch}));
  AutocastOptions autocast;
  autocast.dtype = *dtype;
  autocast.policy = options.policy;
  manager.addPass(createAutocast(autocast));
  return llvm::Error::success();
}

/// Loss scaling is for f16: a precision asked for by name brings the scaler
/// (the recipe's, or one with the preset's fields) or leaves it idle. Without a
/// name the recipe decides.
static llvm::Expected<std::string>
chooseScaler(const PipelineOptions &options) {
  auto dtype = resolvePrecision(options.precision);
  if (!dtype)
    return dtype.takeError();
  if (options.scaler.empty() && !dtype->empty())
    return std::string(*dtype == "f16" ? "torch" : "none");
  return options.scaler;
}

llvm::Error mp::buildTrainPipeline(OpPassManager &manager,
                                   const PipelineOptions &options) {
  auto scaler = chooseScaler(options);
  if (!scaler)
    return scaler.takeError();
  if (auto error = addForward(manager, options, "train"))
    return error;
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
  manager.addNestedPass<func::FuncOp>(createVerifyStep());
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

llvm::Error mp::buildRunPipeline(OpPassManager &manager,
                                 const PipelineOptions &options) {
  auto dtype = resolvePrecision(options.precision);
  if (!dtype)
    return dtype.takeError();
  manager.addPass(createSpecialize({options.batch}));
  AutocastOptions autocast;
  autocast.dtype = *dtype;
  autocast.policy = options.policy;
  manager.addPass(createAutocast(autocast));
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
  Option<std::string> recompute{
      *this, "recompute",
      llvm::cl::desc("what is kept for backward: marked, all or a size, "
                     "instead of the recipe's")};

  PipelineOptions get() const {
    return {batch,         precision,  scaler,   policy,    totalSteps,
            masterWeights, accumulate, clipNorm, clipValue, recompute};
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
  registerPipeline("mp-evaluate-pipeline",
                   "from a recipe's function to its evaluation, as kernels",
                   buildEvaluatePipeline);
  registerPipeline("mp-run-pipeline", "any function, as kernels",
                   buildRunPipeline);
}
