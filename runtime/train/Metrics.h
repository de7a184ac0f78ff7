//===- Metrics.h - metrics and summary of a run as files ------------------===//
#ifndef MP_RUNTIME_TRAIN_METRICS_H
#define MP_RUNTIME_TRAIN_METRICS_H

#include "runtime/Profile.h"
#include "runtime/data/LengthBuckets.h"
#include "support/OutputFile.h"
#include <optional>
#include <utility>
#include <vector>

namespace mp {

using NamedNumbers = std::vector<std::pair<std::string, double>>;

/// The metrics of one step, which are a line of metrics.jsonl.
struct StepMetrics {
  int64_t step = 0; ///< counted from 1
  double loss = 0;
  double scale = 1; ///< loss scale that the step used
  /// Whether a gradient or a 16-bit copy was not finite, so that an optimizer
  /// skipped its update. With several optimizers, `others` holds
  /// `skipped.<name>` of each.
  bool skipped = false;
  bool exhausted = false; ///< whether the scaler cannot lower the scale
                          ///< further; not in the file
  double lr = 0;
  double gradNorm = 0;
  double samplesPerSecond = 0;
  /// The time that the host waited for the batch; not in the file. On a device
  /// it overlaps with earlier steps.
  double dataWaitSeconds = 0;
  NamedNumbers others = {}; ///< further scalar results by name
  /// The non-finite origin (NonFiniteOrigin::str()) of a step that was skipped,
  /// or should have been. "" if all values are finite, or without `nanCheck`.
  std::string nonFinite = {};

  /// Returns whether all optimizers skipped the step.
  bool changedNothing() const;
};

/// Returns the JSON object of one step, without a line feed. A number that is
/// not finite becomes null, since JSON cannot express it.
std::string toJson(const StepMetrics &metrics);

/// Returns a JSON object of whole numbers and others, without a line feed. A
/// number that is not finite becomes null.
std::string
toJson(llvm::ArrayRef<std::pair<llvm::StringLiteral, int64_t>> counts,
       const NamedNumbers &numbers);

/// Appends to metrics.jsonl, or to another file with one JSON object a line,
/// each with a "step". Lines are kept in memory until `flush`.
class MetricsFile {
public:
  /// Keeps the lines of the first `steps` steps of an existing file and removes
  /// the rest, so that a resumed run does not write a step twice.
  static llvm::Expected<MetricsFile> open(llvm::StringRef path, int64_t steps);

  void add(const StepMetrics &metrics) { add(metrics.step, toJson(metrics)); }
  /// Adds an object whose "step" is `step`.
  void add(int64_t step, llvm::StringRef object);
  /// Writes the lines so far. If that fails, they are kept for the next time,
  /// and the file has whole lines only.
  llvm::Error flush();
  bool hasPending() const { return !pending.empty(); }
  /// Returns the step of the last line.
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
  /// The mean loss over the applied steps of the last epoch.
  std::optional<double> trainLoss;
  NamedNumbers test =
      {}; ///< scalar results of `evaluate`, means over the test set
  int64_t steps = 0, skippedSteps = 0; ///< skipped by any optimizer
  /// The score that was monitored, as in TrainOptions, and its best value with
  /// its step; empty and 0 without one.
  std::string monitor = {};
  double bestScore = 0;
  int64_t bestStep = 0;
  std::string stopped = {}; ///< why the run ended early, and well; or ""
  double finalScale = 1;
  double compileSeconds = 0; ///< until the first step could run
  /// The kernels that were found in the cache or compiled: CompileCounts.
  uint64_t kernelCacheHits = 0, kernelCacheMisses = 0;
  double kernelCompileSeconds = 0;
  double trainSeconds = 0; ///< in steps, of this run
  /// The part of it in which the host waited for batches.
  double dataWaitSeconds = 0;
  uint64_t plannedBytes = 0, peakRssBytes = 0;
  std::string module = {}, file = {}; ///< name and path of the module
  /// The policy is empty if the precision or the recipe determines it. The
  /// recipe is empty if it is the only one.
  std::string recipe = {}, precision = {}, policy = {}, scaler = {};
  std::string insertPasses = {}; ///< as in checkpoints
  /// Other settings of the recipe that do not have their defaults.
  std::vector<std::pair<std::string, std::string>> settings = {};
  std::string device = {};
  int64_t batch = 0, accumulate = 1;      ///< samples; micro-batches per step
  std::vector<LengthBucket> buckets = {}; ///< none: samples have one length
  uint64_t seed = 0;
};

std::string toJson(const Summary &summary);

/// Returns what --profile writes. bench/gpu/README.md explains the fields.
std::string toJson(const Profile &profile);

/// Returns the highest resident memory of this process so far, in bytes.
uint64_t peakRssBytes();

} // namespace mp

#endif // MP_RUNTIME_TRAIN_METRICS_H
