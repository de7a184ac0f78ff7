//===- Ledger.h - how f16 rounds each gradient ------------------*- C++ -*-===//
//
// The underflow ledger: for each gradient that training has in f16, how many
// elements a loss scale moves into which part of f16's range, and which scale
// suits it. The gradients come from Goal::Calibrate, in f32 and unscaled, so
// that what f16 would lose can be counted.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_NUMERICS_LEDGER_H
#define MP_RUNTIME_NUMERICS_LEDGER_H

#include "runtime/Session.h"
#include "runtime/numerics/Magnitudes.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace mp {

/// The powers of two that a scale leaves below overflow, because gradients may
/// grow later in training: docs/calibration.md has the measurements.
inline constexpr int kHeadroom = 6;

/// The statistics of one value's gradient over all batches.
struct GradientStatistics {
  /// The value is result `result` of op `number` among those that yield f16;
  /// the gradient is that of the recipe's loss number `loss`.
  unsigned loss = 0, number = 0, result = 0;
  std::string origin; ///< "mp.linear", or "@fc1.weight"
  Location source;
  std::string name;        ///< among the tensors: "gradient.0.3.0"
  Magnitudes magnitudes;   ///< unscaled
  HalfCounts scaled;       ///< in f16, times the ledger's scale
  std::string str() const; ///< "mp.linear (file:line:column)"
};

struct Ledger {
  double scale = 1; ///< the loss scale at which elements are counted
  int headroom = kHeadroom;
  int64_t samples = 0;
  std::vector<GradientStatistics> gradients; ///< in the order of forward

  /// Runs a Goal::Calibrate entry point on a batch of `rows` samples and counts
  /// its results. The entry is the first batch's, or one for other rows.
  llvm::Expected<Executable::Results>
  add(Executable &executable, Executable::Inputs inputs, int64_t rows);
  /// The sum of all gradients' statistics.
  GradientStatistics all() const;
  /// The gradient with the largest element. There has to be one.
  const GradientStatistics &largest() const;
  /// The gradient that loses the largest share of its elements at the scale.
  const GradientStatistics &mostFlushed() const;
  /// How many gradients lose more than half of their elements to zero if they
  /// are multiplied by 2^exponent.
  size_t lostAt(int exponent) const;
  /// Whether a few percent of all nonzero elements, or half of one gradient's,
  /// become zero at the scale.
  bool underflows() const;
};

/// A loss scale that suits, and what is lost at that scale.
struct Advice {
  std::optional<int> exponent = {}; ///< of the scale; nothing if no scale helps
  HalfCounts counts = {};           ///< at that scale
  std::string text = {};            ///< for the user
  /// For a run: the options to add to 'mp-run train', and the command to run
  /// first.
  std::string options = {}, command = {};
};

/// The largest e for which `largest` times 2^(e + headroom) is less than 65504,
/// limited so that f32 holds 2^e and its inverse.
int chooseExponent(double largest, int headroom);
/// "static:8192"
std::string staticScaler(int exponent);

/// Advises on one gradient.
Advice advise(const GradientStatistics &gradient, int headroom);

/// Where the scales of single gradients are read from.
struct ScalesFile {
  std::string path;         ///< the file for --scales
  std::string command = {}; ///< the command that writes it; empty: it exists
};
/// Advises on a run: one loss scale or, if that loses gradients, a scale for
/// each.
Advice advise(const Ledger &ledger, const ScalesFile &scales);

/// Writes the fields of a ledger into a JSON object that has been begun.
void writeGradients(llvm::json::OStream &json, const Ledger &ledger);
void writeAdvice(llvm::json::OStream &json, const Advice &advice);
/// One line of ledger.jsonl, without a line feed.
std::string toJson(const Ledger &ledger, int64_t step, const Advice &advice);

} // namespace mp

#endif // MP_RUNTIME_NUMERICS_LEDGER_H
