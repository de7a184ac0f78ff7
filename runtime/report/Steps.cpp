//===- Steps.cpp - loss, scale and the rest over the steps ----------------===//
#include "runtime/report/Sections.h"
#include "runtime/report/Svg.h"
#include <cmath>

using namespace llvm;

namespace mp {
namespace {

constexpr StringLiteral kLoss = "loss", kScale = "scale";

std::string stepsText(int64_t first, int64_t last) {
  return first == last ? "step " + countText(first)
                       : "steps " + countText(first) + " to " + countText(last);
}

std::string stepsText(const Timeline::Stretch &stretch) {
  return stepsText(stretch.first, stretch.last);
}

double middle(const Timeline::Stretch &stretch) {
  return stretch.first / 2.0 + stretch.last / 2.0;
}

std::string numberText(StringRef name, double value) {
  return name == kScale ? scalePower(value) : shortNumber(value);
}

/// The least, mean and largest value of a stretch.
std::string spreadText(StringRef name, const Spread &extent) {
  if (!extent.finite)
    return "";
  std::string text = "\n" + name.str() + " " + numberText(name, extent.mean());
  if (extent.least != extent.most)
    text += ", from " + numberText(name, extent.least) + " to " +
            numberText(name, extent.most);
  return text;
}

Axis stepAxis(const Timeline &steps) {
  return Axis(Axis::Kind::Linear, steps.total().first, steps.total().last);
}

/// One series in a chart over the steps.
class SeriesChart {
public:
  SeriesChart(Html &html, const Chart::Frame &frame, const Timeline &steps,
              StringRef name, const Axis &axis, const Twine &description)
      : steps(steps), all(steps.stretches()), name(name),
        xAxis(stepAxis(steps)), yAxis(axis),
        chart(html, frame, name + " over the steps", description) {
    chart.drawAxes(xAxis, "step", yAxis,
                   name + (axis.isLinear() ? "" : " (log axis)"));
  }

  /// Draws an area from the least to the largest value of each stretch, so that
  /// no single step vanishes. For stretches of one step it is a line.
  void drawBand() {
    PathData band;
    bool isWide = steps.width() > 1;
    for (size_t begin = 0; begin < all.size(); ++begin) {
      size_t end = begin;
      while (end < all.size() && spread(*all[end]).finite)
        ++end;
      for (size_t i = begin; i < end; ++i)
        band.to(x(*all[i]), y(spread(*all[i]).most));
      for (size_t i = end; isWide && i-- > begin;)
        band.to(x(*all[i]), y(spread(*all[i]).least));
      if (isWide)
        band.close();
      band.lift();
      begin = end;
    }
    if (isWide)
      chart.path("band", band);
    else
      chart.path("raw", band);
  }

  /// Draws the mean over each stretch and `radius` neighbours on either side.
  void drawMean(size_t radius) {
    PathData line;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!spread(*all[i]).finite) {
        line.lift();
        continue;
      }
      // Both sides are shortened alike, or the ends would be biased inwards.
      size_t own = std::min({radius, i, all.size() - 1 - i});
      Spread around;
      for (const auto *stretch : ArrayRef(all).slice(i - own, 2 * own + 1))
        around.add(spread(*stretch));
      line.to(x(*all[i]), y(around.mean()));
    }
    chart.path("line", line);
  }

  /// Draws every value as a step function.
  void drawSteps() {
    PathData line;
    double before = NAN;
    for (const Timeline::Stretch *each : all) {
      const Timeline::Stretch &stretch = *each;
      Spread own = spread(stretch);
      if (!(own.least > 0)) {
        line.lift();
        continue;
      }
      if (!std::isnan(before))
        line.to(x(stretch), y(before));
      if (own.least != own.most) {
        line.to(x(stretch), y(own.least));
        line.to(x(stretch), y(own.most));
      }
      line.to(x(stretch), y(own.last));
      before = own.last;
    }
    chart.path("line", line);
  }

  /// Adds tooltips with the numbers of each stretch.
  void drawTips(const Timeline &coarse) {
    for (const Timeline::Stretch *each : coarse.stretches()) {
      const Timeline::Stretch &stretch = *each;
      double from = chart.x(xAxis(stretch.first - 0.5)),
             to = chart.x(xAxis(stretch.last + 0.5));
      std::string tip = stepsText(stretch);
      tip += spreadText(name, coarse.spread(stretch, name));
      if (name != kScale)
        tip += spreadText(kScale, coarse.spread(stretch, kScale));
      if (stretch.skipped)
        tip += "\n" + countText(stretch.skipped) + " skipped";
      chart.area("tip", from, chart.y(1), to - from, chart.plotHeight(), tip);
    }
  }

  /// Draws a tick below the axis for each stretch with skipped steps.
  void drawSkips() {
    for (const Timeline::Stretch *each : all) {
      const Timeline::Stretch &stretch = *each;
      if (!stretch.skipped)
        continue;
      PathData tick;
      tick.to(x(stretch), chart.y(0) + 2);
      tick.to(x(stretch), chart.y(0) + 10);
      std::string tip = stepsText(stretch) + ": ";
      tip += stretch.steps == 1 ? "skipped"
                                : countText(stretch.skipped) + " of " +
                                      countText(stretch.steps) + " skipped";
      chart.mark("skip", tick, tip);
    }
  }

  /// Draws a cross above each stretch with values that are not finite.
  void drawGaps() {
    for (const Timeline::Stretch *each : all) {
      const Timeline::Stretch &stretch = *each;
      Spread own = spread(stretch);
      if (!own.notFinite)
        continue;
      PathData cross;
      constexpr double arm = 4;
      double at = x(stretch), height = chart.y(1) + arm;
      cross.to(at - arm, height - arm);
      cross.to(at + arm, height + arm);
      cross.lift();
      cross.to(at - arm, height + arm);
      cross.to(at + arm, height - arm);
      chart.mark(
          "gap", cross,
          stepsText(stretch) + ": " + name + " is not finite" +
              (stretch.steps == 1 ? "" : " in " + countText(own.notFinite)));
    }
  }

private:
  Spread spread(const Timeline::Stretch &stretch) const {
    return steps.spread(stretch, name);
  }
  double x(const Timeline::Stretch &stretch) const {
    return chart.x(xAxis(middle(stretch)));
  }
  double y(double value) const { return chart.y(yAxis(value)); }

  const Timeline &steps;
  std::vector<const Timeline::Stretch *> all;
  StringRef name;
  Axis xAxis, yAxis;
  Chart chart;
};

std::string rangeText(StringRef name, const Spread &all) {
  return "from " + numberText(name, all.least) + " to " +
         numberText(name, all.most);
}

void drawLoss(Html &html, const Timeline &steps, const Timeline &coarse) {
  Spread all = steps.spread(steps.total(), kLoss);
  Axis axis = Axis::fitting(all.least, all.most);
  SeriesChart chart(html, {}, steps, kLoss, axis,
                    "Loss " + rangeText(kLoss, all) + " in " +
                        pluralText(steps.total().steps, "step") + ", " +
                        countText(steps.total().skipped) + " of them skipped");
  chart.drawTips(coarse);
  chart.drawBand();
  chart.drawMean(steps.stretches().size() / 80);
  chart.drawSkips();
  chart.drawGaps();
}

void drawScale(Html &html, const Timeline &steps, const Timeline &coarse) {
  Spread all = steps.spread(steps.total(), kScale);
  Axis axis = Axis(Axis::Kind::Log2, all.least, all.most).withMargin();
  Chart::Frame frame;
  frame.height = 210;
  SeriesChart chart(html, frame, steps, kScale, axis,
                    "Loss scale " + rangeText(kScale, all) + ", at last " +
                        scalePower(all.last));
  chart.drawTips(coarse);
  chart.drawSteps();
  chart.drawSkips();
}

void writeScale(Html &html, const Timeline &steps, const Timeline &coarse) {
  Spread all = steps.spread(steps.total(), kScale);
  html.element("h3", "Loss scale");
  if (!all.finite || !(all.least > 0)) {
    html.element("p", "No loss scale above zero was recorded.");
  } else if (all.least == all.most) {
    html.element("p", "The loss scale is " + scalePower(all.least) +
                          " in every step.");
  } else {
    drawScale(html, steps, coarse);
  }
}

void writeSkips(Html &html, const RunFiles &run) {
  const Timeline::Stretch &total = run.steps.total();
  if (!total.skipped) {
    html.element("p", "No step was skipped.");
    return;
  }
  html.open("p", {{"id", "skips"}});
  html.element("strong", pluralText(total.skipped, "step") + " skipped");
  html.text(", in which a gradient was not finite and nothing was updated: ");
  std::string list;
  for (auto [first, last] : ArrayRef(run.skips).take_front(20))
    list += (list.empty() ? "" : ", ") +
            (first == last ? countText(first)
                           : countText(first) + "–" + countText(last));
  uint64_t more = run.furtherSkips + run.skips.size() -
                  std::min<size_t>(run.skips.size(), 20);
  if (more)
    list += ", and " + countText(more) + " more such rows";
  html.text(list + ".").close();
}

std::string explainLoss(const Timeline &steps) {
  std::string text = "The line is a moving mean";
  text += steps.width() > 1
              ? ", the band behind it goes from the least loss to the greatest "
                "of every " +
                    countText(steps.width()) + " steps"
              : ", the thin line behind it every single step";
  return text + ". Ticks below the axis are skipped steps.";
}

/// The series that get a small chart: lr and grad_norm, then the others.
std::vector<StringRef> furtherSeries(const Timeline &steps) {
  std::vector<StringRef> names;
  for (StringRef name : steps.names())
    if (name != kLoss && name != kScale && !name.starts_with("skipped.") &&
        steps.spread(steps.total(), name).finite)
      names.push_back(name);
  auto rank = [](StringRef name) {
    return std::tuple(name != "lr", name != "grad_norm",
                      name == "samples_per_second", name);
  };
  llvm::sort(names,
             [&](StringRef a, StringRef b) { return rank(a) < rank(b); });
  return names;
}

} // namespace

/// A norm may span powers of ten; other numbers do not.
static Axis axisOf(StringRef name, const Spread &all) {
  return name == "grad_norm"
             ? Axis::fitting(all.least, all.most)
             : Axis(Axis::Kind::Linear, all.least, all.most).withMargin();
}

void drawSeries(Html &html, const Timeline &steps, StringRef name) {
  Spread all = steps.spread(steps.total(), name);
  Chart::Frame frame{"chart small", 380, 180, 62};
  SeriesChart chart(html, frame, steps, name, axisOf(name, all),
                    name + " " + rangeText(name, all) + ", at last " +
                        shortNumber(all.last));
  chart.drawBand();
  chart.drawMean(0);
  chart.drawGaps();
}

/// One evaluation is among the facts.
static void writeEvaluations(Html &html, const Timeline &evaluations) {
  if (evaluations.total().steps < 2)
    return;
  html.element("h3", "On the data source test");
  html.open("div", {{"class", "multiples"}});
  Timeline small = evaluations.reduced(256);
  for (StringRef name : evaluations.names())
    if (evaluations.spread(evaluations.total(), name).finite)
      drawSeries(html, small, name);
  html.close();
}

void writeSteps(Html &html, const RunFiles &run) {
  openSection(html, "steps", "Loss and loss scale");
  const Timeline &steps = run.steps;
  if (!steps.total().steps) {
    writeMissing(html, run, "metrics.jsonl", "what each step measured", "");
    html.close();
    return;
  }
  Timeline coarse = steps.reduced(96);
  Spread loss = steps.spread(steps.total(), kLoss);
  if (loss.finite)
    drawLoss(html, steps, coarse);
  else
    html.element("p", "In no step the loss was finite.");
  if (loss.notFinite)
    html.element("p", "A cross at the top is a loss that is not finite: " +
                          pluralText(loss.notFinite, "step") + ".");
  html.element("p", explainLoss(steps), {{"class", "about"}});
  writeSkips(html, run);
  writeScale(html, steps, coarse);
  html.open("div", {{"class", "multiples"}});
  Timeline small = steps.reduced(256);
  for (StringRef name : furtherSeries(steps))
    drawSeries(html, small, name);
  html.close();
  writeEvaluations(html, run.evaluations);
  html.close();
}

} // namespace mp
