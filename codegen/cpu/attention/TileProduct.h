//===- TileProduct.h - matrix products in scratch ---------------*- C++ -*-===//
//
// The products inside of a larger main loop, whose operands lie in scratch in
// the accumulator's type.
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

/// Rows of numbers: element p of row r is at `at + r * row + p * step`.
struct Rows {
  FlatMemory memory;
  mlir::Value at;
  int64_t row, step = 1;
};
/// Panels of columns: column c of row p of panel j is at
/// `at + j * panel + p * row + c`.
struct Panels {
  FlatMemory memory;
  mlir::Value at;
  int64_t panel, row;
};

/// c = a * b, or c += a * b. Rows that fill the last tile are computed too: a
/// and c have room for them. A sum is taken in order, in one accumulator.
struct TileProduct {
  TileShape tile;
  Rows a;
  Panels b;
  Rows c;
  mlir::Value rows, depth, panels;
  bool adds = false;
  bool fused = true; ///< multiply and add round once

  void emit(LoopBuilder &builder) const;
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_ATTENTION_TILEPRODUCT_H
