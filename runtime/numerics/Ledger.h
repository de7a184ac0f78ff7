//===- Ledger.h - what f16 makes of each gradient ---------------*- C++ -*-===//
//
// The underflow ledger: of each gradient that training has in f16, how many
// elements a loss scale leaves in which part of f16's range, and the scale that
// would suit. The gradients come from Goal::Calibrate, in f32 and unscaled, so
// that what f16 loses is there to be counted.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_NUMERICS_LEDGER_H
#define MP_RUNTIME_NUMERICS_LEDGER_H

#include "runtime/Session.h"
#include "runtime/numerics/Magnitudes.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace mp {

/// How many factors of two a scale leaves free, for what grows later in
/// training: docs/calibration.md has what was measured.
inline constexpr int kHeadroom = 6;

/// The gradients of one value over all batches.
struct GradientStatistics {
  /// Which value: result of the op of that number among those that yield f16;
  /// and of which of the recipe's losses this is the gradient.
  unsigned loss = 0, number = 0, result = 0;
  std::string origin; ///< "mp.linear", or "@fc1.weight"
  Location source;
  std::string name;        ///< among the tensors: "gradient.0.3.0"
  Magnitudes magnitudes;   ///< unscaled
  HalfCounts scaled;       ///< in f16, times the ledger's scale
  std::string str() const; ///< "mp.linear (file:line:column)"
};

struct Ledger {
  double scale = 1; ///< loss scale that the elements are counted at
  int headroom = kHeadroom;
  int64_t samples = 0;
  std::vector<GradientStatistics> gradients; ///< in the order of forward

  /// Runs a Goal::Calibrate entry point on a batch of `rows` samples and counts
  /// what it returns. The entry is the first batch's, or one of other rows.
  llvm::Expected<Executable::Results>
  add(Executable &executable, Executable::Inputs inputs, int64_t rows);
  /// All gradients together.
  GradientStatistics all() const;
  /// Whose largest element is the largest. There has to be one.
  const GradientStatistics &largest() const;
  /// The one that loses the largest share of its elements at the scale.
  const GradientStatistics &mostFlushed() const;
  /// How many gradients become zero, more than half of each, times 2^exponent.
  size_t lostAt(int exponent) const;
  /// Whether a few percent of all that is not zero become zero at the scale, or
  /// half of one gradient.
  bool underflows() const;
};

/// A loss scale that suits, and what is lost even so.
struct Advice {
  std::optional<int> exponent = {}; ///< of the scale; none: no scale mends it
  HalfCounts counts = {};           ///< with it
  std::string text = {};            ///< for a person
  /// For a run: what to add to 'mp-run train', and what to run before.
  std::string options = {}, command = {};
};

/// The largest e for which `largest` times 2^(e + headroom) is less than 65504,
/// but no more than what f32 holds with its inverse.
int chooseExponent(double largest, int headroom);
/// "static:8192"
std::string staticScaler(int exponent);

/// For one gradient.
Advice advise(const GradientStatistics &gradient, int headroom);

/// How to give each gradient a scale of its own.
struct ScalesFile {
  std::string path;         ///< what --scales is to read
  std::string command = {}; ///< that writes it; empty: it is there already
};
/// For a run: one loss scale or, where that leaves gradients lost, a scale for
/// each.
Advice advise(const Ledger &ledger, const ScalesFile &scales);

/// The fields of a ledger's JSON, for an object that has been begun.
void writeGradients(llvm::json::OStream &json, const Ledger &ledger);
void writeAdvice(llvm::json::OStream &json, const Advice &advice);
/// One line of ledger.jsonl, without a line feed.
std::string toJson(const Ledger &ledger, int64_t step, const Advice &advice);

} // namespace mp

#endif // MP_RUNTIME_NUMERICS_LEDGER_H
