//===- PoolBuilder.h - places and elements of pools -------------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_POOLING_POOLBUILDER_H
#define MP_CODEGEN_CPU_POOLING_POOLBUILDER_H

#include "codegen/cpu/layout/LayoutBuilder.h"
#include "dialect/PoolingRules.h"

namespace mp::cpu {

/// The work items of a result [images, lines, .., channels]: lines, or some
/// channels of each if there are few lines.
struct LineItems {
  int64_t images, lines, channels, lanes;

  /// With more lines, there is work for all threads without splitting channels.
  static constexpr int64_t many = 64;
  int64_t channelBlock() const {
    return images * lines < many ? lanes : channels;
  }
  int64_t channelBlocks() const {
    return llvm::divideCeil(channels, channelBlock());
  }
  int64_t count() const { return images * lines * channelBlocks(); }
  /// The items of a task if an item moves a line of so many pixels.
  int64_t inTask(int64_t pixels, int64_t elementBytes) const {
    int64_t elements = pixels * std::min(channelBlock(), channels);
    return elementsInTask(elementBytes) / std::max<int64_t>(elements, 1);
  }
};

/// Where a line of work is: an image, a row, and channels.
struct Line {
  mlir::Value image, row, channel, count;
};

/// The taps [first, last) of a place that are elements, and the element that
/// tap 0 is or would be.
struct Taps {
  mlir::Value start, first, last;
};

/// The index arithmetic of pools.
class PoolBuilder : public LayoutBuilder {
public:
  using LayoutBuilder::LayoutBuilder;

  /// Calls body(line) for the work items.
  void forLines(const LineItems &items,
                llvm::function_ref<void(const Line &)> body);
  /// Where a pixel of a line's image, in rows of a size, has its first channel.
  mlir::Value pixelOf(const Line &line, mlir::Value row, mlir::Value column,
                      int64_t rows, int64_t columns, int64_t channels);

  Taps tapsOf(const PoolDim &dim, mlir::Value place);
  /// The element that a tap of a place is.
  mlir::Value elementOf(const PoolDim &dim, const Taps &taps, mlir::Value tap) {
    return add(taps.start, mul(tap, dim.window.dilation));
  }
  /// How many taps of a place its mean counts.
  mlir::Value countOf(const PoolDim &dim, mlir::Value place,
                      bool countsPadding);
  /// The places [first, second) that an element belongs to, and with dilations
  /// some more.
  std::pair<mlir::Value, mlir::Value> placesOf(const PoolDim &dim,
                                               mlir::Value element);
  /// The tap of a place that an element is; negative if it is none.
  mlir::Value tapOf(const PoolDim &dim, mlir::Value element, mlir::Value place);

  mlir::Value largerOf(mlir::Value x, int64_t y); ///< with sign
  mlir::Value isNegative(mlir::Value x);
  mlir::Value divideCeil(mlir::Value x, int64_t y) {
    return div(add(x, y - 1), y);
  }
  /// A number in all lanes, as i32 or as a float.
  mlir::Value splat(mlir::Value index, mlir::Type element, int64_t lanes);
  mlir::Value splat(double number, mlir::Type element, int64_t lanes);
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_POOLING_POOLBUILDER_H
