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

/// The number of factors of two that a scale leaves free for gradients that
/// grow later in training. docs/calibration.md has the measurements.
inline constexpr int kHeadroom = 6;

/// The statistics of one value's gradient over all batches.
struct GradientStatistics {
  /// The value is this result of the op with this number among those that yield
  /// f16. The gradient is that of this loss of the recipe.
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
  /// its results. Later calls may have entry points for other numbers of rows.
  llvm::Expected<Executable::Results>
  add(Executable &executable, Executable::Inputs inputs, int64_t rows);
  /// Returns the statistics of all gradients together.
  GradientStatistics all() const;
  /// Returns the gradient with the largest element. The ledger must not be
  /// empty.
  const GradientStatistics &largest() const;
  /// Returns the gradient that loses the largest share of its elements at the
  /// scale.
  const GradientStatistics &mostFlushed() const;
  /// Returns the number of gradients of which more than half becomes zero at
  /// the scale 2^exponent.
  size_t lostAt(int exponent) const;
  /// Returns whether the scale makes a few percent of all non-zero elements
  /// zero, or half of those of one gradient.
  bool underflows() const;
};

/// A suitable loss scale, and what is lost even with it.
struct Advice {
  std::optional<int> exponent = {}; ///< of the scale; none if no scale helps
  HalfCounts counts = {};           ///< with it
  std::string text = {};            ///< for a person
  /// The options to add to 'mp-run train', and the command to run before it.
  std::string options = {}, command = {};
};

/// Returns the largest e for which `largest` times 2^(e + headroom) is less
/// than 65504, and for which f32 can hold 2^e and 2^-e.
int chooseExponent(double largest, int headroom);
/// "static:8192"
std::string staticScaler(int exponent);

/// Returns the advice for one gradient.
Advice advise(const GradientStatistics &gradient, int headroom);

/// The file that gives each gradient a scale of its own.
struct ScalesFile {
  std::string path;         ///< what --scales is to read
  std::string command = {}; ///< that writes it; empty if the file exists
};
/// Returns the advice for a run: one loss scale or, if gradients would be lost
/// with it, a scale for each.
Advice advise(const Ledger &ledger, const ScalesFile &scales);

/// Write the fields of the JSON of a ledger into the current object.
void writeGradients(llvm::json::OStream &json, const Ledger &ledger);
void writeAdvice(llvm::json::OStream &json, const Advice &advice);
/// Returns one line of ledger.jsonl, without a line feed.
std::string toJson(const Ledger &ledger, int64_t step, const Advice &advice);

} // namespace mp

#endif // MP_RUNTIME_NUMERICS_LEDGER_H
