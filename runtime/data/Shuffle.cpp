//===- Shuffle.cpp - the order of samples in an epoch ---------------------===//
#include "runtime/data/Shuffle.h"
#include "runtime/Initialize.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>
#include <utility>

namespace mp {

/// Each kind of order has a `tag` of its own: it must not share bits with the
/// others, nor with the random ops of a graph, which are keyed by the same
/// seed.
static std::vector<int64_t> shuffled(uint64_t seed, uint64_t epoch,
                                     int64_t samples, uint32_t tag) {
  std::vector<int64_t> order(samples);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t last = samples - 1; last > 0; --last) {
    auto bits = philox({uint32_t(last), uint32_t(uint64_t(last) >> 32),
                        uint32_t(epoch), uint32_t(epoch >> 32)},
                       {uint32_t(seed), uint32_t(seed >> 32) ^ tag});
    uint64_t random = uint64_t(bits[0]) << 32 | bits[1];
    // The high half of a product maps 64 bits onto [0, last] evenly to 2^-64
    // times the count (Lemire, "Fast random integer generation", 2019).
    auto pick = int64_t((__uint128_t(random) * uint64_t(last + 1)) >> 64);
    std::swap(order[last], order[pick]);
  }
  return order;
}

std::vector<int64_t> shuffledOrder(uint64_t seed, uint64_t epoch,
                                   int64_t samples) {
  return shuffled(seed, epoch, samples, /*tag=*/0x73687566); // "shuf"
}

std::vector<int64_t> shuffledBatches(uint64_t seed, uint64_t epoch,
                                     int64_t batches) {
  return shuffled(seed, epoch, batches, /*tag=*/0x62617463); // "batc"
}

std::vector<int64_t> orderOfEpoch(uint64_t seed, uint64_t epoch,
                                  int64_t samples, bool shuffle) {
  if (shuffle)
    return shuffledOrder(seed, epoch, samples);
  std::vector<int64_t> order(samples);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<BatchSize> BatchPlan::sizes(int64_t step) const {
  std::vector<BatchSize> sizes;
  auto add = [&](BatchSize size) {
    if (size.rows > 0 && std::ranges::find(sizes, size) == sizes.end())
      sizes.push_back(size);
  };
  if (!buckets) {
    add(microRows());
    add(microRemainder());
    return sizes;
  }
  for (int64_t end = step + stepsPerEpoch(); step < end; ++step) {
    LengthBuckets::Batch batch = bucketed(step);
    if (batch.rows >= microRows())
      add({microRows(), batch.length});
    add({batch.rows % microRows(), batch.length});
  }
  return sizes;
}

BatchSize BatchPlan::largest() const { return std::ranges::max(sizes()); }

std::vector<int64_t> BatchPlan::samplesOfBuckets() const {
  if (!buckets || !dropLast)
    return {};
  std::vector<int64_t> taken;
  for (const LengthBucket &bucket : buckets->all())
    if (bucket.batches)
      llvm::append_range(taken, buckets->samplesOf(bucket.length));
  return taken;
}

int64_t BatchPlan::firstStepOf(BatchSize wanted) const {
  int64_t step = 0;
  while (size(step, 0) != wanted)
    ++step;
  return step;
}

} // namespace mp
