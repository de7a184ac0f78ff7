//===- colouring-test.cpp - the cheapest colouring within a tolerance -----===//
#include "precision/search/Colouring.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <random>

using namespace llvm;
using namespace mp::precision;

namespace {

/// A chain of ops. Each costs less if it is low, and more if the next has
/// another colour; errors add up, and some pairs add one of their own.
class Chain : public ColouringProblem {
public:
  Chain(size_t size, unsigned seed) {
    std::mt19937 random(seed);
    auto draw = [&](unsigned end) { return double(random() % end); };
    for (size_t i = 0; i < size; ++i) {
      saved.push_back(1 + draw(20));
      added.push_back(1 + draw(30));
      cast.push_back(draw(8));
      together.push_back(draw(3) == 0 ? 20 : 0);
      kinds.push_back(i % 3);
      names.push_back("op" + std::to_string(i));
    }
    kindNames = {"a", "b", "c"};
  }

  Expected<std::vector<double>> costs(ArrayRef<Colouring> colourings) override {
    std::vector<double> all;
    for (const Colouring &colouring : colourings)
      all.push_back(costOf(colouring));
    asked += all.size();
    return all;
  }
  Expected<double> error(const Colouring &colouring) override {
    ++measured;
    return errorOf(colouring);
  }

  double costOf(const Colouring &colouring) const {
    double cost = 1000;
    for (size_t i = 0; i < colouring.size(); ++i) {
      cost -= colouring[i] ? saved[i] : 0;
      if (i && colouring[i] != colouring[i - 1])
        cost += cast[i];
    }
    if (refused && colouring[*refused])
      return std::numeric_limits<double>::infinity();
    return cost;
  }
  double errorOf(const Colouring &colouring) const {
    double error = least;
    for (size_t i = 0; i < colouring.size(); ++i)
      if (colouring[i])
        error += added[i] + (i && colouring[i - 1] ? together[i] : 0);
    return error;
  }

  double least = 0;              ///< error in f32
  std::optional<size_t> refused; ///< unit that cannot be low
  uint64_t measured = 0, asked = 0;

private:
  std::vector<double> saved, added, cast, together;
};

Colouring colouringOf(uint64_t bits, size_t size) {
  Colouring colouring(size);
  for (size_t i = 0; i < size; ++i)
    colouring[i] = bits >> i & 1;
  return colouring;
}

/// Returns the least cost within a tolerance.
double leastCost(const Chain &chain, double tolerance) {
  double least = std::numeric_limits<double>::infinity();
  size_t size = chain.kinds.size();
  for (uint64_t bits = 0; bits < uint64_t(1) << size; ++bits) {
    Colouring colouring = colouringOf(bits, size);
    if (chain.errorOf(colouring) <= tolerance)
      least = std::min(least, chain.costOf(colouring));
  }
  return least;
}

ColouringResult search(ColouringProblem &problem, double tolerance,
                       uint64_t most = 256) {
  return cantFail(searchColouring(
      problem, {.tolerance = tolerance, .maxEvaluations = most}));
}

TEST(Colouring, FewUnitsAreSolved) {
  for (unsigned seed = 0; seed < 20; ++seed)
    for (double tolerance : {0.0, 10.0, 40.0, 90.0, 1000.0}) {
      Chain chain(8, seed);
      if (seed % 2)
        chain.refused = seed % 8;
      ColouringResult result = search(chain, tolerance);
      ASSERT_TRUE(result.best);
      EXPECT_TRUE(result.isProven);
      EXPECT_EQ(result.cost, leastCost(chain, tolerance));
      EXPECT_EQ(result.cost, chain.costOf(*result.best));
      EXPECT_EQ(result.error, chain.errorOf(*result.best));
      EXPECT_LE(result.error, tolerance);
    }
}

// Colourings that cost more than the best need not be measured.
TEST(Colouring, MeasuresWhatCouldBeCheaper) {
  Chain chain(8, 4);
  ColouringResult result = search(chain, 1000);
  EXPECT_TRUE(result.isProven);
  EXPECT_EQ(result.counted, 256u);
  EXPECT_LT(chain.measured, 40u);
}

// 2^12 colourings are more than the 1024 costs that 256 evaluations allow.
TEST(Colouring, ManyUnitsAreSearched) {
  double found = 0, least = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Chain chain(12, seed);
    double tolerance = 60;
    ColouringResult result = search(chain, tolerance);
    ASSERT_TRUE(result.best);
    EXPECT_FALSE(result.isProven);
    EXPECT_LE(chain.errorOf(*result.best), tolerance);
    EXPECT_EQ(result.cost, chain.costOf(*result.best));
    found += 1000 - result.cost;
    least += 1000 - leastCost(chain, tolerance);
    // No single change of the result is cheaper and within the tolerance.
    for (size_t unit = 0; unit < 12; ++unit) {
      Colouring other = *result.best;
      other[unit] = !other[unit];
      if (!result.isBounded && chain.errorOf(other) <= tolerance) {
        EXPECT_GE(chain.costOf(other), result.cost);
      }
    }
  }
  EXPECT_GE(found, 0.9 * least); // of what can be saved
}

TEST(Colouring, HeedsItsBound) {
  for (uint64_t most : {1, 5, 20, 40}) {
    Chain chain(12, 3);
    ColouringResult result = search(chain, 60, most);
    EXPECT_LE(chain.measured, most);
    EXPECT_LE(chain.asked, 4 * most);
    EXPECT_EQ(result.trials.size(), chain.measured);
    EXPECT_TRUE(result.isBounded);
    ASSERT_TRUE(result.best);
    EXPECT_LE(chain.errorOf(*result.best), 60);
  }
}

TEST(Colouring, IsDeterministic) {
  Chain one(14, 5), other(14, 5);
  ColouringResult a = search(one, 70), b = search(other, 70);
  EXPECT_EQ(a.best, b.best);
  ASSERT_EQ(a.trials.size(), b.trials.size());
  for (auto [x, y] : zip_equal(a.trials, b.trials)) {
    EXPECT_EQ(x.colouring, y.colouring);
    EXPECT_EQ(x.why, y.why);
  }
}

TEST(Colouring, NothingWithin) {
  Chain chain(6, 1);
  chain.least = 5;
  ColouringResult result = search(chain, 4);
  EXPECT_FALSE(result.best);
  EXPECT_FALSE(result.isProven);
  EXPECT_EQ(result.trials.front().error, 5);
}

// Gradients that are not finite are beyond even an infinite tolerance.
TEST(Colouring, NotFiniteIsBeyond) {
  struct Overflows final : Chain {
    using Chain::Chain;
    Expected<double> error(const Colouring &colouring) override {
      return is_contained(colouring, true)
                 ? std::numeric_limits<double>::infinity()
                 : 1e-7;
    }
  } chain(5, 1);
  ColouringResult result =
      search(chain, std::numeric_limits<double>::infinity());
  EXPECT_EQ(result.best, Colouring(5, false));
}

// If costs are equal, the one with less in 16 bits is taken; a start may be the
// best.
TEST(Colouring, EqualsAndStarts) {
  struct Free final : Chain {
    using Chain::Chain;
    Expected<std::vector<double>> costs(ArrayRef<Colouring> asked) override {
      return std::vector<double>(asked.size(), 7);
    }
  } chain(5, 1);
  EXPECT_EQ(search(chain, 1000).best, Colouring(5, false));
  EXPECT_EQ(search(chain, 1000).cost, 7);

  Chain none(0, 1);
  ColouringResult result = search(none, 1);
  EXPECT_EQ(result.best, Colouring());
}

// A noisy cost is taken only if it is clearly less.
TEST(Colouring, NoisyCostsNeedAMargin) {
  Chain chain(5, 2);
  chain.isCostExact = false;
  chain.margin = 0.5; // nothing saves as much
  ColouringResult result = search(chain, 1000);
  EXPECT_EQ(result.best, Colouring(5, false));
  EXPECT_FALSE(result.isProven);

  // A unit that training refuses alone is not attempted together with others.
  Chain fine(5, 2);
  fine.isCostExact = false;
  fine.refused = 3;
  result = search(fine, 1000);
  EXPECT_LT(result.cost, 1000);
  EXPECT_EQ(count_if(result.trials,
                     [](const Trial &trial) { return trial.colouring[3]; }),
            2); // low throughout, and alone
}

// An error of the problem ends the search.
TEST(Colouring, ErrorsArePassedOn) {
  struct Broken final : Chain {
    using Chain::Chain;
    Expected<double> error(const Colouring &) override {
      return createStringError("broken");
    }
  } chain(3, 1);
  auto result = searchColouring(chain, {.tolerance = 1});
  ASSERT_FALSE(result);
  EXPECT_EQ(toString(result.takeError()), "broken");
}

} // namespace
