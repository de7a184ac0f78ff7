//===- Colouring.cpp - the cheapest colouring within a tolerance ----------===//
#include "precision/search/Colouring.h"
#include "precision/search/Trials.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;

namespace mp::precision {
namespace {

/// The swaps whose cost is computed in a round.
constexpr size_t kMostSwaps = 64;

/// A change of one unit.
struct Change {
  size_t unit;
  Candidate candidate;
};

class Searcher {
public:
  Searcher(ColouringProblem &problem, const ColouringOptions &options)
      : trials(problem, options), problem(problem), result(trials.result),
        size(trials.size) {}

  Expected<ColouringResult> run() {
    if (Error error = search())
      return std::move(error);
    return std::move(result);
  }

private:
  Error search() {
    if (Error error = begin())
      return error;
    if (!result.best)
      return Error::success();
    // A good colouring comes first: dearer ones need not be measured then.
    for (auto phase : {&Searcher::climbByKinds, &Searcher::growFromWide,
                       &Searcher::shrinkFromLow, &Searcher::climb})
      if (Error error = (this->*phase)())
        return error;
    bool areFew = problem.isCostExact && size < 60 &&
                  uint64_t(1) << size <= trials.costBudget();
    return areFew ? tryAll() : Error::success();
  }

  /// Measures all units in f32, which has the least error; the given
  /// colourings; all units low; each unit alone.
  Error begin() {
    result.alone.assign(size, kNever);
    std::vector<Candidate> first = {{trials.wide(), "f32 throughout"}};
    for (const auto &[name, colouring] : trials.options.starts)
      first.push_back({colouring, name});
    if (size > 0)
      first.push_back({trials.low(), "low throughout"});
    if (problem.isCostExact)
      if (Error error = trials.learnCosts(first))
        return error;
    for (const Candidate &candidate : first)
      if (auto taken = trials.attempt(candidate); !taken)
        return taken.takeError();
    return result.best ? measureAlone() : Error::success();
  }

  Error measureAlone() {
    std::vector<Candidate> all;
    for (size_t unit = 0; unit < size; ++unit)
      all.push_back({with(trials.wide(), unit, true),
                     "only " + problem.names[unit] + " low"});
    if (Error error = trials.learnCosts(all))
      return error;
    for (auto [unit, candidate] : llvm::enumerate(all)) {
      if (auto taken = trials.attempt(candidate); !taken)
        return taken.takeError();
      result.alone[unit] = trials.errorOf(candidate.colouring).value_or(kNever);
    }
    return Error::success();
  }

  /// In the order of cost, the first colouring within the tolerance is the
  /// cheapest.
  Error tryAll() {
    std::vector<Candidate> all;
    for (uint64_t bits = 0; bits < uint64_t(1) << size; ++bits) {
      Colouring colouring(size);
      for (size_t unit = 0; unit < size; ++unit)
        colouring[unit] = bits >> unit & 1;
      all.push_back({std::move(colouring), "the next cheapest"});
    }
    if (Error error = trials.price(all, trials.wide()))
      return error;
    if (auto taken = trials.attemptInOrder(all); !taken)
      return taken.takeError();
    result.isProven = llvm::all_of(all, [&](const Candidate &candidate) {
      return !trials.isBetter(candidate.colouring) ||
             trials.errorOf(candidate.colouring);
    });
    return Error::success();
  }

  //===--------------------------------------------------------------------===//
  // Greedy
  //===--------------------------------------------------------------------===//

  /// Returns the changes of one unit, with their prices.
  Expected<std::vector<Change>> changes(const Colouring &from, bool toLow) {
    std::vector<size_t> units;
    std::vector<Candidate> candidates;
    for (size_t unit = 0; unit < size; ++unit)
      if (from[unit] != toLow) {
        units.push_back(unit);
        candidates.push_back(
            {with(from, unit, toLow),
             problem.names[unit] + (toLow ? " low too" : " in f32 too")});
      }
    if (Error error = trials.price(candidates, from))
      return std::move(error);
    std::vector<Change> all;
    for (auto [unit, candidate] : zip_equal(units, candidates))
      all.push_back({unit, std::move(candidate)});
    return all;
  }

  /// Sets one unit low after the other, as long as that saves.
  Error growFromWide() {
    Colouring current = trials.wide();
    for (;;) {
      auto next = changes(current, /*toLow=*/true);
      if (!next)
        return next.takeError();
      auto moved = growOnce(std::move(*next), current);
      if (!moved)
        return moved.takeError();
      if (!*moved)
        return Error::success();
    }
  }

  /// Sets the unit low that saves most for the error that it has alone, among
  /// those that stay within the tolerance.
  Expected<bool> growOnce(std::vector<Change> next, Colouring &current) {
    double cost = trials.costOf(current);
    double base = trials.errorOf(trials.wide()).value_or(0);
    auto merit = [&](const Change &change) {
      double added = std::max(result.alone[change.unit] - base, 1e-12);
      return (cost - change.candidate.cost) / added;
    };
    llvm::sort(next, [&](const Change &a, const Change &b) {
      return std::make_tuple(-merit(a), a.unit) <
             std::make_tuple(-merit(b), b.unit);
    });
    for (const Change &change : next) {
      const Candidate &candidate = change.candidate;
      if (candidate.cost >= cost)
        continue;
      if (auto taken = trials.attempt(candidate); !taken)
        return taken.takeError();
      bool isGood = trials.isWithin(candidate.colouring) &&
                    trials.costOf(candidate.colouring) < cost;
      if (!isGood)
        continue;
      current = candidate.colouring;
      return true;
    }
    return false;
  }

  /// Sets one unit after the other to f32 until the rest is within the
  /// tolerance and can be trained with.
  Error shrinkFromLow() {
    Colouring current = trials.low();
    while (lowUnits(current) > 0 && !trials.isWithin(current) &&
           trials.errorOf(current)) {
      auto next = changes(current, /*toLow=*/false);
      if (!next)
        return next.takeError();
      const Change &best = *llvm::max_element(
          *next,
          [&, cost = trials.costOf(current)](const Change &a, const Change &b) {
            return relief(a, cost) < relief(b, cost);
          });
      current = best.candidate.colouring;
      if (auto taken = trials.attempt(best.candidate); !taken)
        return taken.takeError();
    }
    return Error::success();
  }

  /// Estimates how much a change to f32 reduces the error for its cost; changes
  /// that training needs come first.
  std::tuple<bool, double> relief(const Change &change, double cost) const {
    double after = change.candidate.cost;
    if (cost == kNever)
      return {after != kNever, result.alone[change.unit]};
    double share = cost > 0 ? std::max(after - cost, 0.0) / cost : 0;
    return {after != kNever, result.alone[change.unit] / (share + 1e-3)};
  }

  //===--------------------------------------------------------------------===//
  // Improvement of the best
  //===--------------------------------------------------------------------===//

  using Candidates = std::vector<Candidate>;

  /// Changes the best colouring, the cheapest way first, until none helps.
  Error improve(function_ref<Expected<Candidates>()> waysOn) {
    for (;;) {
      auto next = waysOn();
      if (!next)
        return next.takeError();
      if (Error error = trials.price(*next, *result.best))
        return error;
      auto taken = trials.attemptInOrder(std::move(*next));
      if (!taken)
        return taken.takeError();
      if (!*taken)
        return Error::success();
    }
  }

  Error climbByKinds() {
    return improve([&]() -> Expected<Candidates> { return kindChanges(); });
  }

  Error climb() {
    return improve([&]() -> Expected<Candidates> {
      Candidates all = kindChanges();
      for (bool toLow : {true, false}) {
        auto single = changes(*result.best, toLow);
        if (!single)
          return single.takeError();
        for (Change &change : *single)
          all.push_back(std::move(change.candidate));
      }
      append_range(all, swaps());
      return all;
    });
  }

  Candidates kindChanges() const {
    Candidates all;
    for (unsigned kind = 0; kind < problem.kindNames.size(); ++kind)
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

  /// Returns swaps of two units by which one should save more than the other
  /// costs.
  Candidates swaps() const {
    const Colouring &best = *result.best;
    std::vector<std::tuple<double, size_t, size_t>> all;
    for (size_t in = 0; in < size; ++in)
      for (size_t out = 0; out < size; ++out)
        if (!best[in] && best[out] && trials.change(in) < trials.change(out))
          all.emplace_back(trials.change(in) - trials.change(out), in, out);
    llvm::sort(all);
    Candidates promising;
    for (auto [change, in, out] : ArrayRef(all).take_front(kMostSwaps))
      promising.push_back(
          {with(with(best, in, true), out, false),
           problem.names[in] + " low for " + problem.names[out]});
    return promising;
  }

  Trials trials;
  ColouringProblem &problem;
  ColouringResult &result;
  const size_t size;
};

} // namespace

Expected<ColouringResult> searchColouring(ColouringProblem &problem,
                                          const ColouringOptions &options) {
  return Searcher(problem, options).run();
}

} // namespace mp::precision
