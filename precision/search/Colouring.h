//===- Colouring.h - the cheapest colouring within a tolerance --*- C++ -*-===//
//
// Each unit of a graph (an op, or several that have one name) runs low or in
// f32. The cost of a colouring and the error of its gradients are measured, not
// modelled: the search knows only the problem's answers about both.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PRECISION_SEARCH_COLOURING_H
#define MP_PRECISION_SEARCH_COLOURING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace mp::precision {

/// Tells for each unit whether it runs low.
using Colouring = std::vector<bool>;

class ColouringProblem {
public:
  virtual ~ColouringProblem() = default;
  /// Returns the costs, infinite if a colouring cannot be trained with.
  virtual llvm::Expected<std::vector<double>>
  costs(llvm::ArrayRef<Colouring> colourings) = 0;
  /// Returns the error, infinite if gradients are not finite.
  virtual llvm::Expected<double> error(const Colouring &colouring) = 0;

  /// Units of one kind have one number, an index of `kindNames`.
  std::vector<unsigned> kinds;
  std::vector<std::string> names, kindNames; ///< for the trials' reasons
  /// Whether costs are cheap to compute and always the same. Otherwise each is
  /// measured only if a decision needs it, and must be lower by `margin` to
  /// count as lower.
  bool isCostExact = true;
  double margin = 0;
};

struct ColouringOptions {
  double tolerance = 0;
  /// The largest number of measured errors; at most four times as many exact
  /// costs are computed.
  uint64_t maxEvaluations = 256;
  /// Colourings to begin with, besides f32 and low throughout.
  std::vector<std::pair<std::string, Colouring>> starts = {};
};

/// A colouring whose error was measured.
struct Trial {
  enum class Outcome { Taken, Beyond, NotCheaper };
  Colouring colouring;
  std::string why; ///< why it was measured: "torch", "only unit 3 low"
  Outcome outcome = Outcome::Beyond;
  double error = 0;
  double cost = std::numeric_limits<double>::infinity(); ///< if unknown
};

struct ColouringResult {
  /// The best within the tolerance; empty if none was.
  std::optional<Colouring> best;
  double error = 0, cost = 0;
  std::vector<Trial> trials; ///< in the order of measurement
  uint64_t counted = 0;      ///< colourings whose cost was computed
  /// Whether no cheaper colouring is within the tolerance: all were counted,
  /// and the cheaper ones measured.
  bool isProven = false;
  bool isBounded = false; ///< whether the bound on evaluations ended it
  /// The error of each unit alone low, all others in f32; infinite: not
  /// measured.
  std::vector<double> alone;
};

/// Searches, deterministically if the problem is. A problem of few units is
/// solved exactly; else a greedy search goes up from f32 and down from low, and
/// then improves its result by single changes until none is cheaper.
llvm::Expected<ColouringResult>
searchColouring(ColouringProblem &problem, const ColouringOptions &options);

} // namespace mp::precision

#endif // MP_PRECISION_SEARCH_COLOURING_H
