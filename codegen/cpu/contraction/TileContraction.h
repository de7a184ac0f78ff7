//===- TileContraction.h - products of bf16 in tiles ------------*- C++ -*-===//
//
// A first launch packs the operands in the order in which tiles are read, k
// padded with zeros (A only if tiles cannot be read in its place):
//   a[matrix, row tile, step of k, 16, 32], b[matrix, column tile, step of k,
//   16 pairs, 16, 2].
// A B that is kept between products has a launch of its own. The next sums
// blocks of C, a part of k at a time, so that the tiles of B of a part stay in
// the first-level cache for all rows of a block. Where C is small and k large,
// as in the gradient of a weight, there is one launch, whose items pack a part
// of both operands into scratch before they sum it. They do so with A alone
// where it is very large, as the gradient of logits is, which a copy would hold
// twice.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_CONTRACTION_TILECONTRACTION_H
#define MP_CODEGEN_CPU_CONTRACTION_TILECONTRACTION_H

#include "codegen/cpu/MatrixTiles.h"
#include "codegen/cpu/contraction/Contraction.h"

namespace mp::cpu {

/// Returns what multiplies the tiles of a product, if it is done in tiles.
std::optional<TileUnit> tileUnitFor(const ContractionSpec &spec,
                                    const Target &target);

/// How tiles cover a product. The parts are given by k alone.
struct TileContractionPlan {
  TileContractionPlan(const ContractionSpec &spec, unsigned workers,
                      TileUnit unit);

  TileUnit unit;
  int64_t batch, m, n, k;
  int64_t matricesA, matricesB;  ///< 1 where all of the batch share one
  int64_t tilesM, tilesN;        ///< in registers
  int64_t rowTiles, columnTiles; ///< of a matrix, in whole blocks of registers
  int64_t rowsOfTile;            ///< fewer than 16 if tiles share few rows
  bool inPlaceA;                 ///< A is not packed
  /// Items pack a part of the operand at a time, into scratch: A alone or both.
  bool packsA, packsB;
  int64_t steps, parts;              ///< of k
  int64_t rowsInItem, columnsInItem; ///< tiles of a block of C

  /// Elements of an operand as the second launch reads it.
  int64_t countA() const {
    int64_t packed = rowTiles * steps * tileCount;
    return matricesA * (inPlaceA || packsA ? m * k : packed);
  }
  int64_t countB() const {
    int64_t packed = columnTiles * steps * tileCount;
    return matricesB * (packsB ? n * k : packed);
  }
  int64_t rowBlocks() const;
  int64_t columnBlocks() const;
  int64_t items() const { return batch * rowBlocks() * columnBlocks(); }
  int64_t sumsPitch() const { return tilesN * MatrixTiles::side; }
  /// Sums between parts: of all rows of an item, if there are several parts,
  /// and of all columns, if each part is of all.
  int64_t sumsCount() const {
    int64_t rows = parts == 1 ? tilesM : rowsInItem;
    int64_t columns = packsA ? columnsInItem / tilesN : 1;
    return rows * columns * MatrixTiles::side * sumsPitch();
  }
  /// Steps of all pairs. The last one may have fewer, which dot products take
  /// alone; the zeros after them are multiplied by tile registers, whose shapes
  /// are few.
  int64_t wholeSteps() const {
    return unit == TileUnit::DotProducts ? k / MatrixTiles::depth : steps;
  }
  int64_t pairsOfRest() const { return (k % MatrixTiles::depth + 1) / 2; }
  int64_t stepsInPart() const { return (steps + parts - 1) / parts; }
  /// Elements of the tiles of a part, in scratch.
  int64_t scratchA() const { return packsA ? rowsInItem * countOfPart() : 0; }
  int64_t scratchB() const {
    return packsB ? columnsInItem * countOfPart() : 0;
  }
  int64_t scratchBytes() const {
    return 4 * sumsCount() + 2 * (scratchA() + scratchB());
  }
  /// Whether all columns of a row come before the next row: what is stored is
  /// then contiguous, and B stays in the second-level cache.
  bool rowsFirst() const {
    constexpr int64_t cached = 512 << 10;
    return parts == 1 && !packsA &&
           2 * columnsInItem * steps * tileCount <= cached;
  }

  /// Elements of a tile of an operand.
  static constexpr int64_t tileCount = MatrixTiles::side * MatrixTiles::depth;

private:
  /// Elements of a tile of an operand in a part of k.
  int64_t countOfPart() const { return stepsInPart() * tileCount; }
  void chooseItems(const ContractionSpec &spec, unsigned workers);
  void chooseBlocks();
  void chooseBlocksOfParts();
};

/// One operand of a product, by its lines: rows of A or columns of B.
struct TileOperand {
  int64_t lines, tiles, linesOfTile, k;
  bool linesAreNeighbours; ///< in memory, and not the elements of a line
  bool isB;

  int64_t steps() const {
    return (k + MatrixTiles::depth - 1) / MatrixTiles::depth;
  }
};
TileOperand operandA(const ContractionSpec &spec,
                     const TileContractionPlan &plan);
TileOperand operandB(const ContractionSpec &spec,
                     const TileContractionPlan &plan);

/// Packs one operand.
class TilePacker {
public:
  TilePacker(LoopBuilder &b, const TileOperand &operand,
             const FlatMemory &source, const FlatMemory &packed)
      : b(b), operand(operand), source(source), packed(packed) {}

  /// Packs step `step` of a tile of a matrix's lines to `to`.
  void emit(mlir::Value matrix, mlir::Value tile, mlir::Value step,
            mlir::Value to);

private:
  void emitLines(mlir::Value at, mlir::Value to, int64_t depth);
  void emitNeighbours(mlir::Value at, mlir::Value to, int64_t depth);
  void store(mlir::Value words, mlir::Value to, int64_t row);

  LoopBuilder &b;
  TileOperand operand;
  FlatMemory source, packed;
  mlir::Value first; ///< line of the tile
};

/// Emits what packs operands 0 and 1 into new temporaries, but for those that
/// items pack, in one launch or, if one of them is kept, in two; returns what
/// takes their place.
llvm::FailureOr<std::pair<KernelArgument, KernelArgument>>
emitOperandTiles(mlir::MLIRContext *context, const ContractionSpec &spec,
                 const TileContractionPlan &plan, ObjectCompiler &compiler,
                 EmittedKernel &kernel);

/// emitContraction where there is a tileUnitFor it.
mlir::FailureOr<EmittedKernel>
emitTileContraction(mlir::MLIRContext *context, const ContractionSpec &spec,
                    unsigned workers, TileUnit unit, ObjectCompiler &compiler);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONTRACTION_TILECONTRACTION_H
