//===- Shuffle.h - the order of samples in an epoch -----------------------===//
#ifndef MP_RUNTIME_DATA_SHUFFLE_H
#define MP_RUNTIME_DATA_SHUFFLE_H

#include "runtime/data/LengthBuckets.h"
#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

namespace mp {

/// Returns the order of `samples` samples in an epoch, which is the same on
/// every machine: a Fisher-Yates shuffle (Knuth, TAOCP 3.4.2, algorithm P) over
/// Philox(seed, epoch).
std::vector<int64_t> shuffledOrder(uint64_t seed, uint64_t epoch,
                                   int64_t samples);

/// Returns an order of the batches of an epoch in the same way, independent of
/// that of the samples.
std::vector<int64_t> shuffledBatches(uint64_t seed, uint64_t epoch,
                                     int64_t batches);

/// Returns that order, or that of the files.
std::vector<int64_t> orderOfEpoch(uint64_t seed, uint64_t epoch,
                                  int64_t samples, bool shuffle);

/// The size of a batch, which has an entry point of its own: its rows, and the
/// length of its bucket, or 0 if samples have one length.
struct BatchSize {
  int64_t rows = 0, length = 0;
  BatchSize(int64_t rows, int64_t length = 0) : rows(rows), length(length) {}
  /// Longer ones are larger.
  std::strong_ordering operator<=>(const BatchSize &other) const {
    return std::pair(length, rows) <=> std::pair(other.length, other.rows);
  }
  bool operator==(const BatchSize &) const = default;
};

/// The assignment of samples to the steps of a run. Steps are counted from 0.
/// A step consists of micro-batches, of which each rank takes an equal share:
/// the first ones rank 0, the next ones rank 1, and so on.
struct BatchPlan {
  int64_t samples = 0;
  int64_t batch = 1;     ///< rows of a step; at most `samples`
  bool dropLast = false; ///< whether to leave out the remainder of each epoch
  /// The number of micro-batches of equal size in a batch; a multiple of the
  /// number of ranks.
  int64_t accumulate = 1;
  int64_t rank = 0, ranks = 1; ///< whose micro-batches these are
  /// The samples of each length, if a step takes those of one bucket. It has
  /// the same batch and dropLast, and the seed and the shuffling of the run.
  std::shared_ptr<const LengthBuckets> buckets = nullptr;

  int64_t stepsPerEpoch() const {
    return buckets ? buckets->batchesPerEpoch()
                   : samples / batch + (remainder() > 0);
  }
  /// Returns the rows of the last, smaller batch of an epoch without buckets,
  /// or 0.
  int64_t remainder() const { return dropLast ? 0 : samples % batch; }
  int64_t epoch(int64_t step) const { return step / stepsPerEpoch(); }
  int64_t indexInEpoch(int64_t step) const { return step % stepsPerEpoch(); }
  int64_t rows(int64_t step) const {
    if (buckets)
      return bucketed(step).rows;
    bool last = indexInEpoch(step) == stepsPerEpoch() - 1;
    return last && remainder() ? remainder() : batch;
  }

  int64_t microRows() const { return batch / accumulate; }
  /// The most micro-batches that a rank takes in a step.
  int64_t share() const { return accumulate / ranks; }
  /// Returns the rows of the one smaller micro-batch of an epoch without
  /// buckets, or 0.
  int64_t microRemainder() const { return remainder() % microRows(); }
  /// Whether a step has no rows for this rank, which then takes it with the
  /// first rows.
  bool isIdle(int64_t step) const {
    return rows(step) <= rank * share() * microRows();
  }
  /// Returns how many micro-batches of a step this rank takes.
  int64_t microBatches(int64_t step) const {
    if (isIdle(step))
      return 1;
    int64_t all = (rows(step) + microRows() - 1) / microRows();
    return std::min(all - rank * share(), share());
  }
  /// The place at which a micro-batch of this rank begins in the order of its
  /// epoch.
  int64_t firstRow(int64_t step, int64_t micro) const {
    int64_t first = buckets ? bucketed(step).first : indexInEpoch(step) * batch;
    return first + firstInStep(step, micro);
  }
  int64_t rows(int64_t step, int64_t micro) const {
    return std::min(microRows(), rows(step) - firstInStep(step, micro));
  }
  /// Returns the size of a micro-batch of this rank.
  BatchSize size(int64_t step, int64_t micro) const {
    return {rows(step, micro), buckets ? bucketed(step).length : 0};
  }

  /// Returns the sizes of micro-batches of all ranks in an epoch, in the order
  /// in which the steps from `step` on need them.
  std::vector<BatchSize> sizes(int64_t step = 0) const;
  /// Returns the largest of them.
  BatchSize largest() const;
  /// Returns the samples of the buckets that have batches, where smaller
  /// batches are left out; empty: all samples are taken.
  std::vector<int64_t> samplesOfBuckets() const;
  /// Returns the first step of an epoch whose first micro-batch has this size.
  int64_t firstStepOf(BatchSize size) const;
  /// Returns all samples in the order of an epoch.
  std::vector<int64_t> order(uint64_t seed, int64_t epoch, bool shuffle) const {
    return buckets ? buckets->order(epoch)
                   : orderOfEpoch(seed, epoch, samples, shuffle);
  }

private:
  LengthBuckets::Batch bucketed(int64_t step) const {
    return buckets->batch(epoch(step), indexInEpoch(step));
  }
  int64_t firstInStep(int64_t step, int64_t micro) const {
    return isIdle(step) ? 0 : (rank * share() + micro) * microRows();
  }
};

} // namespace mp

#endif // MP_RUNTIME_DATA_SHUFFLE_H
