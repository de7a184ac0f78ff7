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

/// Asks a problem nothing twice, remembers the best, and heeds the bound.
class Trials {
public:
  Trials(ColouringProblem &problem, const ColouringOptions &options)
      : problem(problem), options(options), size(problem.kinds.size()) {}

  Colouring wide() const { return Colouring(size, false); }
  Colouring low() const { return Colouring(size, true); }

  /// How many exact costs are asked for at most.
  uint64_t costBudget() const;
  /// The costs of those that are not known yet, as far as the bound allows.
  llvm::Error learnCosts(llvm::ArrayRef<Candidate> candidates);
  /// Fills in what the candidates cost: exactly, or by what changing each unit
  /// alone does.
  llvm::Error price(std::vector<Candidate> &candidates, const Colouring &from);
  /// What a unit costs more in the low type than in f32, the others in f32;
  /// infinite where that cannot be trained with.
  double change(size_t unit) const;
  /// Infinite where it is not known.
  double costOf(const Colouring &colouring) const;
  std::optional<double> errorOf(const Colouring &colouring) const;
  /// Whether it is known to be, and can be trained with.
  bool isWithin(const Colouring &colouring) const;
  /// Whether its cost goes before that of the best.
  bool isBetter(const Colouring &colouring) const;

  /// Measures the error, unless it is known or the bound forbids it, and what
  /// the colouring costs where that decides. Whether the colouring was taken.
  llvm::Expected<bool> attempt(const Candidate &candidate);
  /// Tries the cheapest first, and stops at the first that is taken.
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
