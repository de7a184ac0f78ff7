//===- Calibration.cpp - the sizes of a network's gradients ---------------===//
#include "runtime/Calibration.h"
#include "runtime/Checkpoint.h"
#include "runtime/Error.h"
#include "runtime/data/Convert.h"
#include "runtime/data/Prefetcher.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;

namespace mp {

//===----------------------------------------------------------------------===//
// Magnitudes
//===----------------------------------------------------------------------===//

/// Of f16: the largest finite number, and the exponents of the largest, of the
/// least normal and of the least number of all.
static constexpr double kLargestHalf = 65504;
static constexpr int kMostHalf = 15, kLeastNormalHalf = -14, kLeastHalf = -24;

void Magnitudes::add(double element) {
  if (element == 0) {
    ++zeros;
  } else if (!std::isfinite(element)) {
    ++nonFinite;
  } else {
    largest = std::max(largest, std::abs(element));
    ++counts[std::clamp(std::ilogb(element), least, most) - least];
  }
}

void Magnitudes::add(const Magnitudes &other) {
  for (auto [count, more] : zip_equal(counts, other.counts))
    count += more;
  zeros += other.zeros;
  nonFinite += other.nonFinite;
  largest = std::max(largest, other.largest);
}

uint64_t Magnitudes::nonZeros() const { return sum_of(counts, uint64_t(0)); }

StringRef fateInHalf(int exponent) {
  // Half the least number and more is rounded up to it.
  return exponent < kLeastHalf - 1     ? "zero"
         : exponent < kLeastNormalHalf ? "subnormal"
         : exponent <= kMostHalf       ? "normal"
                                       : "infinite";
}

Magnitudes::Shares Magnitudes::inHalf(int shift) const {
  Shares shares;
  double one = 1.0 / std::max<uint64_t>(nonZeros(), 1);
  for (auto [i, count] : enumerate(counts)) {
    StringRef fate = fateInHalf(static_cast<int>(i) + least + shift);
    (fate == "zero"        ? shares.zero
     : fate == "subnormal" ? shares.subnormal
     : fate == "normal"    ? shares.normal
                           : shares.infinite) += count * one;
  }
  return shares;
}

//===----------------------------------------------------------------------===//
// Calibration
//===----------------------------------------------------------------------===//

std::string GradientStatistics::str() const { return origin + at(source); }

double Calibration::scale() const { return std::ldexp(1.0, exponent); }

std::string Calibration::scaler() const {
  std::string text;
  raw_string_ostream(text) << "static:" << format("%.17g", scale());
  return text;
}

const GradientStatistics &Calibration::largest() const {
  return *std::max_element(
      gradients.begin(), gradients.end(), [](auto &one, auto &other) {
        return one.magnitudes.largest < other.magnitudes.largest;
      });
}

Magnitudes Calibration::all() const {
  Magnitudes all;
  for (const GradientStatistics &gradient : gradients)
    all.add(gradient.magnitudes);
  return all;
}

int chooseExponent(double largest, int headroom) {
  // So that neither the scale nor its inverse is a subnormal f32.
  constexpr int most = 126;
  int exponent = kMostHalf - std::ilogb(largest) - headroom;
  if (std::ldexp(largest, exponent + headroom) >= kLargestHalf)
    --exponent;
  return std::clamp(exponent, -most, most);
}

/// "gradient.LOSS.NUMBER.RESULT", as mp-expose-values has it.
static GradientStatistics describe(const Result &result) {
  GradientStatistics gradient;
  auto [loss, value] = StringRef(result.name).split('.').second.split('.');
  auto [number, place] = value.split('.');
  loss.getAsInteger(10, gradient.loss);
  number.getAsInteger(10, gradient.number);
  place.getAsInteger(10, gradient.result);
  gradient.origin = result.origin;
  gradient.source = result.location;
  return gradient;
}

static void count(const Result &result, const void *bytes,
                  Magnitudes &magnitudes) {
  auto *element = static_cast<const char *>(bytes);
  for (int64_t i = 0, n = result.type.elements(); i < n; ++i)
    magnitudes.add(loadElement(result.type.element,
                               element + i * byteWidth(result.type.element)));
}

/// Backward begins with the last of them.
static Error checkFinite(const Calibration &calibration, int64_t batch) {
  for (const GradientStatistics &gradient : reverse(calibration.gradients))
    if (uint64_t bad = gradient.magnitudes.nonFinite)
      return makeError(
          "batch {0}: the gradient of {1} has {2} numbers that are infinite or "
          "NaN, in f32 and without a scale: no loss scale mends this",
          batch, gradient.str(), bad);
  return Error::success();
}

static Error chooseScale(Calibration &calibration) {
  double largest = calibration.all().largest;
  if (largest == 0)
    return makeError("all gradients are zero, that of {0} as the first of "
                     "backward: there is nothing to choose a scale by",
                     calibration.gradients.back().str());
  calibration.exponent = chooseExponent(largest, calibration.headroom);
  return Error::success();
}

Expected<Calibration> calibrate(Model &model, const Dataset &data,
                                const CalibrateOptions &options) {
  int64_t rows = options.plan.microRows();
  auto executable = model.get(Goal::Calibrate, "calibrate", rows);
  if (!executable)
    return executable.takeError();
  const Entry &entry = (*executable)->entry();
  Calibration calibration;
  calibration.module = model.moduleName();
  calibration.rows = rows;
  calibration.headroom = options.headroom;
  for (const Result &result : entry.results)
    calibration.gradients.push_back(describe(result));
  if (calibration.gradients.empty())
    return makeError("training has no gradient in f16 ({0}): there is nothing "
                     "to choose a loss scale by, and none is needed",
                     model.precision());
  if (Error error = model.session().initialize(options.seed))
    return std::move(error);
  if (!options.init.empty())
    if (Error error =
            loadWeights(options.init, model.session(), Weights::Initial))
      return std::move(error);
  auto binding = data.bind(entry);
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
      auto inputs = batches.next();
      if (calibration.batches == options.batches ||
          options.plan.rows(step, micro) != rows)
        continue;
      auto results = (*executable)->run(*inputs);
      if (!results)
        return results.takeError();
      for (auto [gradient, result, bytes] :
           zip_equal(calibration.gradients, entry.results, *results))
        count(result, bytes, gradient.magnitudes);
      if (Error error = checkFinite(calibration, ++calibration.batches))
        return std::move(error);
    }
  if (Error error = chooseScale(calibration))
    return std::move(error);
  return calibration;
}

} // namespace mp
