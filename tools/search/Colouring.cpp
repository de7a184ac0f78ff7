//===- Colouring.cpp - the cheapest colouring within a tolerance ----------===//
#include "tools/search/Colouring.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>

using namespace llvm;

namespace mp::tool {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
/// Exact costs that one measured error is worth.
constexpr uint64_t costsPerError = 4;
/// Swaps of which the cost is asked for in a round.
constexpr size_t mostSwaps = 64;

struct Candidate {
  Colouring colouring;
  std::string why;
  double cost = never; ///< exact, or predicted
};

size_t lowUnits(const Colouring &colouring) {
  return llvm::count(colouring, true);
}

/// The cheaper first; of equals the one with less in 16 bits.
bool comesBefore(const Candidate &a, const Candidate &b) {
  return std::make_tuple(a.cost, lowUnits(a.colouring), a.colouring) <
         std::make_tuple(b.cost, lowUnits(b.colouring), b.colouring);
}

class Searcher {
public:
  Searcher(ColouringProblem &problem, const ColouringOptions &options)
      : problem(problem), options(options), size(problem.kinds.size()) {}

  Expected<ColouringResult> run() {
    if (Error error = search())
      return std::move(error);
    if (result.best) {
      result.error = errors.at(*result.best);
      result.cost = bestCost;
    }
    return std::move(result);
  }

private:
  Error search() {
    result.alone.assign(size, never);
    if (Error error = begin())
      return error;
    if (!result.best)
      return Error::success();
    bool isSmall =
        size < 60 && (uint64_t(1) << size) <= costBudget() && isExact();
    if (isSmall)
      return tryAll();
    for (auto phase : {&Searcher::climbByKinds, &Searcher::growFromWide,
                       &Searcher::shrinkFromLow, &Searcher::climb})
      if (Error error = (this->*phase)())
        return error;
    return Error::success();
  }

  bool isExact() const { return problem.isCostExact; }
  uint64_t costBudget() const { return costsPerError * options.maxEvaluations; }
  Colouring wide() const { return Colouring(size, false); }
  Colouring low() const { return Colouring(size, true); }
  static Colouring with(Colouring colouring, size_t unit, bool isLow) {
    colouring[unit] = isLow;
    return colouring;
  }

  //===--------------------------------------------------------------------===//
  // Measuring
  //===--------------------------------------------------------------------===//

  /// The costs of those that are not known yet, as far as the bound allows.
  Error learnCosts(ArrayRef<Candidate> candidates) {
    std::vector<Colouring> unknown;
    for (const Candidate &candidate : candidates)
      if (!costs.count(candidate.colouring) &&
          !is_contained(unknown, candidate.colouring)) {
        if (isExact() && costs.size() + unknown.size() >= costBudget()) {
          result.isBounded = true;
          break;
        }
        unknown.push_back(candidate.colouring);
      }
    auto found = problem.costs(unknown);
    if (!found)
      return found.takeError();
    for (auto [colouring, cost] : zip_equal(unknown, *found))
      costs[colouring] = cost;
    result.counted = costs.size();
    return Error::success();
  }

  double costOf(const Colouring &colouring) const {
    auto found = costs.find(colouring);
    return found == costs.end() ? never : found->second;
  }

  /// Fills in what the candidates cost: exactly, or by what changing each unit
  /// alone does.
  Error price(std::vector<Candidate> &candidates, const Colouring &from) {
    if (isExact()) {
      if (Error error = learnCosts(candidates))
        return error;
      for (Candidate &candidate : candidates)
        candidate.cost = costOf(candidate.colouring);
      return Error::success();
    }
    for (Candidate &candidate : candidates) {
      candidate.cost = costOf(from);
      for (size_t unit = 0; unit < size; ++unit)
        if (candidate.colouring[unit] != from[unit])
          candidate.cost +=
              candidate.colouring[unit] ? change(unit) : -change(unit);
    }
    return Error::success();
  }

  /// What a unit costs more in the low type than in f32, the others in f32.
  double change(size_t unit) const {
    double cost = costOf(with(wide(), unit, true)), base = costOf(wide());
    return cost == never || base == never ? 0 : cost - base;
  }

  /// Measures the error, unless it is known or the bound forbids it, and what
  /// the colouring costs where that decides. Whether the colouring was taken.
  Expected<bool> attempt(const Candidate &candidate) {
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
    if (trial.error <= options.tolerance) {
      if (Error error = learnCosts(candidate))
        return std::move(error);
      trial.cost = costOf(colouring);
      trial.outcome = isBetter(colouring) ? Trial::Outcome::Taken
                                          : Trial::Outcome::NotCheaper;
    }
    bool isTaken = trial.outcome == Trial::Outcome::Taken;
    if (isTaken) {
      result.best = colouring;
      bestCost = trial.cost;
    }
    if (isNew)
      result.trials.push_back(std::move(trial));
    return isTaken;
  }

  bool isBetter(const Colouring &colouring) const {
    double cost = costOf(colouring);
    if (cost == never)
      return false;
    if (!result.best)
      return true;
    if (!isExact())
      return cost < bestCost * (1 - problem.margin);
    return comesBefore({colouring, "", cost}, {*result.best, "", bestCost});
  }

  /// Tries the cheapest first, and stops at the first that is taken.
  Expected<bool> attemptInOrder(std::vector<Candidate> candidates) {
    llvm::sort(candidates, comesBefore);
    for (const Candidate &candidate : candidates) {
      if (isExact() ? !isBetter(candidate.colouring)
                    : candidate.cost >= bestCost * (1 - problem.margin))
        continue;
      auto taken = attempt(candidate);
      if (!taken || *taken)
        return taken;
    }
    return false;
  }

  /// Everything in f32, which has the least error; what is given; everything
  /// low; each unit alone.
  Error begin() {
    std::vector<Candidate> first = {{wide(), "f32 throughout"}};
    for (const auto &[name, colouring] : options.starts)
      first.push_back({colouring, name});
    if (size > 0)
      first.push_back({low(), "low throughout"});
    if (isExact())
      if (Error error = learnCosts(first))
        return error;
    for (const Candidate &candidate : first)
      if (auto taken = attempt(candidate); !taken)
        return taken.takeError();
    if (!result.best)
      return Error::success();
    return measureAlone();
  }

  Error measureAlone() {
    std::vector<Candidate> all;
    for (size_t unit = 0; unit < size; ++unit)
      all.push_back(
          {with(wide(), unit, true), "only " + problem.names[unit] + " low"});
    if (Error error = learnCosts(all))
      return error;
    for (auto [unit, candidate] : llvm::enumerate(all)) {
      if (auto taken = attempt(candidate); !taken)
        return taken.takeError();
      if (auto found = errors.find(candidate.colouring); found != errors.end())
        result.alone[unit] = found->second;
    }
    return Error::success();
  }

  //===--------------------------------------------------------------------===//
  // All of few
  //===--------------------------------------------------------------------===//

  /// In the order of cost the first within the tolerance is the cheapest.
  Error tryAll() {
    std::vector<Candidate> all;
    for (uint64_t bits = 0; bits < uint64_t(1) << size; ++bits) {
      Colouring colouring(size);
      for (size_t unit = 0; unit < size; ++unit)
        colouring[unit] = bits >> unit & 1;
      all.push_back({std::move(colouring), "the next cheapest"});
    }
    if (Error error = price(all, wide()))
      return error;
    if (auto taken = attemptInOrder(std::move(all)); !taken)
      return taken.takeError();
    result.isProven = !result.isBounded;
    return Error::success();
  }

  //===--------------------------------------------------------------------===//
  // Greedy
  //===--------------------------------------------------------------------===//

  /// Sets one unit low after the other: the one that saves most for the error
  /// that it has alone.
  Error growFromWide() {
    Colouring current = wide();
    for (;;) {
      std::vector<Candidate> next = neighbours(current, /*toLow=*/true);
      if (Error error = price(next, current))
        return error;
      rank(next, costOf(current), [&](size_t unit) {
        return std::max(result.alone[unit] - errors[wide()], 1e-12);
      });
      auto moved = moveOn(next, current);
      if (!moved)
        return moved.takeError();
      if (!*moved)
        return Error::success();
    }
  }

  /// The first of the candidates, from what saves, that is within the
  /// tolerance becomes the current one.
  Expected<bool> moveOn(ArrayRef<Candidate> next, Colouring &current) {
    double cost = costOf(current);
    for (const Candidate &candidate : next) {
      if (candidate.cost >= cost)
        continue;
      if (auto taken = attempt(candidate); !taken)
        return taken.takeError();
      auto error = errors.find(candidate.colouring);
      if (error == errors.end())
        return false;
      if (error->second > options.tolerance ||
          costOf(candidate.colouring) >= cost)
        continue;
      current = candidate.colouring;
      return true;
    }
    return false;
  }

  /// The most saved for the error first.
  void rank(std::vector<Candidate> &candidates, double cost,
            function_ref<double(size_t)> errorOf) const {
    std::vector<std::pair<double, size_t>> order;
    for (auto [i, candidate] : llvm::enumerate(candidates))
      order.emplace_back(-(cost - candidate.cost) / errorOf(unitOf[i]), i);
    llvm::sort(order);
    std::vector<Candidate> sorted;
    for (auto [merit, i] : order)
      sorted.push_back(std::move(candidates[i]));
    candidates = std::move(sorted);
  }

  /// Sets one unit after the other to f32, the one with the greatest error
  /// alone for what it saves, until the rest is within the tolerance.
  Error shrinkFromLow() {
    Colouring current = low();
    while (lowUnits(current) > 0) {
      auto error = errors.find(current);
      if (error == errors.end() || error->second <= options.tolerance)
        return Error::success();
      std::vector<Candidate> next = neighbours(current, /*toLow=*/false);
      if (Error error = price(next, current))
        return error;
      double cost = costOf(current);
      size_t chosen = 0;
      double most = -1;
      for (auto [i, candidate] : llvm::enumerate(next)) {
        double lost = std::max(candidate.cost - cost, 0.0);
        double share = cost > 0 && cost < never ? lost / cost : 0;
        double merit = std::min(result.alone[unitOf[i]], 1e30) / (share + 1e-3);
        if (merit > most) {
          most = merit;
          chosen = i;
        }
      }
      current = next[chosen].colouring;
      if (auto taken = attempt(next[chosen]); !taken)
        return taken.takeError();
    }
    return Error::success();
  }

  /// What differs in one unit; `unitOf` says in which.
  std::vector<Candidate> neighbours(const Colouring &from, bool toLow) {
    std::vector<Candidate> all;
    unitOf.clear();
    for (size_t unit = 0; unit < size; ++unit)
      if (from[unit] != toLow) {
        all.push_back(
            {with(from, unit, toLow),
             problem.names[unit] + (toLow ? " low too" : " in f32 too")});
        unitOf.push_back(unit);
      }
    return all;
  }

  //===--------------------------------------------------------------------===//
  // Changes of what is best
  //===--------------------------------------------------------------------===//

  /// Changes the best one, the most promising change first, until none helps.
  Error improve(function_ref<Expected<std::vector<Candidate>>()> changes) {
    for (;;) {
      auto next = changes();
      if (!next)
        return next.takeError();
      if (Error error = price(*next, *result.best))
        return error;
      auto taken = attemptInOrder(std::move(*next));
      if (!taken)
        return taken.takeError();
      if (!*taken)
        return Error::success();
    }
  }

  std::vector<Candidate> changesOfKinds() const {
    std::vector<Candidate> all;
    std::vector<unsigned> kinds = problem.kinds;
    llvm::sort(kinds);
    kinds.erase(llvm::unique(kinds), kinds.end());
    for (unsigned kind : kinds)
      for (bool isLow : {true, false}) {
        Colouring colouring = *result.best;
        for (size_t unit = 0; unit < size; ++unit)
          if (problem.kinds[unit] == kind)
            colouring[unit] = isLow;
        if (colouring != *result.best)
          all.push_back(
              {std::move(colouring), "every " + problem.kindNames[kind] +
                                         (isLow ? " low" : " in f32")});
      }
    return all;
  }

  Error climbByKinds() {
    return improve(
        [&]() -> Expected<std::vector<Candidate>> { return changesOfKinds(); });
  }

  /// Units, kinds, and swaps of two units that should be cheaper.
  Error climb() {
    return improve([&]() -> Expected<std::vector<Candidate>> {
      std::vector<Candidate> all = changesOfKinds();
      for (bool toLow : {true, false})
        llvm::append_range(all, neighbours(*result.best, toLow));
      llvm::append_range(all, swaps());
      return all;
    });
  }

  std::vector<Candidate> swaps() const {
    const Colouring &best = *result.best;
    std::vector<std::tuple<double, size_t, size_t>> all;
    for (size_t in = 0; in < size; ++in)
      for (size_t out = 0; out < size; ++out)
        if (!best[in] && best[out] && change(in) < change(out))
          all.emplace_back(change(in) - change(out), in, out);
    llvm::sort(all);
    std::vector<Candidate> promising;
    for (auto [change, in, out] : ArrayRef(all).take_front(mostSwaps))
      promising.push_back(
          {with(with(best, in, true), out, false),
           problem.names[in] + " low for " + problem.names[out]});
    return promising;
  }

  ColouringProblem &problem;
  const ColouringOptions &options;
  const size_t size;
  ColouringResult result;
  double bestCost = never;
  std::map<Colouring, double> errors, costs;
  std::vector<size_t> unitOf; ///< of the last neighbours
};

} // namespace

Expected<ColouringResult> searchColouring(ColouringProblem &problem,
                                          const ColouringOptions &options) {
  return Searcher(problem, options).run();
}

} // namespace mp::tool
