//===- RowProduct.cpp - a few rows times the lines of B -------------------===//
#include "codegen/cpu/contraction/RowProduct.h"
#include "codegen/cpu/LoopBuilder.h"
#include "codegen/cpu/contraction/ContractionCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

/// Elements of a sum in registers, which is one or more of the target's.
constexpr int64_t kLanes = 16;
/// Lines of B that are summed at once, and those of a work item.
constexpr int64_t kLines = 4, kColumns = 16;

bool mp::cpu::isRowProduct(const ContractionSpec &spec) {
  // Each row reads the lines of an item again, from the second-level cache.
  constexpr int64_t mostRows = 4;
  auto isSummedInF32 = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 32;
  };
  return spec.m <= mostRows && spec.transposeB && !spec.transposeA &&
         llvm::all_of(spec.batch, [](int64_t size) { return size == 1; }) &&
         spec.k >= 2 * kLanes && isSummedInF32(spec.a) && isSummedInF32(spec.b);
}

namespace {

class RowMultiplier {
public:
  RowMultiplier(MLIRContext *context, const ContractionSpec &spec, bool fused)
      : spec(spec), fused(fused), b(context, argumentsOf(spec), 0),
        f32(b.getF32Type()) {
    b.forEach(b.begin(), b.end(), 1, [&](Value item) {
      Value column = b.mul(item, kColumns);
      b.forEach(spec.m, [&](Value row) { emitRow(row, column); });
    });
  }
  OwningOpRef<ModuleOp> take() { return b.take(); }

private:
  static SmallVector<LoopBuilder::Argument>
  argumentsOf(const ContractionSpec &spec) {
    SmallVector<LoopBuilder::Argument> arguments{{spec.a, spec.m * spec.k},
                                                 {spec.b, spec.n * spec.k}};
    if (spec.bias)
      arguments.push_back({*spec.bias, spec.n});
    arguments.push_back({spec.c, spec.m * spec.n});
    return arguments;
  }

  /// Computes an item's columns of a row.
  void emitRow(Value row, Value column) {
    Value totals = b.zero(f32, kColumns);
    for (int64_t first = 0; first < kColumns; first += kLines)
      for (auto [i, sum] : llvm::enumerate(sumLines(row, column, first)))
        totals = vector::InsertOp::create(b, total(sum), totals,
                                          static_cast<int64_t>(first + i));
    Value mask = b.maskFor(column, spec.n, kColumns, kColumns);
    if (spec.bias)
      totals = arith::AddFOp::create(
          b, totals, b.loadAs(f32, b.argument(2), column, kColumns, mask));
    if (spec.relu)
      totals = arith::MaximumFOp::create(b, totals, b.zero(f32, kColumns));
    b.storeAs(totals, b.argument(spec.bias ? 3 : 2),
              b.add(b.mul(row, spec.n), column), mask);
  }

  /// Sums the products of a row with kLines lines of B, lane by lane. Beyond
  /// the last line, it is taken again.
  SmallVector<Value> sumLines(Value row, Value column, int64_t first) {
    Value start = b.mul(row, spec.k);
    SmallVector<Value> lines, sums(kLines, b.zero(f32, kLanes));
    for (int64_t i = 0; i < kLines; ++i)
      lines.push_back(
          b.mul(b.min(b.add(column, first + i), spec.n - 1), spec.k));
    auto step = [&](Value at, ValueRange before, Value mask) {
      Value x = b.loadAs(f32, b.argument(0), b.add(start, at), kLanes, mask);
      SmallVector<Value> after;
      for (auto [line, sum] : llvm::zip_equal(lines, before))
        after.push_back(multiplyAdd(
            x, b.loadAs(f32, b.argument(1), b.add(line, at), kLanes, mask),
            sum));
      return after;
    };
    int64_t whole = spec.k / kLanes, rest = spec.k % kLanes;
    sums = b.fold(b.index(0), b.index(whole), sums,
                  [&](Value i, ValueRange before) {
                    return step(b.mul(i, kLanes), before, Value());
                  });
    if (rest)
      sums = step(b.index(whole * kLanes), sums, b.firstLanes(rest, kLanes));
    return sums;
  }

  Value multiplyAdd(Value x, Value y, Value sum) {
    if (fused)
      return math::FmaOp::create(b, x, y, sum);
    return arith::AddFOp::create(b, sum, arith::MulFOp::create(b, x, y));
  }

  /// The sum of all lanes: that of their first and second halves, and so on.
  Value total(Value sum) {
    for (int64_t half = kLanes / 2; half >= 1; half /= 2) {
      auto part = [&](int64_t from) {
        return vector::ExtractStridedSliceOp::create(
            b, sum, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{half},
            ArrayRef<int64_t>{1});
      };
      sum = arith::AddFOp::create(b, part(0), part(half));
    }
    return vector::ExtractOp::create(b, sum, ArrayRef<int64_t>{0});
  }

  const ContractionSpec &spec;
  bool fused;
  LoopBuilder b;
  Type f32;
};

} // namespace

FailureOr<EmittedKernel> mp::cpu::emitRowProduct(MLIRContext *context,
                                                 const ContractionSpec &spec,
                                                 ObjectCompiler &compiler) {
  RowMultiplier multiplier(context, spec, compiler.target().has("fma"));
  FailureOr<std::string> symbol = compiler.compile(multiplier.take());
  if (failed(symbol))
    return failure();
  return oneProduct(*symbol, spec, llvm::divideCeil(spec.n, kColumns),
                    spec.m * kColumns * spec.k, /*scratch=*/0);
}
