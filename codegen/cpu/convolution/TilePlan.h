//===- TilePlan.h - how tiles cover a convolution ---------------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_CONVOLUTION_TILEPLAN_H
#define MP_CODEGEN_CPU_CONVOLUTION_TILEPLAN_H

#include "codegen/cpu/MatrixTiles.h"
#include "codegen/cpu/convolution/ConvolutionPlan.h"

namespace mp::cpu {

/// Returns what multiplies the tiles of a convolution of these elements, if it
/// is done in tiles.
std::optional<TileUnit> tileUnitFor(const SlidingProduct &product,
                                    mlir::Type source, mlir::Type weight,
                                    const Target &target);

/// One dimension of the padded images in scratch. Element i is element
/// `first + i * distance` of the source; elements that no tap reaches are left
/// out where that is simple.
struct PaddedAxis {
  PaddedAxis() = default;
  /// What `places` of the axis read.
  PaddedAxis(const SlideAxis &axis, int64_t places);

  int64_t size = 0, distance = 1;
  int64_t step = 1;     ///< from one place to the next
  int64_t dilation = 1; ///< from one tap to the next
  /// Those that the source has, where a block begins at the first place.
  int64_t begin = 0, end = 0;
};

/// Neighbouring elements of a row of the window: all taps, or one where they
/// lie apart. Whole steps of the inner dimension, and a rest.
struct WindowRuns {
  int64_t count, length;
  int64_t depth; ///< of a step

  int64_t steps() const { return length / depth; }
  int64_t rest() const { return length % depth; }
};

/// A work item copies its rows of some images, padded, into scratch, and sums
/// tiles of up to 16 pixels by 16 channels. In tile registers, where
/// neighbouring places read neighbouring pixels, a tile goes on from the end of
/// a row to the next: the places between are summed and dropped. Tiles of dot
/// products have whole rows, or equal parts of one. How much an item has does
/// not change a bit of the result.
struct TilePlan {
  TilePlan(const SlidingProduct &product, unsigned workers, TileUnit unit);

  TileUnit unit;
  int64_t channels; ///< of a pixel in scratch: those of a group, made even
  int64_t pitch;    ///< elements from a pixel in scratch to the next
  WindowRuns runs;
  int64_t panels;         ///< of 16 channels of the result, in whole blocks
  int64_t tilesM, tilesN; ///< in registers at once: of pixels, of channels
  /// Places that a tile has, of so many rows of the result or of part of one.
  int64_t places = MatrixTiles::side, rowsOfTile = 1;
  bool acrossRows; ///< tiles go on in the next row
  bool skipsRows;  ///< row taps in the padding are left out

  int64_t imagesInItem, rowsInItem, panelsInItem;
  PaddedAxis rows, columns; ///< of an image of an item
  int64_t rowsAtOnce;       ///< whose sums are kept before they are rounded
  int64_t sumsPitch;        ///< pixels from one row of them to the next

  int64_t imageStride() const { return rows.size * columns.size * pitch; }
  /// The last tile of a row reads past its end, and that of an image past the
  /// last row.
  int64_t imageCount() const {
    return imagesInItem * imageStride() + (rowsOfTile - 1) * rowStride() +
           (MatrixTiles::side * columns.step + 1) * pitch + MatrixTiles::depth;
  }
  /// From what a row of places reads to what the next does.
  int64_t rowStride() const { return rows.step * columns.size * pitch; }
  int64_t blockColumns() const { return tilesN * MatrixTiles::side; }
  int64_t sumsCount() const {
    return llvm::alignTo(rowsAtOnce * sumsPitch + MatrixTiles::side,
                         MatrixTiles::side) *
           blockColumns();
  }
  int64_t panelStride(const SlidingProduct &product) const {
    return product.rows.taps * runs.count * runs.length * MatrixTiles::side;
  }
  int64_t imageBlocks(const SlidingProduct &product) const {
    return divideCeil(product.images, imagesInItem);
  }
  int64_t rowBlocks(const SlidingProduct &product) const {
    return divideCeil(product.rows.places, rowsInItem);
  }
  int64_t panelGroups() const { return divideCeil(panels, panelsInItem); }

private:
  void chooseRegisters(const SlidingProduct &product);
  void choosePlaces(const SlidingProduct &product);
  void chooseItem(const SlidingProduct &product, unsigned workers);
  void setRows(const SlidingProduct &product, int64_t count);
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONVOLUTION_TILEPLAN_H
