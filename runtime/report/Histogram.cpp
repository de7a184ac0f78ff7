//===- Histogram.cpp - how large gradients are ----------------------------===//
//
// The picture of Micikevicius et al., "Mixed Precision Training" (ICLR 2018),
// figure 2: shares on a logarithmic axis, as what is lost is often little, and
// zeros apart, as they have no exponent.
//
//===----------------------------------------------------------------------===//
#include "runtime/Ledger.h"
#include "runtime/report/Sections.h"
#include "runtime/report/Svg.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace mp {
namespace {

/// Exponents of f16's least subnormal number, its least normal one and the
/// first that it does not have.
constexpr int kSubnormal = -24, kNormal = -14, kInfinite = 16;

/// What becomes of most numbers of an exponent: class of the style sheet, and
/// words.
struct Meaning {
  StringLiteral kind, text;
};

Fate fateOf(int exponent) {
  return fateInHalf(std::ldexp(1.5, exponent), kHeadroom);
}

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
  const std::map<int, uint64_t> &counts;
  uint64_t zeros, all = zeros;
  int scaleExponent;
  int first, end; ///< exponents that are drawn

  Histogram(const std::map<int, uint64_t> &counts, uint64_t zeros,
            int scaleExponent)
      : counts(counts), zeros(zeros), scaleExponent(scaleExponent),
        first(kSubnormal - scaleExponent - 2),
        end(kInfinite - scaleExponent + 2) {
    for (auto [exponent, count] : counts) {
      if (!count)
        continue;
      all += count;
      first = std::min(first, exponent - 1);
      end = std::max(end, exponent + 2);
    }
  }
  double share(uint64_t count) const {
    return all ? static_cast<double>(count) / all : 0;
  }
  /// A power of ten below every share.
  double floor() const {
    double least = 1e-3;
    for (auto [exponent, count] : counts)
      if (count)
        least = std::min(least, share(count));
    if (zeros)
      least = std::min(least, share(zeros));
    return std::pow(10, std::floor(std::log10(least) - 1e-6));
  }
};

std::string describe(const Histogram &histogram) {
  HalfCounts fates;
  for (auto [exponent, count] : histogram.counts)
    fates[fateOf(exponent + histogram.scaleExponent)] += count;
  auto share = [&](Fate fate) {
    return shareText(histogram.share(fates[fate]));
  };
  return "Of all elements " + shareText(histogram.share(histogram.zeros)) +
         " are zero, " + share(Fate::Flushed) + " become zero in f16, " +
         share(Fate::Subnormal) + " become subnormal and " +
         share(Fate::Overflow) + " infinite, with a loss scale of 2^" +
         std::to_string(histogram.scaleExponent);
}

} // namespace

void drawHistogram(Html &html, const std::map<int, uint64_t> &counts,
                   uint64_t zeros, int scaleExponent) {
  Histogram histogram(counts, zeros, scaleExponent);
  Chart::Frame frame;
  frame.height = 310;
  frame.bottom = 44;
  Chart chart(html, frame, "Gradients by their size", describe(histogram));
  double floor = histogram.floor();
  Axis shares(Axis::Kind::Log10, floor, 1);
  // The two columns on the left are the zeros and a space.
  double column = 1.0 / (histogram.end - histogram.first + 2);
  auto left = [&](int exponent) {
    return chart.x((exponent - histogram.first + 2) * column);
  };
  auto range = [&](StringLiteral kind, int from, int to, const Twine &tip) {
    chart.area(kind, left(from - scaleExponent), chart.y(1),
               left(to - scaleExponent) - left(from - scaleExponent),
               chart.plotHeight(), tip);
  };
  range("range", kNormal, kInfinite, "what f16 has as normal numbers");
  range("range faint", kSubnormal, kNormal,
        "what f16 has as subnormal numbers");
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
  bar("zero", chart.x(0), zeros, "zero");
  for (auto [exponent, count] : counts) {
    Meaning meaning = meaningOf(fateOf(exponent + scaleExponent));
    bar(meaning.kind, left(exponent), count,
        "2^" + Twine(exponent) + " to 2^" + Twine(exponent + 1) + ", " +
            meaning.text + " in f16");
  }
  chart.label(chart.x(column / 2), chart.y(0) + 17, "zero");
  int every = 2 + (histogram.end - histogram.first) / 12 / 2 * 2;
  for (int exponent = histogram.first; exponent < histogram.end; ++exponent)
    if (exponent % every == 0 && exponent - histogram.first >= 3)
      chart.label(left(exponent), chart.y(0) + 17, powerText(2, exponent));
  chart.label(chart.x(1), chart.y(0) + 37,
              "size of the gradient, without the loss scale", "end");
}

} // namespace mp
