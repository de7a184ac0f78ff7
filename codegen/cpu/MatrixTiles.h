//===- MatrixTiles.h - products of pairs of bf16 ----------------*- C++ -*-===//
//
// Instructions that add the products of two neighbours multiply tiles: A has 16
// rows of bf16, B a row for each pair of rows of the matrix ("paired": the
// elements of a column of both are neighbours), and C has 16 by 16 sums in f32.
// Subnormal elements and sums count as zero, and no exception is raised.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_MATRIXTILES_H
#define MP_CODEGEN_CPU_MATRIXTILES_H

#include "codegen/cpu/LoopBuilder.h"
#include "codegen/cpu/Target.h"
#include <memory>
#include <optional>

namespace mp::cpu {

/// What multiplies tiles.
enum class TileUnit {
  Registers,   ///< AMX, whose eight registers hold a tile each
  DotProducts, ///< AVX512-BF16: C is in 16 vector registers
};

/// Returns the unit of a CPU, if it has one that is faster than widening.
std::optional<TileUnit> tileUnitOf(const Target &target);

/// Builds code on tiles. A block of C is a list of values, tile by tile in the
/// order of rows, which loops can pass on.
class MatrixTiles {
public:
  static constexpr int64_t side = 16;  ///< rows of A, and columns of B
  static constexpr int64_t depth = 32; ///< elements of a row of tile registers

  /// Returns how many tiles of C the registers hold beside their operands.
  static int64_t atOnce(TileUnit unit) {
    return unit == TileUnit::Registers ? 4 : 1;
  }

  /// Returns how many of `k` elements of a row are multiplied at once.
  static int64_t depthOf(TileUnit unit, int64_t k) {
    return unit == TileUnit::Registers ? depth : k;
  }

  /// Where a tile lies: rows are `pitch` elements apart. An element is one of
  /// 16 bits, or a pair. Dot products take fewer rows, and leave `runPitch`
  /// elements between the first of a run of rows and that of the next.
  struct Place {
    FlatMemory memory;
    mlir::Value at;
    int64_t pitch;
    int64_t rows = side;
    int64_t run = side, runPitch = 0;
  };
  using Block = llvm::SmallVector<mlir::Value>;

  static std::unique_ptr<MatrixTiles> create(LoopBuilder &b, TileUnit unit);
  virtual ~MatrixTiles() = default;

  /// Returns a block of `tiles` tiles of zeros.
  virtual Block zeros(int64_t tiles, int64_t rows = side) = 0;
  /// Loads tiles of f32.
  virtual Block load(llvm::ArrayRef<Place> tiles) = 0;
  virtual void store(mlir::ValueRange block, llvm::ArrayRef<Place> tiles) = 0;
  /// Returns block + A * B for tiles of rows of A and tiles of columns of B,
  /// over `k` elements, an even number up to depthOf all.
  virtual Block multiplyAdd(mlir::ValueRange block, llvm::ArrayRef<Place> rows,
                            llvm::ArrayRef<Place> columns, int64_t k) = 0;

protected:
  explicit MatrixTiles(LoopBuilder &b) : b(b) {}

  LoopBuilder &b;
};

/// `sums` plus the products of the pairs of 16 lanes, which are words of 32
/// bits, by AVX512-BF16. Only `y` may be a splat from memory.
mlir::Value addDotProducts(LoopBuilder &b, mlir::Value sums, mlir::Value x,
                           mlir::Value y);
/// `count` neighbouring pairs as words; an element of the memory is one of 16
/// bits, or a pair.
mlir::Value loadPairs(LoopBuilder &b, const FlatMemory &memory, mlir::Value at,
                      int64_t count);
/// The pair at `at` in all lanes.
mlir::Value splatPair(LoopBuilder &b, const FlatMemory &memory, mlir::Value at);

/// The pairs of two vectors of 16 elements of 16 bits.
mlir::Value interleave(LoopBuilder &b, mlir::Value even, mlir::Value odd);
/// Transposes 16 lines of 16 pairs.
void transposePairs(LoopBuilder &b, llvm::MutableArrayRef<mlir::Value> lines);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_MATRIXTILES_H
