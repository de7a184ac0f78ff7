//===- Svg.cpp - charts as SVG --------------------------------------------===//
#include "runtime/report/Svg.h"
#include "runtime/train/Progress.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace mp {

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

double Axis::position(double value) const {
  switch (kind) {
  case Kind::Linear:
    return value;
  case Kind::Log2:
    return std::log2(value);
  case Kind::Log10:
    return std::log10(value);
  }
  llvm_unreachable("all kinds are handled");
}

Axis::Axis(Kind kind, double least, double most) : kind(kind) {
  low = position(least);
  high = position(most);
  if (high > low)
    return;
  // A constant number is drawn in the middle.
  double around = kind == Kind::Linear && low != 0 ? std::fabs(low) * 0.1 : 1;
  low -= around;
  high += around;
}

Axis Axis::fitting(double least, double most) {
  bool isFar = least > 0 && most / least > 50;
  return Axis(isFar ? Kind::Log10 : Kind::Linear, least, most).withMargin();
}

Axis Axis::withMargin() const {
  Axis wider = *this;
  double margin = (high / 2 - low / 2) * 0.1;
  wider.low -= margin;
  wider.high += margin;
  return wider;
}

double Axis::operator()(double value) const {
  // Halves are used, as a difference of large numbers can be infinite.
  double share =
      (position(value) / 2 - low / 2) / std::max(high / 2 - low / 2, 1e-300);
  return std::isnan(share) ? 0 : std::clamp(share, 0.0, 1.0);
}

/// The smallest of 1, 2, 5, 10, 20, ... that is at least `atLeast`.
static double niceStep(double atLeast, bool isWhole) {
  double power = std::pow(10, std::floor(std::log10(atLeast)));
  double step = 10 * power;
  for (double factor : {5.0, 2.0, 1.0})
    if (factor * power >= atLeast * (1 - 1e-9))
      step = factor * power;
  return isWhole ? std::max(std::round(step), 1.0) : step;
}

std::vector<double> Axis::ticks(unsigned most) const {
  if (kind == Kind::Log10 && high - low < 2)
    return ticksOfFewDecades();
  double step = niceStep(high / most - low / most, kind != Kind::Linear);
  std::vector<double> ticks;
  // Ticks are counted, as adding a small step may not change a large number.
  double first = std::ceil(low / step - 1e-9);
  for (unsigned i = 0; i <= most; ++i) {
    double tick = (first + i) * step;
    if (!std::isfinite(tick) || tick > high + step * 1e-6)
      break;
    ticks.push_back(kind == Kind::Linear ? tick
                    : kind == Kind::Log2 ? std::exp2(tick)
                                         : std::pow(10, tick));
  }
  return ticks;
}

/// Ticks at 0.1, 0.2, 0.5, 1, 2, ...
std::vector<double> Axis::ticksOfFewDecades() const {
  std::vector<double> ticks;
  for (int decade = std::floor(low); decade <= high; ++decade)
    for (double factor : {1.0, 2.0, 5.0}) {
      double tick = factor * std::pow(10, decade);
      if (double place = std::log10(tick); place >= low && place <= high)
        ticks.push_back(tick);
    }
  return ticks;
}

std::string powerText(unsigned base, int exponent) {
  static constexpr StringLiteral digits[] = {"⁰", "¹", "²", "³", "⁴",
                                             "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = std::to_string(base);
  for (char c : std::to_string(exponent))
    text += c == '-' ? StringRef("⁻") : StringRef(digits[c - '0']);
  return text;
}

std::string scalePower(double scale) {
  int exponent = 0;
  bool isPower = std::isfinite(scale) && std::frexp(scale, &exponent) == 0.5;
  return isPower && scale != 1 ? powerText(2, exponent - 1) : scaleText(scale);
}

std::string withPowers(StringRef text) {
  std::string found;
  while (!text.empty()) {
    auto [before, after] = text.split("2^");
    bool isAlone = before.empty() || !isAlnum(before.back());
    StringRef rest = after;
    int exponent = 0;
    found += before;
    if (before.size() == text.size())
      break;
    if (isAlone && !rest.consumeInteger(10, exponent) &&
        std::abs(exponent) < 10000) {
      found += powerText(2, exponent);
      text = rest;
    } else {
      found += "2^";
      text = after;
    }
  }
  return found;
}

std::string Axis::label(double tick) const {
  if (kind == Kind::Log2)
    return powerText(2, std::lround(std::log2(tick)));
  if (kind == Kind::Log10)
    if (double power = std::round(std::log10(tick)); std::fabs(power) > 3)
      return powerText(10, static_cast<int>(power));
  if (tick == std::round(tick) && std::fabs(tick) >= 1e4 &&
      std::fabs(tick) < 1e9)
    return (tick < 0 ? "-" : "") + countText(std::llround(std::fabs(tick)));
  // A sum of small steps around zero may differ from zero by rounding.
  bool isZero = kind == Kind::Linear && std::fabs(tick) < 1e-9 * (high - low);
  return shortNumber(isZero ? 0 : tick);
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

std::string coordinate(double value) {
  std::string text;
  raw_string_ostream(text) << format("%.1f", value);
  if (StringRef(text).ends_with(".0"))
    text.resize(text.size() - 2);
  return text;
}

void PathData::to(double x, double y) {
  text += isDown ? "L" : "M";
  text += coordinate(x) + "," + coordinate(y);
  // A line of length zero with round ends is a dot.
  if (!isDown)
    text += "h0";
  isDown = true;
}

void PathData::lift() { isDown = false; }

void PathData::close() {
  if (isDown)
    text += "Z";
  isDown = false;
}

std::string PathData::take() {
  isDown = false;
  return std::exchange(text, {});
}

//===----------------------------------------------------------------------===//
// Charts
//===----------------------------------------------------------------------===//

Chart::Chart(Html &html, const Frame &frame, const Twine &title,
             const Twine &description)
    : html(html), frame(frame) {
  std::string id = std::to_string(html.unique());
  html.open("svg", {{"class", frame.kind.str()},
                    {"viewBox", "0 0 " + coordinate(frame.width) + " " +
                                    coordinate(frame.height)},
                    {"y", coordinate(frame.above)},
                    {"width", coordinate(frame.width)},
                    {"height", coordinate(frame.height)},
                    {"role", "img"},
                    {"aria-labelledby", "t" + id + " d" + id}});
  html.element("title", title, {{"id", "t" + id}});
  html.element("desc", description, {{"id", "d" + id}});
}

Chart::~Chart() { html.close(); }

double Chart::x(double share) const {
  return frame.left + share * (frame.width - frame.left - frame.right);
}

double Chart::y(double share) const {
  return frame.height - frame.bottom -
         share * (frame.height - frame.top - frame.bottom);
}

void Chart::label(double x, double y, const Twine &text, StringLiteral anchor) {
  html.element("text", text,
               {{"x", coordinate(x)},
                {"y", coordinate(y)},
                {"text-anchor", anchor.str()}});
}

void Chart::drawAxes(const Axis &xAxis, const Twine &xName, const Axis &yAxis,
                     const Twine &yName, bool withXTicks) {
  PathData grid;
  for (double tick : yAxis.ticks(5)) {
    double height = y(yAxis(tick));
    grid.to(x(0), height);
    grid.to(x(1), height);
    grid.lift();
    label(x(0) - 6, height + 4, yAxis.label(tick), "end");
  }
  path("grid", grid);
  PathData base;
  base.to(x(0), y(0));
  base.to(x(1), y(0));
  path("base", base);
  if (withXTicks)
    for (double tick : xAxis.ticks(frame.width > 500 ? 6 : 4))
      // The end of the axis is left to its name.
      if (xAxis(tick) < 0.88)
        label(x(xAxis(tick)), y(0) + 23, xAxis.label(tick));
  label(x(1), y(0) + 23, xName, "end");
  label(6, 15, yName, "start");
}

void Chart::path(StringLiteral kind, PathData &data) {
  if (!data.empty())
    html.empty("path", {{"class", kind.str()}, {"d", data.take()}});
}

void Chart::mark(StringLiteral kind, PathData &data, const Twine &tip) {
  html.open("path", {{"class", kind.str()}, {"d", data.take()}});
  html.element("title", tip).close();
}

void Chart::area(StringLiteral kind, double x, double y, double width,
                 double height, const Twine &tip) {
  html.open("rect", {{"class", kind.str()},
                     {"x", coordinate(x)},
                     {"y", coordinate(y)},
                     {"width", coordinate(std::max(width, 0.0))},
                     {"height", coordinate(std::max(height, 0.0))}});
  if (!tip.isTriviallyEmpty())
    html.element("title", tip);
  html.close();
}

void drawBar(Html &html, ArrayRef<BarPart> parts, const Twine &title) {
  constexpr double width = 200, height = 14;
  html.open("svg", {{"class", "bar"},
                    {"viewBox", "0 0 200 14"},
                    {"preserveAspectRatio", "none"},
                    {"role", "img"},
                    {"aria-label", title.str()}});
  double from = 0;
  for (const BarPart &part : parts) {
    double share = std::isfinite(part.share) ? part.share : 0;
    double wide = std::clamp(share, 0.0, 1.0) * width;
    // Nonzero parts stay visible, however small.
    if (wide > 0)
      wide = std::max(wide, 1.5);
    if (wide > 0) {
      html.open("rect", {{"class", part.kind.str()},
                         {"x", coordinate(std::min(from, width - wide))},
                         {"y", "0"},
                         {"width", coordinate(wide)},
                         {"height", coordinate(height)}});
      html.element("title", part.tip).close();
    }
    from += wide;
  }
  html.close();
}

} // namespace mp
