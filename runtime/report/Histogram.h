//===- Histogram.h - histograms of gradient magnitudes ----------*- C++ -*-===//
#ifndef MP_RUNTIME_REPORT_HISTOGRAM_H
#define MP_RUNTIME_REPORT_HISTOGRAM_H

#include "runtime/numerics/Ledger.h"
#include "runtime/report/Svg.h"
#include <map>

namespace mp {

/// The number of elements of [2^e, 2^(e+1)) by e, unscaled, and of zeros.
struct GradientSizes {
  std::map<int, uint64_t> exponents;
  uint64_t zeros = 0;
  int headroom = kHeadroom;
};

/// Draws the shares of all elements, with their fates in f16 at the scale; the
/// axis also covers the scales of the pictures that it stands beside.
void drawHistogram(Html &html, const GradientSizes &sizes, double scale,
                   Chart::Frame frame = {}, llvm::ArrayRef<double> beside = {});

/// An SVG file with a histogram for each scale, one above the other. It is
/// light or dark like the reader's system.
std::string histogramPicture(const llvm::Twine &title,
                             const GradientSizes &sizes,
                             llvm::ArrayRef<double> scales);

} // namespace mp

#endif // MP_RUNTIME_REPORT_HISTOGRAM_H
