//===- PoolBuilder.h - places and elements of pools -------------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_POOLING_POOLBUILDER_H
#define MP_CODEGEN_CPU_POOLING_POOLBUILDER_H

#include "codegen/cpu/layout/LayoutBuilder.h"
#include "dialect/PoolingRules.h"

namespace mp::cpu {

/// The taps [first, last) of a place that are elements, and the element that
/// tap 0 is or would be.
struct Taps {
  mlir::Value start, first, last;
};

/// The index arithmetic of pools.
class PoolBuilder : public LayoutBuilder {
public:
  using LayoutBuilder::LayoutBuilder;

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
