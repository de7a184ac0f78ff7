//===- Metrics.h - metrics and summary of a run as files ------------------===//
#ifndef MP_RUNTIME_TRAIN_METRICS_H
#define MP_RUNTIME_TRAIN_METRICS_H

#include "runtime/Profile.h"
#include "support/OutputFile.h"
#include <optional>
#include <utility>
#include <vector>

namespace mp {

using NamedNumbers = std::vector<std::pair<std::string, double>>;

/// One step, as a line of metrics.jsonl.
struct StepMetrics {
  int64_t step = 0; ///< counted from 1
  double loss = 0;
  double scale = 1; ///< loss scale that the step used
  /// A gradient or a 16-bit copy was not finite: nothing was updated or, with
  /// several optimizers, not everything. `others` then has their
  /// `skipped.<name>`.
  bool skipped = false;
  bool exhausted = false; ///< the scaler cannot go lower; not in the file
  double lr = 0;
  double gradNorm = 0;
  double samplesPerSecond = 0;
  NamedNumbers others = {}; ///< further scalar results by name
  /// Where values stop being finite (NonFiniteOrigin::str()), if the step was
  /// skipped for that or should have been. "" if all are finite, or without a
  /// search.
  std::string nonFinite = {};

  /// Whether all optimizers skipped the step.
  bool changedNothing() const;
};

/// The JSON object of one step, without a line feed. A number that is not
/// finite is null, as JSON cannot express it.
std::string toJson(const StepMetrics &metrics);

/// Appends to metrics.jsonl, or to another file with one JSON object per line
/// that has a "step". Lines are kept in memory until `flush`.
class MetricsFile {
public:
  /// Keeps the lines of the first `steps` steps of an existing file and removes
  /// the rest, so that a resumed run does not write a step twice.
  static llvm::Expected<MetricsFile> open(llvm::StringRef path, int64_t steps);

  void add(const StepMetrics &metrics) { add(metrics.step, toJson(metrics)); }
  /// Adds an object, whose "step" must be `step`.
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

/// The content of summary.json.
struct Summary {
  /// Mean loss over the last epoch's steps that were not skipped.
  std::optional<double> trainLoss;
  NamedNumbers test =
      {}; ///< scalar results of `evaluate`, means over the test set
  int64_t steps = 0, skippedSteps = 0; ///< skipped by any optimizer
  double finalScale = 1;
  double compileSeconds = 0; ///< until the first step could run
  /// Kernels that the device's compiler made or its cache had: CompileCounts.
  uint64_t kernelCacheHits = 0, kernelCacheMisses = 0;
  double kernelCompileSeconds = 0;
  double trainSeconds = 0; ///< in steps, of this run
  uint64_t plannedBytes = 0, peakRssBytes = 0;
  std::string module = {}, file = {}; ///< name and path of the module
  /// The policy is empty if it is the precision's or the recipe's default; the
  /// recipe is empty if it is the only one.
  std::string recipe = {}, precision = {}, policy = {}, scaler = {};
  std::string insertPasses = {}; ///< as in checkpoints
  std::string device = {};
  int64_t batch = 0, accumulate = 1; ///< samples; micro-batches per step
  uint64_t seed = 0;
};

std::string toJson(const Summary &summary);

/// The JSON of --profile; bench/gpu/README.md describes the fields.
std::string toJson(const Profile &profile);

/// Highest resident memory of this process so far, in bytes.
uint64_t peakRssBytes();

} // namespace mp

#endif // MP_RUNTIME_TRAIN_METRICS_H
