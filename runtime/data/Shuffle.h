//===- Shuffle.h - the order of samples in an epoch -----------------------===//
#ifndef MP_RUNTIME_DATA_SHUFFLE_H
#define MP_RUNTIME_DATA_SHUFFLE_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace mp {

/// The order of `samples` samples in an epoch, the same on every machine: a
/// Fisher-Yates shuffle (Knuth, TAOCP 3.4.2, algorithm P) over Philox(seed,
/// epoch).
std::vector<int64_t> shuffledOrder(uint64_t seed, uint64_t epoch,
                                   int64_t samples);

/// The shuffled order, or the order of the files.
std::vector<int64_t> orderOfEpoch(uint64_t seed, uint64_t epoch,
                                  int64_t samples, bool shuffle);

/// Maps the steps of a run to the data. Step 0 is the first.
struct BatchPlan {
  int64_t samples = 0;
  int64_t batch = 1;     ///< rows of a step; at most `samples`
  bool dropLast = false; ///< leave the remainder of each epoch out
  /// The number of equal micro-batches that `batch` is split into.
  int64_t accumulate = 1;

  int64_t stepsPerEpoch() const {
    return dropLast ? samples / batch : (samples + batch - 1) / batch;
  }
  /// Rows of the last, smaller batch; 0 if there is none.
  int64_t remainder() const { return dropLast ? 0 : samples % batch; }
  int64_t epoch(int64_t step) const { return step / stepsPerEpoch(); }
  int64_t indexInEpoch(int64_t step) const { return step % stepsPerEpoch(); }
  int64_t rows(int64_t step) const {
    bool last = indexInEpoch(step) == stepsPerEpoch() - 1;
    return last && remainder() ? remainder() : batch;
  }

  int64_t microRows() const { return batch / accumulate; }
  /// Rows of the one smaller micro-batch of an epoch; 0 if there is none.
  int64_t microRemainder() const {
    return dropLast ? 0 : samples % microRows();
  }
  int64_t microBatches(int64_t step) const {
    return (rows(step) + microRows() - 1) / microRows();
  }
  /// The first row of a micro-batch in the order of its epoch.
  int64_t firstRow(int64_t step, int64_t micro) const {
    return indexInEpoch(step) * batch + micro * microRows();
  }
  int64_t rows(int64_t step, int64_t micro) const {
    return std::min(microRows(), rows(step) - micro * microRows());
  }
};

} // namespace mp

#endif // MP_RUNTIME_DATA_SHUFFLE_H
