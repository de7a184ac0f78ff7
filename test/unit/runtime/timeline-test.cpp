//===- timeline-test.cpp - timelines of many steps ------------------------===//
//
// A timeline with few stretches keeps what must be seen of many steps; axes.
//
//===----------------------------------------------------------------------===//
#include "runtime/report/Svg.h"
#include "runtime/report/Timeline.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace mp;

namespace {

//===----------------------------------------------------------------------===//
// Timeline
//===----------------------------------------------------------------------===//

/// Steps that a picture must not lose.
struct Step {
  int64_t number;
  bool skipped;
  double loss;
};

std::vector<Step> randomSteps(std::mt19937 &random, size_t count) {
  std::vector<Step> steps;
  int64_t number = random() % 5;
  for (size_t i = 0; i < count; ++i) {
    double loss = std::normal_distribution<>(2, 1)(random);
    if (random() % 50 == 0)
      loss = random() % 2 ? NAN : INFINITY;
    steps.push_back({number, random() % 9 == 0, loss});
    number += random() % 20 ? 1 : 1 + random() % 40;
  }
  return steps;
}

Timeline timelineOf(llvm::ArrayRef<Step> steps, size_t most) {
  Timeline timeline(most);
  for (const Step &step : steps)
    timeline.add(step.number, step.skipped, {{"loss", step.loss}});
  return timeline;
}

/// Checks that each stretch describes its own steps, and nothing else.
void expectFaithful(llvm::ArrayRef<Step> steps, const Timeline &timeline,
                    size_t most) {
  auto stretches = timeline.stretches();
  ASSERT_LE(stretches.size(), most);
  size_t next = 0;
  for (const Timeline::Stretch *stretch : stretches) {
    ASSERT_LT(next, steps.size());
    EXPECT_EQ(stretch->first, steps[next].number);
    Spread loss;
    uint64_t count = 0, skipped = 0;
    double sum = 0;
    for (; next < steps.size() && steps[next].number <= stretch->last; ++next) {
      ++count;
      skipped += steps[next].skipped;
      loss.add(steps[next].loss);
      sum += std::isfinite(steps[next].loss) ? steps[next].loss : 0;
    }
    EXPECT_EQ(stretch->last, steps[next - 1].number);
    EXPECT_EQ(stretch->steps, count);
    EXPECT_EQ(stretch->skipped, skipped);
    Spread kept = timeline.spread(*stretch, "loss");
    EXPECT_EQ(kept.least, loss.least);
    EXPECT_EQ(kept.most, loss.most);
    EXPECT_EQ(kept.finite, loss.finite);
    EXPECT_EQ(kept.notFinite, loss.notFinite);
    if (kept.finite) {
      EXPECT_EQ(kept.last, loss.last);
      EXPECT_NEAR(kept.mean(), sum / kept.finite, 1e-9);
    }
  }
  EXPECT_EQ(next, steps.size());
}

TEST(Timeline, LosesNoStepNoSkipAndNoExtreme) {
  std::mt19937 random(1);
  for (size_t count : {1, 2, 7, 8, 9, 63, 1000, 5000})
    for (size_t most : {1, 2, 8, 100, 1024}) {
      std::vector<Step> steps = randomSteps(random, count);
      Timeline timeline = timelineOf(steps, most);
      expectFaithful(steps, timeline, most);
      EXPECT_EQ(timeline.total().steps, count);
      expectFaithful(steps, timeline.reduced(5), 5);
    }
}

TEST(Timeline, KeepsStepsApartWhileThereIsRoom) {
  Timeline timeline(8);
  for (int64_t step = 1; step <= 8; ++step)
    timeline.add(step, false, {});
  EXPECT_EQ(timeline.width(), 1);
  EXPECT_EQ(timeline.stretches().size(), 8u);
  timeline.add(9, false, {});
  EXPECT_EQ(timeline.width(), 2);
  EXPECT_EQ(timeline.stretches().size(), 5u);
}

TEST(Timeline, TakesStepsThatAreFarApart) {
  Timeline timeline;
  timeline.add(0, true, {{"loss", 1}});
  timeline.add(INT64_MAX, true, {{"loss", 2}});
  EXPECT_EQ(timeline.total().skipped, 2u);
  EXPECT_EQ(timeline.stretches().size(), 2u);
}

TEST(Timeline, HasSeriesThatBeginLateAndLeavesOutTooMany) {
  Timeline timeline(2);
  timeline.add(1, false, {{"loss", 1}});
  timeline.add(2, false, {{"late", 5}, {"loss", 2}});
  std::vector<std::pair<std::string, double>> many;
  for (int i = 0; i < 100; ++i)
    many.emplace_back("series " + std::to_string(i), i);
  timeline.add(3, false, many);
  EXPECT_EQ(timeline.names().size(), Timeline::maxSeries);
  EXPECT_EQ(timeline.spread(timeline.total(), "late").finite, 1u);
  EXPECT_EQ(timeline.spread(timeline.total(), "series 99").finite, 0u);
  EXPECT_EQ(timeline.spread(timeline.total(), "loss").most, 2);
}

TEST(Timeline, MeansOfHugeNumbersAreFinite) {
  Spread spread;
  for (int i = 0; i < 10; ++i)
    spread.add(1.7e308);
  EXPECT_EQ(spread.mean(), 1.7e308);
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

TEST(Axis, PutsNumbersBetweenItsEnds) {
  const std::pair<double, double> ranges[] = {
      {0, 1},           {-1.7e308, 1.7e308}, {5, 5},        {0, 0},
      {1e-320, 2e-320}, {1e15, 1e15 + 1},    {1e-30, 1e30}, {-3, 1e-9}};
  for (auto [least, most] : ranges) {
    Axis axis = Axis::fitting(least, most);
    EXPECT_GE(axis(least), 0);
    EXPECT_LE(axis(least), axis(most));
    EXPECT_LE(axis(most), 1);
    EXPECT_EQ(axis(NAN), 0);
    EXPECT_LE(axis.ticks(5).size(), 7u) << least << " to " << most;
    for (double tick : axis.ticks(5))
      EXPECT_FALSE(axis.label(tick).empty());
  }
}

TEST(Axis, NamesItsTicks) {
  Axis linear(Axis::Kind::Linear, 0, 400000);
  EXPECT_EQ(linear.label(200000), "200,000");
  EXPECT_EQ(linear.label(0.25), "0.25");
  EXPECT_EQ(Axis(Axis::Kind::Log2, 1, 65536).label(65536), "2¹⁶");
  EXPECT_EQ(Axis(Axis::Kind::Log10, 1e-9, 1).label(1e-7), "10⁻⁷");
  EXPECT_EQ(Axis(Axis::Kind::Log2, 1, 8).ticks(5),
            (std::vector<double>{1, 2, 4, 8}));
}

} // namespace
