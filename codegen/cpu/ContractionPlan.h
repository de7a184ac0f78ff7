//===- ContractionPlan.h - sizes of a contraction's blocks ------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_CONTRACTIONPLAN_H
#define MP_CODEGEN_CPU_CONTRACTIONPLAN_H

#include "codegen/cpu/Contraction.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mp::cpu {

/// How a contraction is cut up: registers make a tile (tileM x tileN of C),
/// tiles a block (blockM x blockN), which is one work item, and k is summed
/// blockK at a time so that a panel of B stays in the cache for all tiles of a
/// block. All from the shape and the target.
struct ContractionPlan {
  ContractionPlan(const ContractionSpec &spec, const Target &target);

  mlir::Type accumulator;
  bool fused;    ///< multiply and add round once
  int64_t lanes; ///< accumulators in a register

  // The problem: a batch whose B is shared is folded into m where A allows.
  int64_t batch, m, n, k;
  bool oneA, oneB; ///< one matrix for all of the batch

  int64_t tileM, tileN;
  int64_t blockM, blockN, blockK;
  int64_t panels; ///< of tileN columns in B
  int64_t rowBlocks, columnBlocks, depthBlocks;

  // Scratch of a work item: rows of A as they lie in memory, then the sums.
  int64_t strideA, strideC; ///< elements from one row of it to the next
  int64_t bytesA, bytesC;

  /// Size of B packed, [batch, panels, k, tileN] of accumulators.
  int64_t packedElements() const {
    return (oneB ? 1 : batch) * panels * k * tileN;
  }
  int64_t items() const { return batch * rowBlocks * columnBlocks; }
  unsigned accumulatorBytes() const {
    return accumulator.getIntOrFloatBitWidth() / 8;
  }
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONTRACTIONPLAN_H
