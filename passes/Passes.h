//===- Passes.h - every pass ----------------------------------------------===//
#ifndef MP_PASSES_PASSES_H
#define MP_PASSES_PASSES_H

#include "dialect/LossScalerPresets.h"
#include "dialect/Mp.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "program/RecipeSettings.h"

namespace mp {

#define GEN_PASS_DECL
#include "passes/autocast/Passes.h.inc"
#define GEN_PASS_DECL
#include "passes/autodiff/Passes.h.inc"
#define GEN_PASS_DECL
#include "passes/decode/Passes.h.inc"
#define GEN_PASS_DECL
#include "passes/inspect/Passes.h.inc"
#define GEN_PASS_DECL
#include "passes/kernels/Passes.h.inc"
#define GEN_PASS_DECL
#include "passes/loops/Passes.h.inc"
#define GEN_PASS_DECL
#include "passes/step/Passes.h.inc"

// Passes with settings of a recipe among their options, which the records do
// not declare.
std::unique_ptr<mlir::Pass> createAccumulate(const RecipeSettings &settings,
                                             const AccumulateOptions &options);
std::unique_ptr<mlir::Pass> createChunkLoss(const RecipeSettings &settings,
                                            const ChunkLossOptions &options);
std::unique_ptr<mlir::Pass> createClipGradients(const RecipeSettings &settings);
std::unique_ptr<mlir::Pass>
createOverrideRecipe(const RecipeSettings &settings);
std::unique_ptr<mlir::Pass> createRecompute(const RecipeSettings &settings);
std::unique_ptr<mlir::Pass>
createSynthesizeScales(const RecipeSettings &settings,
                       const SynthesizeScalesOptions &options);

/// Registers every pass, for names in pipelines.
void registerMpPasses();

/// The options of the pipelines.
struct PipelineOptions : RecipeSettings {
  int64_t batch = 0;           ///< binds `?`; 0: the graph has no `?`
  int64_t ranks = 1;           ///< that train together: mp-data-parallel
  bool shardOptimizer = false; ///< whether mp-shard-optimizer runs
  int64_t totalSteps = 0;      ///< length of schedules
  bool masterWeights = true;   ///< whether mp-master-weights runs
  bool recordCasts = false;    ///< whether mp-autocast leaves `kCastsAttr`
  /// Passes beside those of the pipeline; several at one place run in the order
  /// of this list: PassInsertion.
  std::vector<std::string> insertPasses = {};
  /// An insertion beside a pass that the pipeline lacks is not an error: it is
  /// for another pipeline of the same run.
  bool isPartOfRun = false;
  bool returnsNumbers = false; ///< whether mp-return-numbers runs
  /// Options of mp-optimizer.
  bool steersLearningRate = false;
  std::vector<std::string> gradients = {};
  std::vector<std::string> results = {}; ///< of mp-keep-results
  int64_t tokens = 1;                    ///< of mp-decode
  std::string text = {};                 ///< its input
  std::string mode = "eval"; ///< of a function that is run: "eval" or "train"
};

/// The limit of ops in a function after calls are inlined and scans unrolled:
/// far more than networks have that a person wrote.
inline constexpr uint64_t kMostOps = 100'000;

/// On an op: the number of the part of a loss that it belongs to, by
/// mp-chunk-loss.
inline constexpr llvm::StringLiteral kChunkAttr = "mp.chunk";

/// On a function: the places that its arguments had before mp-keep-results.
inline constexpr llvm::StringLiteral kArgumentsAttr = "mp.arguments";
/// On a function: the tokens of a text before mp-decode; 0: it may be longer.
inline constexpr llvm::StringLiteral kContextAttr = "mp.context";
/// On an argument of such a function: it holds the text.
inline constexpr llvm::StringLiteral kTextAttr = "mp.text";
/// The place of an argument that there was not.
inline constexpr int64_t kAddedArgument = -1;

/// On a module: mp-autocast's decision for each op and its reason, JSON as a
/// string.
inline constexpr llvm::StringLiteral kCastsAttr = "mp.casts";

/// The settings that a precision's name stands for.
struct Precision {
  llvm::StringRef name = {};
  llvm::StringRef dtype = {};  ///< of autocast; empty: the recipe's
  llvm::StringRef policy = {}; ///< empty: the recipe's
  /// As the fields of ScalerChoice.
  llvm::StringRef scaler = {}, defaultScaler = {};
};
/// Resolves fp32, tf32, fp16, bf16, fp8, other names of these ("half") and
/// names of Lightning, Keras and Apex. An error lists them. An empty name sets
/// nothing.
llvm::Expected<Precision> resolvePrecision(llvm::StringRef name);

/// Returns the options' loss scaler, or else the one that the precision's name
/// means.
llvm::Expected<ScalerChoice> chooseScaler(const PipelineOptions &options);

/// Builds the entry points `step` and `derive` of a recipe, as kernels.
llvm::Error buildTrainPipeline(mlir::OpPassManager &manager,
                               const PipelineOptions &options);
/// Builds a step of a recipe that returns records of all its values
/// (mp-instrument) and changes no state, as kernels.
llvm::Error buildDiagnosePipeline(mlir::OpPassManager &manager,
                                  const PipelineOptions &options);
/// Builds the entry points `evaluate` and `derive` of a recipe's function, as
/// kernels.
llvm::Error buildEvaluatePipeline(mlir::OpPassManager &manager,
                                  const PipelineOptions &options);
/// Builds the entry points `predict` and `derive` of a recipe's function: the
/// part of `evaluate` that mp-keep-results leaves, as kernels.
llvm::Error buildPredictPipeline(mlir::OpPassManager &manager,
                                 const PipelineOptions &options);
/// Builds the entry points `decode` and `derive`: as `predict`, for a few
/// tokens of each text at a time.
llvm::Error buildDecodePipeline(mlir::OpPassManager &manager,
                                const PipelineOptions &options);
/// Builds the entry points `encode` and `derive`: what `decode` needs of the
/// arguments beside its texts.
llvm::Error buildEncodePipeline(mlir::OpPassManager &manager,
                                const PipelineOptions &options);
/// Builds a function that returns, computed in f32, the gradients that training
/// has in f16.
llvm::Error buildCalibratePipeline(mlir::OpPassManager &manager,
                                   const PipelineOptions &options);
/// Builds any function in the options' mode, as kernels.
llvm::Error buildRunPipeline(mlir::OpPassManager &manager,
                             const PipelineOptions &options);

/// Registers `mp-train-pipeline` and the other pipelines for mp-opt.
void registerPipelines();

} // namespace mp

#endif // MP_PASSES_PASSES_H
