//===- ContractionPlan.cpp - sizes of a contraction's blocks --------------===//
#include "codegen/cpu/contraction/ContractionPlan.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mp::cpu;
using llvm::divideCeil;

namespace {

/// A tile of C in registers.
struct Tile {
  int64_t rows, vectors;
};

/// The registers of a target and the tiles that they hold: each leaves some for
/// a row of B and an element of A, and has enough independent sums to cover the
/// latency of an fma. The first is best if nothing is left over.
struct Registers {
  int64_t bytes;
  SmallVector<Tile, 3> tiles;
};

Registers registersOf(const Target &target) {
  if (target.has("avx512f"))
    return {64, {{6, 4}, {8, 2}, {14, 1}}};
  if (target.has("avx2"))
    return {32, {{6, 2}, {10, 1}}};
  return {16, {{4, 2}, {8, 1}}};
}

/// Returns the cycles of a tile for one step of k, with two fmas or loads in
/// each and no sum more often than every four.
double cyclesOf(Tile tile) {
  return std::max(
      {tile.rows * tile.vectors / 2.0, (tile.rows + tile.vectors) / 2.0, 4.0});
}

/// Returns the tile that covers m x n in the fewest cycles.
Tile chooseTile(const Registers &registers, int64_t m, int64_t n,
                int64_t lanes) {
  Tile best{};
  double least = 0;
  for (Tile tile : registers.tiles)
    for (; tile.rows >= 1; --tile.rows) {
      double tiles =
          divideCeil(m, tile.rows) * divideCeil(n, tile.vectors * lanes);
      // Beginning and ending a tile costs about half a step more.
      double cycles = tiles * (cyclesOf(tile) + 0.5);
      if (best.rows && cycles >= least)
        continue;
      best = tile;
      least = cycles;
    }
  return best;
}

/// Returns the sizes of about equal blocks of `size` that are multiples of
/// `unit`, the largest first. Blocks of more than 4096 units are left out: they
/// exceed every cache, and their number would grow with `size`.
SmallVector<int64_t> blockSizes(int64_t size, int64_t unit) {
  SmallVector<int64_t> sizes;
  int64_t most = std::min<int64_t>(divideCeil(size, unit), 4096);
  for (int64_t units = most; units > 0; --units) {
    int64_t blocks = divideCeil(size, units * unit);
    sizes.push_back(llvm::alignTo(divideCeil(size, blocks), unit));
  }
  sizes.erase(llvm::unique(sizes), sizes.end());
  return sizes;
}

Type accumulatorOf(const ContractionSpec &spec) {
  Builder b(spec.a.getContext());
  unsigned bits =
      std::max(spec.a.getIntOrFloatBitWidth(), spec.b.getIntOrFloatBitWidth());
  if (isa<FloatType>(spec.a))
    return bits > 32 ? Type(b.getF64Type()) : Type(b.getF32Type());
  return b.getIntegerType(bits > 32 ? 64 : 32);
}

/// Estimates the cycles until `workers` have done all items. An element of A or
/// B takes as long to load, copied or not, as a third of a vector's fma;
/// measured on 512-bit registers.
double timeOf(const ContractionPlan &plan, unsigned workers) {
  double rows = plan.blockM, columns = plan.blockN;
  double sums = rows * columns / plan.lanes;
  double cycles = plan.k * (sums / 2 + (rows + columns) / 3) +
                  (4.0 * plan.parts + 4) * sums;
  // At the end all wait for the last item, on average for half of one: cores
  // are not equally fast.
  double waiting = workers > 1 ? 0.5 : 0;
  return (divideCeil(plan.items(), workers) + waiting) * cycles;
}

/// Returns the bytes of the second-level cache that a block uses: A counts too,
/// whether copied or not.
int64_t cachedBytes(const ContractionPlan &plan) {
  int64_t bytesA = plan.blockM * plan.depth() * plan.accumulatorBytes();
  return bytesA + plan.bytesB + plan.bytesC;
}

} // namespace

void ContractionPlan::setBlocks(int64_t rows, int64_t columns,
                                bool transposeA) {
  rowBlocks = divideCeil(m, rows);
  columnBlocks = divideCeil(n, columns);
  blockM = rows;
  blockN = columns;
  // One vector is added: rows a power of two apart would share cache sets.
  int64_t lines = transposeA ? depth() : blockM;
  strideA = llvm::alignTo(transposeA ? blockM : depth(), lanes) + lanes;
  strideC = blockN + lanes;
  bytesA =
      inPlaceA ? 0 : llvm::alignTo(lines * strideA * accumulatorBytes(), 64);
  bytesB = keepsB ? 0 : llvm::alignTo(tileN * depth() * accumulatorBytes(), 64);
  bytesTile = llvm::alignTo(tileM * tileN * accumulatorBytes(), 64);
  bytesC = parts == 1 ? 0 : blockM * strideC * accumulatorBytes();
}

ContractionPlan::ContractionPlan(const ContractionSpec &spec,
                                 const Target &target, unsigned workers)
    : accumulator(accumulatorOf(spec)), m(spec.m), n(spec.n), k(spec.k),
      oneA(spec.broadcastA), oneB(spec.broadcastB) {
  batch = std::accumulate(spec.batch.begin(), spec.batch.end(), int64_t(1),
                          std::multiplies<>());
  Registers registers = registersOf(target);
  inPlaceA = spec.a == accumulator && !spec.transposeA;
  keepsB = spec.keepsB && (batch == 1 || oneB);
  fused = isa<FloatType>(accumulator) && target.has("fma");
  lanes = registers.bytes / accumulatorBytes();

  Tile tile = chooseTile(registers, m, n, lanes);
  tileM = tile.rows;
  tileN = tile.vectors * lanes;
  parts = divideCeil(k, 128);

  // Chooses the fastest blocks among those that leave some of a second-level
  // cache of a mebibyte to other data.
  constexpr int64_t cache = 768 << 10;
  setBlocks(tileM, tileN, spec.transposeA);
  ContractionPlan best = *this;
  for (int64_t rows : blockSizes(m, tileM))
    for (int64_t columns : blockSizes(n, tileN)) {
      setBlocks(rows, columns, spec.transposeA);
      if (cachedBytes(*this) <= cache &&
          timeOf(*this, workers) < timeOf(best, workers))
        best = *this;
    }
  *this = best;
}
