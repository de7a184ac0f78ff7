//===- ConvolutionPlan.h - how a convolution is cut up ----------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_CONVOLUTION_CONVOLUTIONPLAN_H
#define MP_CODEGEN_CPU_CONVOLUTION_CONVOLUTIONPLAN_H

#include "codegen/cpu/Target.h"
#include "codegen/stages/ConvolutionShape.h"

namespace mp::cpu {

/// llvm::divideCeil for signed numbers.
inline int64_t divideCeil(int64_t x, int64_t y) { return (x + y - 1) / y; }

/// Registers that hold a tile: `width` places (or channels of the source) by
/// `vectors` vectors of channels of the result.
struct RegisterTile {
  int64_t width, vectors;
};

/// Returns the tile, of at most `most` places, that covers `places` by
/// `channels` in the fewest cycles.
RegisterTile chooseRegisterTile(const Target &target, int64_t places,
                                int64_t channels, int64_t lanes,
                                int64_t most = INT64_MAX);

/// Neighbouring tiles of a row that have the same width, and whose taps miss
/// the padding alike.
struct TileRun {
  int64_t first, width, tiles; ///< of places
  /// Neighbouring taps that the same places of a tile have a source for.
  struct Taps {
    int64_t first, count;
    int64_t begin, end; ///< of places in a tile
  };
  llvm::SmallVector<Taps> taps;
};

/// Returns a row's tiles, of about equal width and of at most `width`.
llvm::SmallVector<TileRun> tilesOf(const SlideAxis &axis, int64_t width);

/// What convolutions and the gradients of their weights have in common.
struct ConvolutionPlan {
  ConvolutionPlan(const SlidingProduct &product, mlir::Type element,
                  const Target &target);

  /// Channels of the source and of the result, of one group. A depthwise
  /// convolution counts as one group whose channels are vectors on both sides,
  /// `in` being 1.
  int64_t groups, in, out;
  bool depthwise;

  mlir::Type accumulator;
  bool fused;    ///< multiply and add round once
  int64_t lanes; ///< accumulators in a vector
  bool inPlace;  ///< sources are read from their place, not widened first

  /// Channels of a pixel that a group reads.
  int64_t sourceChannels() const { return depthwise ? out : in; }
  unsigned accumulatorBytes() const {
    return accumulator.getIntOrFloatBitWidth() / 8;
  }
  /// The neighbouring places whose sources, so many elements apart, fit the
  /// ways of a first-level cache beside the weight.
  int64_t placesAtOnce(int64_t distance) const;
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONVOLUTION_CONVOLUTIONPLAN_H
