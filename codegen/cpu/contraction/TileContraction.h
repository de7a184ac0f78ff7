//===- TileContraction.h - products of bf16 in tile registers ---*- C++ -*-===//
//
// A first launch packs the operands in the order in which tiles are read, k
// padded with zeros (A only if tiles cannot be read in its place):
//   a[matrix, row tile, step of k, 16, 32], b[matrix, column tile, step of k,
//   16 pairs, 16, 2].
// The second sums blocks of C, a part of k at a time, so that the tiles of B of
// a part stay in the first-level cache for all rows of a block.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_CONTRACTION_TILECONTRACTION_H
#define MP_CODEGEN_CPU_CONTRACTION_TILECONTRACTION_H

#include "codegen/cpu/MatrixTiles.h"
#include "codegen/cpu/contraction/Contraction.h"

namespace mp::cpu {

/// Returns whether a product is done in tile registers.
bool isForTiles(const ContractionSpec &spec, const Target &target);

/// How tiles cover a product. The parts are given by k alone.
struct TileContractionPlan {
  TileContractionPlan(const ContractionSpec &spec, unsigned workers);

  int64_t batch, m, n, k;
  int64_t matricesA, matricesB;  ///< 1 where all of the batch share one
  int64_t tilesM, tilesN;        ///< in registers
  int64_t rowTiles, columnTiles; ///< of a matrix, in whole blocks of registers
  bool inPlaceA;                 ///< A is not packed
  int64_t steps, parts;          ///< of k
  int64_t rowsInItem, columnsInItem; ///< tiles of a block of C

  int64_t countA() const {
    return inPlaceA ? matricesA * m * k
                    : matricesA * rowTiles * steps * tileCount;
  }
  int64_t countB() const { return matricesB * columnTiles * steps * tileCount; }
  int64_t rowBlocks() const;
  int64_t columnBlocks() const;
  int64_t items() const { return batch * rowBlocks() * columnBlocks(); }
  int64_t sumsPitch() const { return tilesN * MatrixTiles::side; }
  /// Sums between parts: of all rows of an item, if there are several.
  int64_t sumsCount() const {
    int64_t rows = parts == 1 ? tilesM : rowsInItem;
    return rows * MatrixTiles::side * sumsPitch();
  }
  /// Whether all columns of a row come before the next row: what is stored is
  /// then contiguous, and B stays in the second-level cache.
  bool rowsFirst() const {
    constexpr int64_t cached = 512 << 10;
    return parts == 1 && 2 * columnsInItem * steps * tileCount <= cached;
  }

  /// Elements of a tile of an operand.
  static constexpr int64_t tileCount = MatrixTiles::side * MatrixTiles::depth;
};

/// Emits the launch that packs operands 0 and 1 into new temporaries; returns
/// what takes their place.
llvm::FailureOr<std::pair<KernelArgument, KernelArgument>>
emitOperandTiles(mlir::MLIRContext *context, const ContractionSpec &spec,
                 const TileContractionPlan &plan, ObjectCompiler &compiler,
                 EmittedKernel &kernel);

/// emitContraction where isForTiles.
mlir::FailureOr<EmittedKernel> emitTileContraction(mlir::MLIRContext *context,
                                                   const ContractionSpec &spec,
                                                   unsigned workers,
                                                   ObjectCompiler &compiler);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONTRACTION_TILECONTRACTION_H
