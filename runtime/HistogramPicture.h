//===- HistogramPicture.h - what f16 holds of a tensor, drawn ---*- C++ -*-===//
//
// Figure 2 of Micikevicius et al., Mixed Precision Training (ICLR 2018): the
// share of elements by exponent, zeros apart, over the range of f16.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_HISTOGRAMPICTURE_H
#define MP_RUNTIME_HISTOGRAMPICTURE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <utility>

namespace mp {

struct Histogram {
  llvm::StringRef title;
  /// Exponents of the unscaled elements, the least first, and how many have
  /// each: of [2^e, 2^(e+1)).
  llvm::ArrayRef<std::pair<int, uint64_t>> exponents;
  uint64_t zeros = 0;
};

/// The histogram with all elements times a scale above zero.
struct HistogramPanel {
  std::string caption;
  double scale = 1;
};

/// An SVG of its own, that may also stand in an HTML page: the panels one above
/// the other, on one axis. Light or dark as the reader's system is.
std::string histogramSvg(const Histogram &histogram,
                         llvm::ArrayRef<HistogramPanel> panels);

} // namespace mp

#endif // MP_RUNTIME_HISTOGRAMPICTURE_H
