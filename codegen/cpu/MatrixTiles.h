//===- MatrixTiles.h - products of bf16 in tile registers -------*- C++ -*-===//
//
// AMX multiplies tiles of 16 rows of 64 bytes. A holds rows of bf16, B a row
// for each pair of rows of the matrix ("paired": the elements of a column of
// both are neighbours), and C sums in f32. Subnormal elements and sums count as
// zero, and no exception is raised.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_MATRIXTILES_H
#define MP_CODEGEN_CPU_MATRIXTILES_H

#include "codegen/cpu/LoopBuilder.h"
#include "codegen/cpu/Target.h"

namespace mp::cpu {

/// Builds code on tile registers. There are eight, and each has one shape in
/// all of a function: shapes are constants, and few.
class MatrixTiles {
public:
  static constexpr int64_t side = 16;     ///< rows of a tile, columns of C
  static constexpr int64_t depth = 32;    ///< elements of a row of A
  static constexpr int64_t rowBytes = 64; ///< of a whole row

  static bool isIn(const Target &target) {
    return target.has("amx-tile") && target.has("amx-bf16");
  }

  explicit MatrixTiles(LoopBuilder &b) : b(b) {}

  /// A tile of C: zeros, or 16 rows from `at` on, `pitch` elements apart.
  mlir::Value zero();
  mlir::Value loadSums(const FlatMemory &memory, mlir::Value at, int64_t pitch);
  void storeSums(mlir::Value tile, const FlatMemory &memory, mlir::Value at,
                 int64_t pitch);
  /// 16 rows of `k` elements, an even number.
  mlir::Value loadA(const FlatMemory &memory, mlir::Value at, int64_t pitch,
                    int64_t k);
  /// k / 2 rows of 16 pairs.
  mlir::Value loadB(const FlatMemory &memory, mlir::Value at, int64_t pitch,
                    int64_t k);
  /// sums + A * B over `k`.
  mlir::Value multiplyAdd(mlir::Value sums, mlir::Value a, mlir::Value b,
                          int64_t k);

  /// The pairs of two vectors of 16 elements of 16 bits.
  mlir::Value interleave(mlir::Value even, mlir::Value odd);
  /// Transposes 16 lines of 16 pairs.
  void transposePairs(llvm::MutableArrayRef<mlir::Value> lines);

private:
  mlir::Value call(llvm::StringRef intrinsic, mlir::ValueRange operands);
  mlir::Value count(int64_t value);
  mlir::Value load(const FlatMemory &memory, mlir::Value at, int64_t pitch,
                   int64_t rows, int64_t bytes);
  /// The address of an element, and the bytes between rows.
  std::pair<mlir::Value, mlir::Value> place(const FlatMemory &memory,
                                            mlir::Value at, int64_t pitch);

  LoopBuilder &b;
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_MATRIXTILES_H
