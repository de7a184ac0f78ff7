//===- Histogram.h - how large gradients are --------------------*- C++ -*-===//
#ifndef MP_RUNTIME_REPORT_HISTOGRAM_H
#define MP_RUNTIME_REPORT_HISTOGRAM_H

#include "runtime/numerics/Ledger.h"
#include "runtime/report/Svg.h"
#include <map>

namespace mp {

/// Elements of [2^e, 2^(e+1)) by e, without a loss scale, and zeros.
struct GradientSizes {
  std::map<int, uint64_t> exponents;
  uint64_t zeros = 0;
  int headroom = kHeadroom;
};

/// The shares of all elements, with what f16 makes of them times the scale; on
/// one axis with the pictures at the scales that it is beside.
void drawHistogram(Html &html, const GradientSizes &sizes, double scale,
                   Chart::Frame frame = {}, llvm::ArrayRef<double> beside = {});

/// A file of SVG: the histogram at one scale above that at the next. Light or
/// dark as the reader's system is.
std::string histogramPicture(const llvm::Twine &title,
                             const GradientSizes &sizes,
                             llvm::ArrayRef<double> scales);

} // namespace mp

#endif // MP_RUNTIME_REPORT_HISTOGRAM_H
