//===- Histogram.cpp - histograms of gradient magnitudes ------------------===//
//
// The picture follows figure 2 of Micikevicius et al., "Mixed Precision
// Training" (ICLR 2018): shares have a logarithmic axis, as what is lost is
// often little, and zeros are apart, as they have no exponent.
//
//===----------------------------------------------------------------------===//
#include "runtime/report/Histogram.h"
#include "runtime/numerics/Ledger.h"
#include "runtime/report/Page.h"
#include "runtime/report/Svg.h"
#include "support/HtmlPage.h"
#include <algorithm>
#include <climits>
#include <cmath>

using namespace llvm;

namespace mp {
namespace {

/// Exponents of f16's least subnormal number, of its least normal number and of
/// infinity.
constexpr int kSubnormal = -24, kNormal = -14, kInfinite = 16;

/// The fate of most numbers of an exponent: class of the style sheet, and
/// words.
struct Meaning {
  StringLiteral kind, text;
};

Meaning meaningOf(Fate fate) {
  switch (fate) {
  case Fate::Flushed:
    return {"flushed", "zero"};
  case Fate::Subnormal:
    return {"subnormal", "subnormal"};
  case Fate::Normal:
    return {"normal", "normal"};
  case Fate::NearOverflow:
    return {"near-overflow", "near overflow"};
  case Fate::Overflow:
    return {"overflow", "infinite"};
  }
  llvm_unreachable("all fates are handled");
}

struct Histogram {
  const GradientSizes &sizes;
  double scale, shift = std::log2(scale);
  uint64_t all = sizes.zeros;
  int first = INT_MAX, end = INT_MIN; ///< exponents that are drawn

  Histogram(const GradientSizes &sizes, double scale, ArrayRef<double> beside)
      : sizes(sizes), scale(scale) {
    reach(scale);
    for (double other : beside)
      reach(other);
    for (auto [exponent, count] : sizes.exponents) {
      if (!count)
        continue;
      all += count;
      first = std::min(first, exponent - 1);
      end = std::max(end, exponent + 2);
    }
  }
  /// The middle of the exponent's interval stands for all its numbers.
  Fate fateOf(int exponent) const {
    return fateInHalf(std::ldexp(1.5 * scale, exponent), sizes.headroom);
  }
  /// Includes f16's range at the scale, with a margin on either side.
  void reach(double scale) {
    double shift = std::log2(scale);
    first = std::min<int>(first, std::floor(kSubnormal - shift) - 2);
    end = std::max<int>(end, std::ceil(kInfinite - shift) + 2);
  }
  double share(uint64_t count) const {
    return all ? static_cast<double>(count) / all : 0;
  }
  /// A power of ten below every share.
  double floor() const {
    double least = 1e-3;
    for (auto [exponent, count] : sizes.exponents)
      if (count)
        least = std::min(least, share(count));
    if (sizes.zeros)
      least = std::min(least, share(sizes.zeros));
    return std::pow(10, std::floor(std::log10(least) - 1e-6));
  }
};

std::string describe(const Histogram &histogram) {
  HalfCounts fates;
  for (auto [exponent, count] : histogram.sizes.exponents)
    fates[histogram.fateOf(exponent)] += count;
  auto share = [&](Fate fate) {
    return shareText(histogram.share(fates[fate]));
  };
  return "Of all elements " +
         shareText(histogram.share(histogram.sizes.zeros)) + " are zero, " +
         share(Fate::Flushed) + " become zero in f16, " +
         share(Fate::Subnormal) + " become subnormal and " +
         share(Fate::Overflow) + " infinite, with a loss scale of " +
         scalePower(histogram.scale);
}

constexpr double kHeight = 330;

} // namespace

void drawHistogram(Html &html, const GradientSizes &sizes, double scale,
                   Chart::Frame frame, ArrayRef<double> beside) {
  Histogram histogram(sizes, scale, beside);
  frame.height = kHeight;
  frame.top = 46;
  frame.bottom = 48;
  Chart chart(html, frame,
              "Gradients by their size, at loss scale " + scalePower(scale),
              describe(histogram));
  double floor = histogram.floor();
  Axis shares(Axis::Kind::Log10, floor, 1);
  // The two columns on the left are zeros and a space.
  double column = 1.0 / (histogram.end - histogram.first + 2);
  auto left = [&](double exponent) {
    return chart.x((exponent - histogram.first + 2) * column);
  };
  auto range = [&](StringLiteral kind, double from, double to,
                   const Twine &name) {
    chart.area(kind, from, chart.y(1), to - from, chart.plotHeight(), name);
    chart.label((from + to) / 2, chart.y(1) - 6, name);
  };
  double subnormal = left(kSubnormal - histogram.shift),
         normal = left(kNormal - histogram.shift),
         infinite = left(kInfinite - histogram.shift);
  range("range", normal, infinite, "normal in f16");
  range("range faint", subnormal, normal, "subnormal");
  chart.drawAxes(shares, "", shares, "share of all elements (log axis)", false);
  double wide = chart.x(column) - chart.x(0);
  auto bar = [&](StringLiteral kind, double from, uint64_t count,
                 const Twine &what) {
    if (!count)
      return;
    double top = chart.y(shares(histogram.share(count)));
    chart.area(kind, from + wide * 0.08, top, wide * 0.84, chart.y(0) - top,
               what + ": " + shareText(histogram.share(count)) + ", " +
                   pluralText(count, "element"));
  };
  bar("zero", chart.x(0), sizes.zeros, "zero");
  for (auto [exponent, count] : sizes.exponents) {
    Meaning meaning = meaningOf(histogram.fateOf(exponent));
    bar(meaning.kind, left(exponent), count,
        powerText(2, exponent) + " to " + powerText(2, exponent + 1) + ", " +
            meaning.text + " in f16");
  }
  chart.label(chart.x(column / 2), chart.y(0) + 20, "zero");
  int every = 2 + (histogram.end - histogram.first) / 8 / 2 * 2;
  for (int exponent = histogram.first; exponent < histogram.end; ++exponent)
    if (exponent % every == 0 && exponent - histogram.first >= 3)
      chart.label(left(exponent), chart.y(0) + 20, powerText(2, exponent));
  chart.label(chart.x(1), chart.y(0) + 41,
              "size of the gradient, without the loss scale", "end");
}

std::string histogramPicture(const Twine &title, const GradientSizes &sizes,
                             ArrayRef<double> scales) {
  std::string text;
  raw_string_ostream os(text);
  Html html(os);
  Chart::Frame frame{.kind = "panel"};
  constexpr double head = 40, caption = 24, panel = kHeight + caption;
  std::string width = coordinate(frame.width),
              height = coordinate(head + panel * scales.size());
  html.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                    {"viewBox", "0 0 " + width + " " + height},
                    {"font-family", "system-ui, sans-serif"}});
  html.element("title", title).open("style");
  html.literal(kPageStyle).literal(kReportStyle).close();
  html.empty("rect", {{"class", "card"}, {"width", width}, {"height", height}});
  auto write = [&](double y, const Twine &line) {
    html.element("text", line,
                 {{"class", "head"}, {"x", "6"}, {"y", coordinate(y)}});
  };
  write(24, title);
  for (auto [i, scale] : enumerate(scales)) {
    frame.above = head + panel * i + caption;
    write(frame.above - 6, "loss scale " + scalePower(scale));
    drawHistogram(html, sizes, scale, frame, scales);
  }
  html.close();
  return text;
}

} // namespace mp
