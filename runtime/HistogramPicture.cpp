//===- HistogramPicture.cpp - what f16 holds of a tensor, drawn -----------===//
#include "runtime/HistogramPicture.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;

namespace mp {
namespace {

/// Of f16, as positions on the axis: where its least number, its least normal
/// one and its infinity are. What is above half the least number rounds up.
constexpr double kLeast = -25, kLeastNormal = -14, kInfinite = 16;

// In units of the viewBox.
constexpr double kWidth = 860, kLeft = 56, kRight = 14, kTop = 58;
constexpr double kPlot = 190, kPanel = kPlot + 74;
/// Left of the axis there are the zeros.
constexpr double kZeros = 46;

// By class, and so that it disturbs no page that it stands in.
constexpr StringLiteral kStyle = R"(
.mp-hist{font:12px system-ui,sans-serif;--ink:#1c2128;--soft:#656d76;--line:#d0d7de;--paper:#fff;
--bar:#3b6fb6;--lost:#c4432b;--sub:#f3dfa8;--norm:#d3ecd4}
@media (prefers-color-scheme:dark){.mp-hist{--ink:#e6edf3;--soft:#9aa4af;--line:#3d444d;--paper:#0d1117;
--bar:#79a8e8;--lost:#f0846d;--sub:#4a3d12;--norm:#173a20}}
.mp-hist text{fill:var(--ink)}.mp-hist .soft{fill:var(--soft)}.mp-hist .paper{fill:var(--paper)}
.mp-hist .head{font-weight:600;font-size:14px}.mp-hist .cap{font-weight:600}
.mp-hist .bar{fill:var(--bar)}.mp-hist .lost{fill:var(--lost)}
.mp-hist .sub{fill:var(--sub)}.mp-hist .norm{fill:var(--norm)}
.mp-hist .line{stroke:var(--line);fill:none}.mp-hist .mid{text-anchor:middle}.mp-hist .end{text-anchor:end}
)";

/// Text as XML takes it.
std::string escaped(StringRef text) {
  std::string valid = json::fixUTF8(text), escaped;
  // XML has no way to write other control characters.
  for (char &c : valid)
    if (static_cast<unsigned char>(c) < ' ')
      c = ' ';
  raw_string_ostream os(escaped);
  printHTMLEscaped(valid, os);
  return escaped;
}

class Drawing {
public:
  Drawing(const Histogram &histogram, ArrayRef<HistogramPanel> panels)
      : histogram(histogram), panels(panels), os(text) {
    uint64_t most = histogram.zeros;
    total = histogram.zeros;
    for (auto [exponent, count] : histogram.exponents) {
      total += count;
      most = std::max(most, count);
    }
    // At least all that f16 holds, and a little on either side.
    low = kLeast - 2;
    high = kInfinite + 1;
    if (!histogram.exponents.empty())
      for (const HistogramPanel &panel : panels) {
        double shift = std::log2(panel.scale);
        int first = std::max(histogram.exponents.front().first, rest());
        low = std::min(low, first + shift);
        high = std::max(high, histogram.exponents.back().first + 1 + shift);
      }
    low = std::floor(low);
    high = std::ceil(high);
    tallest = niceShare(total ? static_cast<double>(most) / total : 1);
  }

  std::string draw() {
    double height = kTop + kPanel * panels.size();
    os << format("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mp-hist\" "
                 "viewBox=\"0 0 %g %g\" role=\"img\" width=\"100%%\">",
                 kWidth, height)
       << "<title>" << escaped(histogram.title) << "</title><style>" << kStyle
       << "</style>"
       << format("<rect class=\"paper\" width=\"%g\" height=\"%g\"/>", kWidth,
                 height);
    write(kLeft, 24, "head", histogram.title);
    write(kLeft, 42, "soft",
          "share of all elements, by magnitude times the loss scale");
    for (auto [i, panel] : enumerate(panels))
      drawPanel(panel, kTop + kPanel * i);
    os << "</svg>\n";
    return std::move(text);
  }

private:
  /// What is far below the largest is not worth its room: one bar has all that
  /// is of this exponent or of a lower one.
  int rest() const { return histogram.exponents.back().first - 72; }

  static double niceShare(double share) {
    for (double nice : {0.02, 0.05, 0.1, 0.2, 0.5})
      if (share <= nice)
        return nice;
    return 1;
  }

  double x(double exponent) const {
    double begin = kLeft + kZeros;
    double at = (std::clamp(exponent, low, high) - low) / (high - low);
    return begin + at * (kWidth - kRight - begin);
  }

  void write(double x, double y, StringRef style, StringRef words) {
    os << format("<text x=\"%.1f\" y=\"%.1f\"", x, y) << " class=\"" << style
       << "\">" << escaped(words) << "</text>";
  }

  void rect(StringRef style, double left, double right, double top,
            double bottom, StringRef tip = "") {
    os << "<rect class=\"" << style << "\""
       << format(" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", left,
                 top, std::max(right - left, 0.0), std::max(bottom - top, 0.0));
    if (tip.empty())
      os << "/>";
    else
      os << "><title>" << escaped(tip) << "</title></rect>";
  }

  void line(double x1, double y1, double x2, double y2) {
    os << format("<path class=\"line\" d=\"M%.1f %.1fL%.1f %.1f\"/>", x1, y1,
                 x2, y2);
  }

  void drawPanel(const HistogramPanel &panel, double top) {
    double plot = top + 34, bottom = plot + kPlot;
    write(kLeft, top + 14, "cap", panel.caption);
    drawRanges(plot, bottom);
    drawAxes(plot, bottom);
    drawBars(panel, plot, bottom);
  }

  /// Where f16 has numbers.
  void drawRanges(double top, double bottom) {
    rect("sub", x(kLeast), x(kLeastNormal), top, bottom);
    rect("norm", x(kLeastNormal), x(kInfinite), top, bottom);
    auto middle = [&](double from, double to) { return (x(from) + x(to)) / 2; };
    write(middle(kLeast, kLeastNormal), top - 6, "soft mid", "subnormal");
    write(middle(kLeastNormal, kInfinite), top - 6, "soft mid",
          "normal in f16");
    write(x(kLeast) - 4, top - 6, "soft end", "becomes zero");
  }

  void drawAxes(double top, double bottom) {
    for (int i = 0; i <= 2; ++i) {
      double share = tallest * i / 2, y = bottom - (bottom - top) * i / 2;
      line(kLeft, y, kWidth - kRight, y);
      std::string label;
      raw_string_ostream(label) << format("%g%%", 100 * share);
      write(kLeft - 6, y + 4, "soft end", label);
    }
    int step = high - low > 70 ? 16 : 8;
    for (int e = std::ceil(low / step) * step; e <= high; e += step)
      write(x(e), bottom + 16, "soft mid", "2^" + itostr(e));
    write(kLeft + kZeros / 2 - 4, bottom + 16, "soft mid", "zero");
  }

  void drawBars(const HistogramPanel &panel, double top, double bottom) {
    auto bar = [&](StringRef style, double left, double right, uint64_t count,
                   const std::string &what) {
      double share = total ? static_cast<double>(count) / total : 0;
      std::string tip;
      raw_string_ostream(tip)
          << what << ": " << count << format(" (%.3g%%)", 100 * share);
      rect(style, left, right, bottom - (bottom - top) * share / tallest,
           bottom, tip);
    };
    bar("bar", kLeft + 6, kLeft + kZeros - 14, histogram.zeros, "zero");
    double shift = std::log2(panel.scale);
    auto at = [&](int exponent, uint64_t count, const std::string &what) {
      double left = exponent + shift;
      // Where a scale is no power of two, the middle stands for all.
      double middle = left + std::log2(1.5);
      bool isLost = middle < kLeast || middle >= kInfinite;
      bar(isLost ? "lost" : "bar", x(left) + 0.5, x(left + 1) - 0.5, count,
          what);
    };
    uint64_t below = 0;
    for (auto [exponent, count] : histogram.exponents)
      if (exponent <= rest())
        below += count;
      else
        at(exponent, count, "2^" + itostr(exponent) + " unscaled");
    if (below)
      at(rest(), below, "2^" + itostr(rest()) + " unscaled and less");
  }

  const Histogram &histogram;
  ArrayRef<HistogramPanel> panels;
  uint64_t total = 0;
  double tallest = 1; ///< share that is as high as a panel
  double low, high;   ///< exponents at both ends of the axis
  std::string text;
  raw_string_ostream os;
};

} // namespace

std::string histogramSvg(const Histogram &histogram,
                         ArrayRef<HistogramPanel> panels) {
  return Drawing(histogram, panels).draw();
}

} // namespace mp
