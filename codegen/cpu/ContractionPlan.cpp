#include "codegen/cpu/ContractionPlan.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mp::cpu;
using llvm::divideCeil;

namespace {

/// What the registers of a target hold.
struct Registers {
  int64_t bytes, tileRows, tileVectors;
};

/// The tile leaves registers for a row of B and an element of A, and has enough
/// independent sums to cover the latency of a fused multiply-add.
Registers registersOf(const Target &target) {
  if (target.has("avx512f"))
    return {64, 8, 2};
  if (target.has("avx2"))
    return {32, 6, 2};
  return {16, 4, 2};
}

/// Rows of a tile: a full one costs about a row and a half more than its rows.
int64_t chooseTileRows(int64_t m, int64_t most) {
  auto cost = [m](int64_t rows) {
    return divideCeil(m, rows) * (2 * rows + 3);
  };
  int64_t best = most;
  for (int64_t rows = most; rows >= 1; --rows)
    if (cost(rows) < cost(best))
      best = rows;
  return best;
}

/// `size` in parts of at most `most` that are multiples of `unit` and about
/// equal.
int64_t evenPart(int64_t size, int64_t most, int64_t unit) {
  int64_t parts = divideCeil(size, most);
  return llvm::alignTo(divideCeil(size, parts), unit);
}

Type accumulatorOf(const ContractionSpec &spec) {
  Builder b(spec.a.getContext());
  unsigned bits =
      std::max(spec.a.getIntOrFloatBitWidth(), spec.b.getIntOrFloatBitWidth());
  if (isa<FloatType>(spec.a))
    return bits > 32 ? Type(b.getF64Type()) : Type(b.getF32Type());
  return b.getIntegerType(bits > 32 ? 64 : 32);
}

} // namespace

ContractionPlan::ContractionPlan(const ContractionSpec &spec,
                                 const Target &target)
    : accumulator(accumulatorOf(spec)), m(spec.m), n(spec.n), k(spec.k),
      oneA(spec.broadcastA), oneB(spec.broadcastB) {
  batch = std::accumulate(spec.batch.begin(), spec.batch.end(), int64_t(1),
                          std::multiplies<>());
  if (oneB && !oneA && !spec.transposeA) {
    m *= batch;
    batch = 1;
  }
  Registers registers = registersOf(target);
  fused = isa<FloatType>(accumulator) && target.has("fma");
  lanes = registers.bytes / accumulatorBytes();

  tileM = chooseTileRows(m, registers.tileRows);
  tileN = lanes * (n <= lanes ? 1 : registers.tileVectors);
  panels = divideCeil(n, tileN);

  // A panel's part of blockK rows takes 24 KiB at most: most of a first-level
  // cache. Blocks are wide where that leaves enough of them for many threads:
  // each copies its rows of A.
  blockK = evenPart(
      k, std::max<int64_t>(24 * 1024 / (tileN * accumulatorBytes()), 1), 1);
  blockM = evenPart(m, 32, tileM);
  bool many = batch * divideCeil(m, 32) * divideCeil(n, 256) >= 32;
  blockN = evenPart(n, many ? 256 : 128, tileN);
  rowBlocks = divideCeil(m, blockM);
  columnBlocks = divideCeil(n, blockN);
  depthBlocks = divideCeil(k, blockK);

  // A vector more than needed: rows a power of two apart would share cache
  // sets.
  int64_t rows = spec.transposeA ? blockK : blockM;
  strideA = llvm::alignTo(spec.transposeA ? blockM : blockK, lanes) + lanes;
  strideC = blockN + lanes;
  bytesA = llvm::alignTo(rows * strideA * accumulatorBytes(), 64);
  bytesC = llvm::alignTo(blockM * strideC * accumulatorBytes(), 64);
}
