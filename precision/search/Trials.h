//===- Trials.h - colourings whose error and cost are known ---------------===//
#ifndef MP_PRECISION_SEARCH_TRIALS_H
#define MP_PRECISION_SEARCH_TRIALS_H

#include "precision/search/Colouring.h"
#include <map>

namespace mp::precision {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Candidate {
  Colouring colouring;
  std::string why = {};
  double cost = kNever; ///< exact, or predicted
};

size_t lowUnits(const Colouring &colouring);
Colouring with(Colouring colouring, size_t unit, bool isLow);

/// Asks the problem each question once, remembers the best colouring, and stops
/// at the bound on evaluations.
class Trials {
public:
  Trials(ColouringProblem &problem, const ColouringOptions &options)
      : problem(problem), options(options), size(problem.kinds.size()) {}

  Colouring wide() const { return Colouring(size, false); }
  Colouring low() const { return Colouring(size, true); }

  /// Returns the largest number of exact costs to compute.
  uint64_t costBudget() const;
  /// Computes the unknown costs, as far as the bound allows.
  llvm::Error learnCosts(llvm::ArrayRef<Candidate> candidates);
  /// Fills in the candidates' costs: exact ones, or those predicted from
  /// changing each unit alone.
  llvm::Error price(std::vector<Candidate> &candidates, const Colouring &from);
  /// Returns the additional cost of a unit in the low type over f32, the others
  /// in f32; infinite if that cannot be trained with.
  double change(size_t unit) const;
  /// Returns infinity if it is not known.
  double costOf(const Colouring &colouring) const;
  std::optional<double> errorOf(const Colouring &colouring) const;
  /// Whether it is known to be within the tolerance, and can be trained with.
  bool isWithin(const Colouring &colouring) const;
  /// Whether its cost is lower than that of the best.
  bool isBetter(const Colouring &colouring) const;

  /// Measures the error, unless it is known or the bound forbids it, and the
  /// cost if that decides. Returns whether the colouring was taken.
  llvm::Expected<bool> attempt(const Candidate &candidate);
  /// Attempts the cheapest first, and stops at the first that is taken.
  llvm::Expected<bool> attemptInOrder(std::vector<Candidate> candidates);

  ColouringProblem &problem;
  const ColouringOptions &options;
  const size_t size;
  ColouringResult result;

private:
  double predict(const Colouring &colouring, const Colouring &from) const;

  std::map<Colouring, double> errors, costs;
};

} // namespace mp::precision

#endif // MP_PRECISION_SEARCH_TRIALS_H
