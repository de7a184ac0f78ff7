//===- Metrics.h - what a run writes about itself -------------------------===//
#ifndef MP_RUNTIME_TRAIN_METRICS_H
#define MP_RUNTIME_TRAIN_METRICS_H

#include "runtime/Profile.h"
#include "support/OutputFile.h"
#include <optional>
#include <utility>
#include <vector>

namespace mp {

using NamedNumbers = std::vector<std::pair<std::string, double>>;

/// One step, as metrics.jsonl has it.
struct StepMetrics {
  int64_t step = 0; ///< 1 is the first
  double loss = 0;
  double scale = 1; ///< loss scale that the step used
  /// A gradient was not finite, or a 16-bit copy: nothing was updated, or of
  /// several optimizers not all. `others` has `skipped.<name>` of each.
  bool skipped = false;
  bool exhausted = false; ///< and the scaler goes no lower; not in the file
  double lr = 0;
  double gradNorm = 0;
  double samplesPerSecond = 0;
  NamedNumbers others = {}; ///< further scalar results by name
  /// Where values stop being finite, of a step that was skipped for that or
  /// should have been: NonFiniteOrigin::str(). "" where all is well, or nobody
  /// asked.
  std::string nonFinite = {};

  /// Whether all optimizers skipped the step.
  bool changedNothing() const;
};

/// The object of one step, without a line feed. A number that is not finite is
/// null, as JSON has no word for it.
std::string toJson(const StepMetrics &metrics);

/// Appends to metrics.jsonl, or to another file of JSON objects with a "step",
/// one a line. Lines are kept in memory until `flush`.
class MetricsFile {
public:
  /// Keeps the lines of the first `steps` steps of an existing file, so that a
  /// resumed run does not write a step twice, and cuts off what follows.
  static llvm::Expected<MetricsFile> open(llvm::StringRef path, int64_t steps);

  void add(const StepMetrics &metrics) { add(metrics.step, toJson(metrics)); }
  /// An object that says it is of `step`.
  void add(int64_t step, llvm::StringRef object);
  llvm::Error flush();
  /// The step of the last line, kept or added.
  std::optional<int64_t> lastStep() const { return last; }

private:
  MetricsFile(OutputFile file, std::optional<int64_t> last)
      : file(std::move(file)), last(last) {}
  OutputFile file;
  std::string pending;
  std::optional<int64_t> last;
};

/// summary.json.
struct Summary {
  /// Mean loss over the last epoch's steps, skipped ones left out.
  std::optional<double> trainLoss;
  NamedNumbers test =
      {}; ///< scalar results of `evaluate`, means over the test set
  int64_t steps = 0, skippedSteps = 0; ///< skipped by any optimizer
  double finalScale = 1;
  double compileSeconds = 0; ///< until the first step could run
  /// Kernels that a device's compiler made, or its cache had: CompileCounts.
  uint64_t kernelCacheHits = 0, kernelCacheMisses = 0;
  double kernelCompileSeconds = 0;
  double trainSeconds = 0; ///< in steps, of this run
  uint64_t plannedBytes = 0, peakRssBytes = 0;
  std::string module = {}, file = {}; ///< name and path of the module
  /// The policy is empty where it is the precision's or the recipe's; the
  /// recipe where there is but one.
  std::string recipe = {}, precision = {}, policy = {}, scaler = {};
  std::string insertPasses = {}; ///< as in checkpoints
  std::string device = {};
  int64_t batch = 0, accumulate = 1; ///< samples; how many batches a step
  uint64_t seed = 0;
};

std::string toJson(const Summary &summary);

/// What --profile writes; bench/gpu/README.md says what the fields mean.
std::string toJson(const Profile &profile);

/// Highest resident memory of this process so far, in bytes.
uint64_t peakRssBytes();

} // namespace mp

#endif // MP_RUNTIME_TRAIN_METRICS_H
