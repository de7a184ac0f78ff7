//===- WindowSum.cpp - sums of neighbouring channels on the CPU -----------===//
#include "codegen/cpu/pooling/WindowSum.h"
#include "codegen/cpu/layout/LayoutBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {
/// Windows of at most so many elements are unrolled.
constexpr int64_t kMostUnrolled = 16;

class WindowSumEmitter {
public:
  WindowSumEmitter(const WindowSum &sum, Type element)
      : sum(sum), sumType(computeType(element)),
        lanes(lanesFor(sum.size, bytesOf(sumType))),
        tiles(LineTiles::of(1, sum.rows, sum.size,
                            elementsInTask(bytesOf(sumType)), lanes)),
        b(element.getContext(),
          {{element, sum.rows * sum.size}, {element, sum.rows * sum.size}}, 0) {
    SmallVector<int64_t> numbers(lanes);
    std::iota(numbers.begin(), numbers.end(), 0);
    auto type = VectorType::get({lanes}, b.getI64Type());
    iota = arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, ArrayRef(numbers)));
    b.forTiles(tiles, [&](Value, Value row, Value first, Value count) {
      Value begin = b.mul(row, sum.size);
      b.forVectors(count, lanes, [&](Value start, Value mask) {
        emitSums(begin, b.add(first, start), mask);
      });
    });
  }

  LayoutBuilder &builder() { return b; }
  int64_t items() const { return tiles.items(); }

private:
  Value emitSum(Value begin, Value at, bool isInside) {
    Value from = b.sub(at, b.index(sum.low));
    auto add = [&](Value tap, ValueRange before) -> SmallVector<Value> {
      Value place = b.add(from, tap);
      Value mask = isInside ? Value() : existing(place);
      Value term =
          b.loadAs(sumType, b.argument(0), b.add(begin, place), lanes, mask);
      return {b.sum(before[0], term)};
    };
    int64_t taps = sum.low + sum.high + 1;
    SmallVector<Value> state{b.zero(sumType, lanes)};
    if (taps > kMostUnrolled)
      return b.fold(b.index(0), b.index(taps), state, add).front();
    for (int64_t tap = 0; tap < taps; ++tap)
      state = add(b.index(tap), state);
    return state.front();
  }

  /// Which of the neighbours from `place` on exist. One before the first is a
  /// very large number.
  Value existing(Value place) {
    Value wide = arith::IndexCastOp::create(b, b.getI64Type(), place);
    auto type = cast<VectorType>(iota.getType());
    Value places = arith::AddIOp::create(
        b, iota, vector::BroadcastOp::create(b, type, wide));
    Value sizes = arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, APInt(64, sum.size)));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, places, sizes);
  }

  void emitSums(Value begin, Value at, Value mask) {
    auto store = [&](bool isInside) {
      b.storeAs(emitSum(begin, at, isInside), b.argument(1), b.add(begin, at),
                mask);
    };
    int64_t room = sum.size - sum.low - sum.high - lanes;
    if (room < 0)
      return store(false);
    Value isInside = b.isBelow(b.sub(at, b.index(sum.low)), b.index(room + 1));
    b.choose(isInside, [&] { store(true); }, [&] { store(false); });
  }

  const WindowSum &sum;
  Type sumType;
  int64_t lanes;
  LineTiles tiles;
  LayoutBuilder b;
  Value iota;
};
} // namespace

LogicalResult mp::cpu::emitWindowSum(const WindowSum &sum,
                                     const LayoutTensor &source,
                                     const LayoutTensor &result,
                                     ObjectCompiler &compiler,
                                     EmittedKernel &kernel) {
  if (result.count() == 0)
    return success();
  WindowSumEmitter emitter(sum, source.element());
  return emitter.builder().launch(
      compiler, kernel, {source.argument, result.argument}, emitter.items());
}
