//===- TileGradient.h - gradients of weights in tiles -----------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_CONVOLUTION_TILEGRADIENT_H
#define MP_CODEGEN_CPU_CONVOLUTION_TILEGRADIENT_H

#include "codegen/cpu/convolution/ConvolutionCode.h"
#include "codegen/cpu/convolution/TilePlan.h"

namespace mp::cpu {

/// A work item has a part of the pairs of images and some tiles of the result's
/// channels. Sums are f32, in tiles of 16 channels of the result by 16 elements
/// of a run:
///   sums[part, group, channel tile, row tap, run tile, 16, 16].
/// Runs that would fill a tile badly, as those of images with three channels,
/// are its rows, and the channels of the result its columns.
struct TileGradientPlan {
  TileGradientPlan(const SlidingProduct &product, TileUnit unit);

  TileUnit unit;
  WindowRuns runs;     ///< in pairs
  int64_t runTiles;    ///< of all runs of a row of the window
  int64_t tilesAtOnce; ///< of a run, in registers
  bool areRunsRows;
  int64_t channelTiles, channelTilesInItem;
  int64_t pairs, parts;            ///< parts are by the shape alone
  int64_t rowsAtOnce, pairsAtOnce; ///< that are in scratch together

  PaddedAxis rows, columns;
  int64_t gradientPitch; ///< pairs from a channel of a row to the next

  int64_t tilesOfRun() const {
    return divideCeil(runs.length, MatrixTiles::side);
  }
  int64_t channelStride(const SlidingProduct &product) const {
    return product.rows.taps * runTiles * MatrixTiles::side * MatrixTiles::side;
  }
  int64_t sumsCount(const SlidingProduct &product) const {
    return parts * product.groups * channelTiles * channelStride(product);
  }
  int64_t channelBlocks() const {
    return divideCeil(channelTiles, channelTilesInItem);
  }
  int64_t sourceStride(const SlidingProduct &product) const {
    return rows.size * columns.size * product.in;
  }
  int64_t gradientStride() const {
    return rowsAtOnce * channelTilesInItem * MatrixTiles::side * gradientPitch;
  }
  /// The last tile of a row reads past its end.
  int64_t sourceCount(const SlidingProduct &product) const {
    return pairsAtOnce * sourceStride(product) + MatrixTiles::side;
  }
  int64_t scratchBytes(const SlidingProduct &product) const {
    return 4 * (llvm::alignTo(sourceCount(product), MatrixTiles::side) +
                pairsAtOnce * gradientStride());
  }

private:
  void setRows(const SlidingProduct &product, int64_t count) {
    rowsAtOnce = count;
    rows = PaddedAxis(product.rows, count);
  }
};

/// Arranges a pair of images as tiles read them. In words of 32 bits, the same
/// element of both:
///   source[row, column, channel], padded with zeros,
///   gradient[row, channel, column], or, where runs are rows,
///   gradient[row, channel tile, column, 16].
class PairPacker {
public:
  PairPacker(ConvolutionBuilder &b, const SlidingProduct &product,
             const TileGradientPlan &plan, const FlatMemory &source,
             const FlatMemory &gradient)
      : b(b), product(product), plan(plan), source(source), gradient(gradient) {
  }

  /// Turns to images 2 * pair and 2 * pair + 1. Where there is no second one,
  /// it counts as zeros.
  void findImages(mlir::Value pair);
  /// Packs what places of rows from `first` on read.
  void packSource(mlir::Value group, mlir::Value first, mlir::Value to);
  /// Packs `rows` rows of some tiles of channels.
  void packGradient(mlir::Value group, mlir::Value firstTile,
                    mlir::Value channelTiles, mlir::Value first,
                    mlir::Value rows, mlir::Value to);

private:
  mlir::Value loadPairs(const FlatMemory &memory, const mlir::Value (&at)[2],
                        mlir::Value mask);
  mlir::Value loadPlace(mlir::Value group, mlir::Value tile, mlir::Value row,
                        mlir::Value place);
  void packSquare(mlir::Value group, mlir::Value tile, mlir::Value row,
                  mlir::Value column, mlir::Value to);

  ConvolutionBuilder &b;
  const SlidingProduct &product;
  const TileGradientPlan &plan;
  FlatMemory source, gradient;
  mlir::Value images[2], hasSecond;
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONVOLUTION_TILEGRADIENT_H
