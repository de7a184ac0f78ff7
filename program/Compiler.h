//===- Compiler.h - the compiler's interface for the runtime --------------===//
//
// The compiler's interface: text of a module in, Program out. No MLIR type
// crosses this header.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PROGRAM_COMPILER_H
#define MP_PROGRAM_COMPILER_H

#include "program/Program.h"
#include "program/RecipeSettings.h"
#include "llvm/ADT/ArrayRef.h"
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mp {

/// Receives each kernel as soon as it is compiled, from any thread, so that
/// linking overlaps with compiling the next.
class KernelSink {
public:
  virtual ~KernelSink() = default;
  /// Receives the headers that later kernels may include; called at most once,
  /// before all kernels.
  virtual void headers(llvm::ArrayRef<Header>) {}
  virtual void kernel(const Kernel &kernel) = 0;
};

class CodeStore;

/// A stretch of time that a compilation spent on one task.
struct CompileSpan {
  using Time = std::chrono::steady_clock::time_point;
  const char *what; ///< "parse", "passes", "kernel", "plan"
  std::string detail;
  Time begin, end;
};

/// The programs that the compiler can make of a module.
enum class Goal {
  Train,     ///< a recipe's entry points: `step` (or `accumulate` and `apply`)
             ///< and `derive`
  Evaluate,  ///< the recipe's function forward, in its precision: `evaluate`
  Diagnose,  ///< a recipe's step that changes no state and returns records of
             ///< all its values: `diagnose` (or `diagnose.accumulate` and
             ///< `diagnose.apply`)
  Run,       ///< any function, in CompileOptions::mode
  Predict,   ///< the recipe's function forward, for CompileOptions::predictions
             ///< alone, from the arguments that these need: `predict`
  Decode,    ///< as Predict, CompileOptions::tokens tokens of each text at a
             ///< time: `decode`, or `decode.32` for 32
  Encode,    ///< what Decode needs of the inputs beside the texts, which it
             ///< finds in variables: `encode`
  Calibrate, ///< the recipe's function and backward in f32: `calibrate` returns
             ///< the gradients that training has in f16
  Inspect,   ///< no entry point: variables and data sources alone
};

/// Whether a function predicts or trains. In evaluation, dropout passes its
/// operand on, batch norm uses the running statistics, and no variable is
/// written.
enum class Mode { Evaluate, Train };

struct CompileOptions : RecipeSettings {
  std::string filename = "<module>"; ///< for diagnostics
  Goal goal = Goal::Train;
  std::string function; ///< Run: the function to run (empty: the only one).
                        ///< Else: the recipe whose step is compiled
  Mode mode = Mode::Evaluate; ///< Run: the mode; other goals have their own
  int64_t batch = 0;          ///< binds `?`
  int64_t ranks = 1;          ///< that train together, each on its own batch
  /// Whether each rank keeps only a part of the optimizer's state:
  /// mp-shard-optimizer.
  bool shardOptimizer = false;
  int64_t totalSteps = 0; ///< length of schedules, if no step is skipped
  /// Values that a step returns beside its results: "grad:fc1.weight", the
  /// gradient that the optimizer takes, or "value:%h1", a value of the recipe's
  /// function by its name in the text. They have these names.
  std::vector<std::string> outputs = {};
  /// What `predict` returns: names of results, or "value:%logits"; empty: every
  /// result that has a dimension.
  std::vector<std::string> predictions = {};
  int64_t tokens = 1;    ///< Decode: the tokens of a call
  std::string text = {}; ///< Decode: the input that holds them; empty: the only
                         ///< one of integers of [batch, tokens]
  /// Whether a step returns single numbers alone, and `outputs`.
  bool returnsNumbers = false;
  /// Whether the learning rate of a step can be set: kLearningRateVariable.
  bool steersLearningRate = false;
  /// Shared libraries with the user's passes and dialects, and the places where
  /// passes run: "after=mp-autodiff:my-pass{by=2}" or "before=...";
  /// docs/own-passes.md. A static program refuses plugins.
  std::vector<std::string> plugins, insertPasses;
  std::string target = "cpu"; ///< or "cuda"
  /// LLVM's name of a CPU, empty: the host's; or a CUDA architecture, "sm_80"
  /// or later, empty: "sm_80".
  std::string arch;
  std::string features; ///< comma-separated LLVM features; empty: the host's
  /// The number of CPU threads that work is divided for. The bits do not depend
  /// on it.
  unsigned workers = 2;
  bool onednn = false;   ///< calls it for the CPU's products of f32 and bf16
  bool cublaslt = false; ///< may emit "cublaslt.*" calls
  bool cudnn = false;    ///< may emit "cudnn.*" calls
  std::string plan;      ///< text of a tuning plan, empty: none
  std::string planName;  ///< the plan's file; a named file is read
  unsigned threads = 0;  ///< compile jobs; 0: one for each core
  /// File for the module before a pass that fails or crashes, with the command
  /// that runs it again; empty: none. Passes then run on one thread.
  std::string reproducer;
  /// The store in which code is looked up before it is compiled; null: none.
  std::shared_ptr<CodeStore> store;
  /// Called with each span of time, on the thread that spent it.
  std::function<void(const CompileSpan &)> onSpan;
  /// Called with each warning, as located text without a trailing line feed;
  /// from any thread, but never two at once.
  std::function<void(llvm::StringRef)> onWarning;
  /// Called with the passes of each compilation, as mp-opt's --pass-pipeline
  /// takes them, before they run.
  std::function<void(llvm::StringRef)> onPipeline;
  /// Called with autocast's decision for each op and its reason, as the JSON of
  /// casts.json (docs/policies.md).
  std::function<void(llvm::StringRef)> onCasts;
};

/// Returns the name of an entry point. A goal without names of its own has that
/// of the function. `phase` is that of a step in phases, or empty.
std::string entryName(const CompileOptions &options, llvm::StringRef phase,
                      llvm::StringRef function);

/// Compiles a module's text, as mp::compile (codegen/Compile.h) does. The
/// runtime takes it as a value, and so does not link MLIR.
using Compiler = std::function<llvm::Expected<Program>(
    llvm::StringRef, const CompileOptions &, KernelSink *)>;

} // namespace mp

#endif // MP_PROGRAM_COMPILER_H
