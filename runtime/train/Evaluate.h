//===- Evaluate.h - scores of a model over a data set ---------------------===//
#ifndef MP_RUNTIME_TRAIN_EVALUATE_H
#define MP_RUNTIME_TRAIN_EVALUATE_H

#include "runtime/Model.h"
#include "runtime/train/Confusion.h"
#include "runtime/train/Metrics.h"

namespace mp {

/// The score that a classifier has beside its results, Confusion::macroF1 of
/// all samples: no mean over batches is one.
inline constexpr llvm::StringLiteral kMacroF1Score = "macro_f1";

/// Returns the batches of at most `batch` samples in which a data set, whose
/// lengths have been read, is evaluated: in the order of the files, or bucket
/// by bucket if the model has buckets.
llvm::Expected<BatchPlan> evaluationPlan(const Model &model,
                                         const Dataset &data, int64_t batch);

/// Runs `evaluate` over all samples in batches of `batch`. Returns the mean of
/// each named scalar result, in which every sample has the same weight, and for
/// a classifier kMacroF1Score. If there is a place for a confusion, it is set
/// where the model is a classifier.
llvm::Expected<NamedNumbers>
scores(Model &model, const Dataset &data, int64_t batch,
       std::optional<Confusion> *confusion = nullptr);

/// Rows of a batch that is evaluated or predicted, unless someone says.
inline constexpr int64_t kEvaluatedRows = 256;

struct EvalOptions {
  std::string module;                   ///< path of the .mlir file
  std::optional<std::string> text = {}; ///< as in ModelOptions
  std::string data;                     ///< folder of the data source `test`
  std::string checkpoint;      ///< checkpoint, weights, or a run folder
  std::string precision;       ///< empty: the checkpoint's, else the recipe's
  std::string policy;          ///< likewise
  std::string function;        ///< recipe; empty: the only one
  std::string device = "auto"; ///< a name that chooseDevice accepts
  bool averaged = false; ///< whether to take the moving averages of the weights
  /// Rows of a batch. Nothing: kEvaluatedRows, or a row for each text that goes
  /// on from batch to batch.
  std::optional<int64_t> batch = {};
  std::vector<int64_t> buckets = {}; ///< as in TrainOptions
  unsigned threads = 0;
  std::string plan; ///< path of a tuning plan, for a CUDA device
  std::vector<std::string> predictions = {}; ///< as in CompileOptions
  std::vector<std::string> plugins = {},
                           insertPasses = {}; ///< as in CompileOptions
  bool onednn = false;
  std::function<void(llvm::StringRef)> onNote = {}; ///< as in ModelOptions
};

/// A model with the weights of a checkpoint.
struct TrainedModel {
  std::unique_ptr<Model> model;
  std::vector<std::string> classes; ///< as in RunState

  /// Opens the module, in the precision of the options or of the checkpoint.
  static llvm::Expected<TrainedModel> open(const EvalOptions &options,
                                           Compiler compiler,
                                           SessionFactory createSession);
  /// Compiles an entry point and loads the weights.
  llvm::Expected<Executable *> load(const EvalOptions &options, Goal goal,
                                    llvm::StringRef entry, BatchSize batch);
};

/// Loads a checkpoint's weights and scores them on the data source `test`.
llvm::Expected<NamedNumbers>
evaluate(const EvalOptions &options, Compiler compiler,
         SessionFactory createSession = Session::create);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_EVALUATE_H
