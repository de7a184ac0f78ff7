//===- Trials.cpp - colourings whose error and cost are known -------------===//
#include "precision/search/Trials.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <set>
#include <tuple>

using namespace llvm;

namespace mp::precision {

/// The number of exact costs that are worth one measured error.
constexpr uint64_t kCostsPerError = 4;

size_t lowUnits(const Colouring &colouring) {
  return llvm::count(colouring, true);
}

Colouring with(Colouring colouring, size_t unit, bool isLow) {
  colouring[unit] = isLow;
  return colouring;
}

/// Orders by cost; of equals the one with less in 16 bits comes first.
static bool comesBefore(const Candidate &a, const Candidate &b) {
  return std::make_tuple(a.cost, lowUnits(a.colouring), a.colouring) <
         std::make_tuple(b.cost, lowUnits(b.colouring), b.colouring);
}

uint64_t Trials::costBudget() const {
  return kCostsPerError * options.maxEvaluations;
}

Error Trials::learnCosts(ArrayRef<Candidate> candidates) {
  std::vector<Colouring> unknown;
  std::set<Colouring> asked;
  for (const Candidate &candidate : candidates) {
    const Colouring &colouring = candidate.colouring;
    if (costs.count(colouring) || !asked.insert(colouring).second)
      continue;
    if (problem.isCostExact && costs.size() + unknown.size() >= costBudget()) {
      result.isBounded = true;
      break;
    }
    unknown.push_back(colouring);
  }
  auto found = problem.costs(unknown);
  if (!found)
    return found.takeError();
  for (auto [colouring, cost] : zip_equal(unknown, *found))
    costs[colouring] = cost;
  result.counted = costs.size();
  return Error::success();
}

double Trials::costOf(const Colouring &colouring) const {
  auto found = costs.find(colouring);
  return found == costs.end() ? kNever : found->second;
}

std::optional<double> Trials::errorOf(const Colouring &colouring) const {
  auto found = errors.find(colouring);
  return found == errors.end() ? std::nullopt : std::optional(found->second);
}

bool Trials::isWithin(const Colouring &colouring) const {
  auto error = errorOf(colouring);
  return error && std::isfinite(*error) && *error <= options.tolerance &&
         costOf(colouring) != kNever;
}

double Trials::change(size_t unit) const {
  double cost = costOf(with(wide(), unit, true)), base = costOf(wide());
  return base == kNever ? 0 : cost - base;
}

double Trials::predict(const Colouring &colouring,
                       const Colouring &from) const {
  bool isKnown = costOf(from) != kNever;
  Colouring start = isKnown ? from : wide();
  double cost = costOf(start);
  for (size_t unit = 0; unit < size; ++unit) {
    if (colouring[unit] && change(unit) == kNever)
      return kNever;
    if (colouring[unit] != start[unit])
      cost += colouring[unit] ? change(unit) : -change(unit);
  }
  return cost;
}

Error Trials::price(std::vector<Candidate> &candidates, const Colouring &from) {
  if (problem.isCostExact)
    if (Error error = learnCosts(candidates))
      return error;
  for (Candidate &candidate : candidates)
    candidate.cost = problem.isCostExact ? costOf(candidate.colouring)
                                         : predict(candidate.colouring, from);
  return Error::success();
}

bool Trials::isBetter(const Colouring &colouring) const {
  double cost = costOf(colouring);
  if (cost == kNever)
    return false;
  if (!result.best)
    return true;
  if (!problem.isCostExact)
    return cost < result.cost * (1 - problem.margin);
  return comesBefore({colouring, "", cost}, {*result.best, "", result.cost});
}

Expected<bool> Trials::attempt(const Candidate &candidate) {
  const Colouring &colouring = candidate.colouring;
  bool isNew = !errors.count(colouring);
  if (isNew) {
    if (errors.size() >= options.maxEvaluations) {
      result.isBounded = true;
      return false;
    }
    auto error = problem.error(colouring);
    if (!error)
      return error.takeError();
    errors[colouring] = *error;
  }
  Trial trial{colouring, candidate.why, Trial::Outcome::Beyond,
              errors[colouring], costOf(colouring)};
  if (std::isfinite(trial.error) && trial.error <= options.tolerance) {
    if (Error error = learnCosts(candidate))
      return std::move(error);
    trial.cost = costOf(colouring);
    trial.outcome = isBetter(colouring) ? Trial::Outcome::Taken
                                        : Trial::Outcome::NotCheaper;
  }
  bool isTaken = trial.outcome == Trial::Outcome::Taken;
  if (isTaken) {
    result.best = colouring;
    result.cost = trial.cost;
    result.error = trial.error;
  }
  if (isNew)
    result.trials.push_back(std::move(trial));
  return isTaken;
}

Expected<bool> Trials::attemptInOrder(std::vector<Candidate> candidates) {
  llvm::sort(candidates, comesBefore);
  for (const Candidate &candidate : candidates) {
    bool isPromising =
        problem.isCostExact
            ? isBetter(candidate.colouring)
            : candidate.cost < result.cost * (1 - problem.margin);
    if (!isPromising)
      continue;
    auto taken = attempt(candidate);
    if (!taken || *taken)
      return taken;
  }
  return false;
}

} // namespace mp::precision
