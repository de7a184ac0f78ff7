//===- Passes.h - every pass ----------------------------------------------===//
#ifndef MP_PASSES_PASSES_H
#define MP_PASSES_PASSES_H

#include "dialect/Mp.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "program/RecipeSettings.h"

namespace mp {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/autocast/Passes.h.inc"
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/autodiff/Passes.h.inc"
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/inspect/Passes.h.inc"
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/kernels/Passes.h.inc"
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/step/Passes.h.inc"

/// Registers every pass, for names in pipelines.
inline void registerMpPasses() {
  registerMpAutocastPasses();
  registerMpAutodiffPasses();
  registerMpInspectPasses();
  registerMpKernelsPasses();
  registerMpStepPasses();
}

/// What the pipelines take.
struct PipelineOptions : RecipeSettings {
  int64_t batch = 0;         ///< binds `?`; 0: the graph has none
  int64_t totalSteps = 0;    ///< length of schedules
  bool masterWeights = true; ///< whether mp-master-weights runs
  bool recordCasts = false;  ///< whether mp-autocast leaves `kCastsAttr`
  /// Passes beside those of the pipeline, in the order of this list where
  /// several stand in one place: PassInsertion.
  std::vector<std::string> insertPasses = {};
  /// An insertion beside a pass that the pipeline lacks is no error: it is for
  /// another pipeline of the same run.
  bool isPartOfRun = false;
  std::string mode = "eval"; ///< of a function that is run: or "train"
};

/// On a module: what mp-autocast made of each op and why, JSON as a string.
inline constexpr llvm::StringLiteral kCastsAttr = "mp.casts";

/// What a precision's name asks for.
struct Precision {
  llvm::StringRef name;
  llvm::StringRef dtype;  ///< that autocast takes; empty: what the recipe says
  llvm::StringRef policy; ///< empty: what the recipe says
  llvm::StringRef scaler; ///< as of mp-loss-scale
};
/// Known are fp32, tf32, fp16, bf16, fp8, other names of these ("half") and of
/// Lightning, Keras and Apex. An error lists them. No name asks for nothing.
llvm::Expected<Precision> resolvePrecision(llvm::StringRef name);

/// What mp-loss-scale is told: what the options say, else what the precision's
/// name means; empty: the recipe's scaler.
llvm::Expected<std::string> chooseScaler(const PipelineOptions &options);

/// From a recipe to its entry points `step` and `derive`, as kernels.
llvm::Error buildTrainPipeline(mlir::OpPassManager &manager,
                               const PipelineOptions &options);
/// From a recipe to a step that returns records of all its values
/// (mp-instrument) and changes no state, as kernels.
llvm::Error buildDiagnosePipeline(mlir::OpPassManager &manager,
                                  const PipelineOptions &options);
/// From a recipe's function to the entry points `evaluate` and `derive`, as
/// kernels.
llvm::Error buildEvaluatePipeline(mlir::OpPassManager &manager,
                                  const PipelineOptions &options);
/// From a recipe's function to one that returns, computed in f32, the gradients
/// that training has in f16.
llvm::Error buildCalibratePipeline(mlir::OpPassManager &manager,
                                   const PipelineOptions &options);
/// Any function in the options' mode, as kernels.
llvm::Error buildRunPipeline(mlir::OpPassManager &manager,
                             const PipelineOptions &options);

/// Makes `mp-train-pipeline` and its kin known to mp-opt.
void registerPipelines();

} // namespace mp

#endif // MP_PASSES_PASSES_H
