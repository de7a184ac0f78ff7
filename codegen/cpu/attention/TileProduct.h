//===- TileProduct.h - matrix products in scratch ---------------*- C++ -*-===//
//
// The products inside of a larger main loop, whose operands lie in scratch: in
// the accumulator's type, or as bf16 where dot products of pairs multiply them
// (MatrixTiles.h). A term is then a pair of elements.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_ATTENTION_TILEPRODUCT_H
#define MP_CODEGEN_CPU_ATTENTION_TILEPRODUCT_H

#include "codegen/cpu/LoopBuilder.h"
#include "codegen/cpu/Target.h"

namespace mp::cpu {

/// How a product's columns are cut into panels of whole vectors, and its rows
/// into tiles that stay in registers.
struct TileShape {
  int64_t lanes, vectors, rows;

  /// The tile for products with `columns` columns.
  static TileShape of(const Target &target, int64_t columns,
                      int64_t accumulatorBytes);
  int64_t panelColumns() const { return vectors * lanes; }
  int64_t panels(int64_t columns) const {
    return (columns + panelColumns() - 1) / panelColumns();
  }
  /// Columns with those that fill the last panel.
  int64_t padded(int64_t columns) const {
    return panels(columns) * panelColumns();
  }
};

/// Rows of numbers: term p of row r is at `at + r * row + p * step`.
struct Rows {
  FlatMemory memory;
  mlir::Value at;
  int64_t row, step = 1;
};
/// Panels of columns: column c of term p of panel j is at
/// `at + j * panel + p * row + c`, or twice c where terms are pairs.
struct Panels {
  FlatMemory memory;
  mlir::Value at;
  int64_t panel, row;
};

/// c = a * b, or c += a * b. Rows that fill the last tile are computed too: a
/// and c have room for them. A sum is taken in order, in one accumulator. The
/// terms are pairs if a has elements of 16 bits.
struct TileProduct {
  TileShape tile;
  Rows a;
  Panels right;
  Rows c;
  mlir::Value rows, depth, panels; ///< depth counts terms
  bool adds = false;
  bool fused = true; ///< multiply and add round once

  void emit(LoopBuilder &b) const;

private:
  void emitTile(LoopBuilder &b, mlir::Value panel, mlir::Value row) const;
  llvm::SmallVector<mlir::Value> addTerm(LoopBuilder &b, mlir::Value fromA,
                                         mlir::Value fromB,
                                         mlir::ValueRange before) const;
  bool isPaired() const { return a.memory.element.isInteger(16); }
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_ATTENTION_TILEPRODUCT_H
