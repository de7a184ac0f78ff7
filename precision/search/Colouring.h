//===- Colouring.h - the cheapest colouring within a tolerance ------------===//
//
// Each unit of a graph (an op, or several that have one name) runs low or in
// f32. What a colouring costs and how far its gradients are off is measured,
// not modelled: the search knows of both only what the problem answers.
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

/// Which units run low.
using Colouring = std::vector<bool>;

class ColouringProblem {
public:
  virtual ~ColouringProblem() = default;
  /// Infinite where a colouring cannot be trained with.
  virtual llvm::Expected<std::vector<double>>
  costs(llvm::ArrayRef<Colouring> colourings) = 0;
  /// Infinite where it is not finite.
  virtual llvm::Expected<double> error(const Colouring &colouring) = 0;

  /// Units of one kind have one number, an index of `kindNames`.
  std::vector<unsigned> kinds;
  std::vector<std::string> names, kindNames; ///< for the trials' reasons
  /// Costs are cheap to have and always the same. Else each is measured only
  /// where it decides, and one counts as less where it is so by `margin`.
  bool isCostExact = true;
  double margin = 0;
};

struct ColouringOptions {
  double tolerance = 0;
  /// Errors that are measured at most; four times as many exact costs are
  /// asked for.
  uint64_t maxEvaluations = 256;
  /// Colourings to begin with, beside f32 and low throughout.
  std::vector<std::pair<std::string, Colouring>> starts = {};
};

/// A colouring whose error was measured.
struct Trial {
  enum class Outcome { Taken, Beyond, NotCheaper };
  Colouring colouring;
  std::string why; ///< it was tried: "torch", "only unit 3 low"
  Outcome outcome = Outcome::Beyond;
  double error = 0;
  double cost = std::numeric_limits<double>::infinity(); ///< where it is known
};

struct ColouringResult {
  /// Within the tolerance; no colouring: none was.
  std::optional<Colouring> best;
  double error = 0, cost = 0;
  std::vector<Trial> trials; ///< in the order of measurement
  uint64_t counted = 0;      ///< colourings whose cost was asked for
  /// No colouring that is cheaper is within the tolerance: all were counted,
  /// and the cheaper ones measured.
  bool isProven = false;
  bool isBounded = false; ///< the bound on evaluations ended it
  /// Of each unit alone low, all others in f32; infinite: not measured.
  std::vector<double> alone;
};

/// Deterministic where the problem is. A problem of few units is solved; else a
/// greedy search goes up from f32 and down from low, and then improves what it
/// has by single changes until none is cheaper.
llvm::Expected<ColouringResult>
searchColouring(ColouringProblem &problem, const ColouringOptions &options);

} // namespace mp::precision

#endif // MP_PRECISION_SEARCH_COLOURING_H
