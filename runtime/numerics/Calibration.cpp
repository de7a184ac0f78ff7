//===- Calibration.cpp - gradient statistics that give a loss scale -------===//
#include "runtime/numerics/Calibration.h"
#include "program/Names.h"
#include "runtime/data/Prefetcher.h"
#include "runtime/train/CheckpointWeights.h"
#include "support/Error.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace mp {

double Calibration::scale() const { return std::ldexp(1.0, exponent); }

/// The last gradient is checked first, since backward computes it first.
static Error checkFinite(const Calibration &calibration, int64_t batch) {
  for (const GradientStatistics &gradient :
       reverse(calibration.ledger.gradients))
    if (uint64_t bad = gradient.magnitudes.nonFinite)
      return makeError(
          "batch {0}: the gradient of {1} has {2} numbers that are infinite or "
          "NaN, in f32 and without a scale: no loss scale mends this",
          batch, gradient.str(), bad);
  return Error::success();
}

static Error chooseScale(Calibration &calibration) {
  const Ledger &ledger = calibration.ledger;
  double largest = ledger.largest().magnitudes.largest;
  if (largest == 0)
    return makeError("all gradients are zero, that of {0} as the first of "
                     "backward: there is nothing to choose a scale by",
                     ledger.gradients.back().str());
  calibration.exponent = chooseExponent(largest, ledger.headroom);
  return Error::success();
}

static std::vector<Array> copyAll(const Entry &entry,
                                  Executable::Results results) {
  std::vector<Array> copies;
  for (size_t i = 0; i < results.size(); ++i) {
    char *storage;
    copies.push_back(Array::allocate(results.type(i), &storage));
    llvm::copy(results[i].bytes(), storage);
  }
  return copies;
}

Expected<Executable *> gradientsOf(Model &model, BatchSize size) {
  auto executable = model.get(Goal::Calibrate, kCalibrateEntry, size);
  if (executable && (*executable)->entry().results.empty())
    return makeError("training has no gradient in f16 ({0}): there is nothing "
                     "to choose a loss scale by, and none is needed",
                     model.precision());
  return executable;
}

Expected<Calibration> calibrate(Model &model, const Dataset &data,
                                const CalibrateOptions &options) {
  BatchSize largest = options.plan.largest();
  int64_t rows = largest.rows;
  auto executable = gradientsOf(model, largest);
  if (!executable)
    return executable.takeError();
  const Entry &entry = (*executable)->entry();
  Calibration calibration;
  calibration.module = model.moduleName();
  calibration.rows = rows;
  calibration.ledger.scale = options.scale;
  calibration.ledger.headroom = options.headroom;
  if (Error error = model.session().initialize(options.seed))
    return std::move(error);
  if (!options.init.empty())
    if (Error error =
            loadWeights(options.init, model.session(), Weights::Initial))
      return std::move(error);
  auto binding =
      data.bind(entry, largest.length, options.plan.samplesOfBuckets());
  if (!binding)
    return binding.takeError();
  int64_t steps = std::min(options.batches, options.plan.stepsPerEpoch());
  Prefetcher batches(data, std::move(*binding),
                     {.plan = options.plan,
                      .seed = options.seed,
                      .shuffle = options.shuffle,
                      .lastStep = steps});
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t micro = 0; micro < options.plan.microBatches(step); ++micro) {
      BatchSize size = options.plan.size(step, micro);
      bool isWhole = options.plan.buckets || size.rows == rows;
      auto gradients = gradientsOf(model, isWhole ? size : largest);
      if (!gradients)
        return gradients.takeError();
      if (calibration.batches == options.batches || !isWhole) {
        if (auto skipped = batches.take(); !skipped)
          return skipped.takeError();
        continue;
      }
      auto inputs = batches.take((*gradients)->entry());
      if (!inputs)
        return inputs.takeError();
      auto results = calibration.ledger.add(**gradients, *inputs, size.rows);
      if (!results)
        return results.takeError();
      if (options.keepsFirstBatch && calibration.batches == 0)
        calibration.firstBatch = copyAll((*gradients)->entry(), *results);
      if (Error error = checkFinite(calibration, ++calibration.batches))
        return std::move(error);
    }
  if (Error error = chooseScale(calibration))
    return std::move(error);
  return calibration;
}

} // namespace mp
