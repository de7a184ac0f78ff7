//===- ContractionPlan.h - sizes of a contraction's blocks ------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_CONTRACTION_CONTRACTIONPLAN_H
#define MP_CODEGEN_CPU_CONTRACTION_CONTRACTIONPLAN_H

#include "codegen/cpu/contraction/Contraction.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mp::cpu {

/// How a contraction is cut up: registers make a tile (tileM x tileN of C),
/// tiles a block (blockM x blockN), which is one work item, and k is summed in
/// parts, so that a panel of B stays in the first-level cache for all tiles of
/// a block, and both operands' parts in the second. The parts are given by k
/// alone: they decide how sums round. All else follows from the shape, the
/// target and the number of workers, and does not change a bit of C.
struct ContractionPlan {
  ContractionPlan(const ContractionSpec &spec, const Target &target,
                  unsigned workers);

  mlir::Type accumulator;
  bool fused;    ///< multiply and add round once
  int64_t lanes; ///< accumulators in a register

  // The problem: a batch whose B is shared is folded into m if A allows.
  int64_t batch, m, n, k;
  bool oneA, oneB; ///< one matrix for all of the batch

  bool inPlaceA; ///< A is read from its place, not copied
  bool keepsB;   ///< another launch has copied all panels of B

  int64_t tileM, tileN;
  int64_t blockM, blockN;
  int64_t rowBlocks, columnBlocks;
  int64_t parts; ///< of k: part i is [i * k / parts, (i + 1) * k / parts)

  // Scratch of a work item: its part of A as it lies in memory, the part of a
  // panel of B, a tile at the edge of C, and the sums where k has parts.
  int64_t strideA, strideC; ///< elements from one row of it to the next
  int64_t bytesA, bytesB, bytesTile, bytesC;

  int64_t depth() const { return (k + parts - 1) / parts; } ///< at most
  int64_t panels() const { return (n + tileN - 1) / tileN; }
  /// Elements of all panels of B: [panel, k, tileN].
  int64_t panelCount() const { return panels() * k * tileN; }
  int64_t items() const { return batch * rowBlocks * columnBlocks; }
  int64_t scratch() const { return bytesA + bytesB + bytesTile + bytesC; }
  unsigned accumulatorBytes() const {
    return accumulator.getIntOrFloatBitWidth() / 8;
  }

private:
  void setBlocks(int64_t rows, int64_t columns, bool transposeA);
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONTRACTION_CONTRACTIONPLAN_H
