//===- Svg.h - charts as SVG ------------------------------------*- C++ -*-===//
#ifndef MP_RUNTIME_REPORT_SVG_H
#define MP_RUNTIME_REPORT_SVG_H

#include "support/Html.h"

namespace mp {

/// Maps numbers to positions in a picture.
class Axis {
public:
  enum class Kind { Linear, Log2, Log10 };
  /// The numbers of a logarithmic axis must be positive.
  Axis(Kind kind, double least, double most);
  /// A log10 axis if the numbers are positive and far apart, else a linear one;
  /// with a margin.
  static Axis fitting(double least, double most);

  /// The axis with some space at either end.
  Axis withMargin() const;

  /// The position on the axis, from 0 to 1; clamped to its ends.
  double operator()(double value) const;
  /// Numbers for grid lines, at most `most`.
  std::vector<double> ticks(unsigned most) const;
  /// "0.25", or "2¹⁶"
  std::string label(double tick) const;
  bool isLinear() const { return kind == Kind::Linear; }

private:
  double position(double value) const;
  std::vector<double> ticksOfFewDecades() const;

  Kind kind;
  double low, high; ///< as `position` returns them
};

/// "2⁻²⁴"
std::string powerText(unsigned base, int exponent);
/// A loss scale as the page spells it: "2¹⁷", "1000" if it is not a power of
/// two, and "1".
std::string scalePower(double scale);
/// The text with "2^-24" written as "2⁻²⁴".
std::string withPowers(llvm::StringRef text);

/// Builds the `d` attribute of a path.
class PathData {
public:
  void to(double x, double y);
  /// Makes the next point begin a new line. A point alone becomes a dot.
  void lift();
  /// Closes the line that was drawn since the last lift.
  void close();
  bool empty() const { return text.empty(); }
  std::string take();

private:
  std::string text;
  bool isDown = false;
};

std::string coordinate(double value);

/// A chart with two axes. The constructor opens the picture, the destructor
/// closes it.
class Chart {
public:
  struct Frame {
    llvm::StringLiteral kind = "chart"; ///< class of the picture
    double width = 760, height = 290;
    double above = 0; ///< y offset in an enclosing picture
    double left = 66, right = 14, top = 26, bottom = 34;
  };

  Chart(Html &html, const Frame &frame, const llvm::Twine &title,
        const llvm::Twine &description);
  ~Chart();

  /// Lines, labels and the names of what is measured.
  void drawAxes(const Axis &x, const llvm::Twine &xName, const Axis &y,
                const llvm::Twine &yName, bool withXTicks = true);
  double x(double share) const;
  double y(double share) const; ///< 0 is below
  double plotHeight() const { return y(0) - y(1); }

  /// Adds a path with a class of the style sheet, unless it is empty.
  void path(llvm::StringLiteral kind, PathData &data);
  /// Adds a small path with a tooltip.
  void mark(llvm::StringLiteral kind, PathData &data, const llvm::Twine &tip);
  void area(llvm::StringLiteral kind, double x, double y, double width,
            double height, const llvm::Twine &tip = "");
  void label(double x, double y, const llvm::Twine &text,
             llvm::StringLiteral anchor = "middle");

private:
  Html &html;
  Frame frame;
};

/// One part of a bar; parts are side by side.
struct BarPart {
  llvm::StringLiteral kind; ///< class of the style sheet
  double share;             ///< of the bar
  std::string tip;
};
void drawBar(Html &html, llvm::ArrayRef<BarPart> parts,
             const llvm::Twine &title);

} // namespace mp

#endif // MP_RUNTIME_REPORT_SVG_H
