//===- ConvolutionCode.cpp - what the loops of convolutions share ---------===//
#include "codegen/cpu/convolution/ConvolutionCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

Value ConvolutionBuilder::maxSigned(Value x, Value y) {
  return createOrFold<arith::MaxSIOp>(x, y);
}

Value ConvolutionBuilder::multiplyAdd(const ConvolutionPlan &plan, Value x,
                                      Value y, Value sum) {
  if (plan.fused)
    return math::FmaOp::create(*this, x, y, sum);
  return arith::AddFOp::create(*this, sum, arith::MulFOp::create(*this, x, y));
}

Value ConvolutionBuilder::maskFor(Value at, int64_t count, int64_t multiple,
                                  int64_t lanes) {
  if (count % multiple == 0)
    return {};
  SmallVector<int32_t> lane(lanes);
  std::iota(lane.begin(), lane.end(), 0);
  Value iota = arith::ConstantOp::create(*this, getI32VectorAttr(lane));
  Value left =
      arith::IndexCastOp::create(*this, getI32Type(), sub(index(count), at));
  Value limits = vector::BroadcastOp::create(*this, iota.getType(), left);
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, iota, limits);
}

std::pair<Value, Value> ConvolutionBuilder::insideRange(Value origin,
                                                        int64_t distance,
                                                        int64_t count,
                                                        int64_t size) {
  Value zero = index(0);
  Value missing = maxSigned(sub(zero, origin), zero);
  Value begin = min(div(add(missing, distance - 1), distance), count);
  Value room = maxSigned(sub(index(size - 1 + distance), origin), zero);
  return {begin, min(div(room, distance), count)};
}

void RowCopy::emit(ConvolutionBuilder &b) const {
  int64_t length = columns * channels;
  b.forEach(first, last, 1, [&](Value row) {
    Value from = b.add(image, b.mul(row, columns * pixel));
    Value to = b.mul(b.sub(row, first), length);
    auto copy = [&](Value count, Value from, Value to) {
      b.forVectors(count, lanes, [&](Value at, Value mask) {
        b.store(b.loadAs(accumulator, source, b.add(from, at), lanes, mask),
                scratch, b.add(to, at), mask);
      });
    };
    if (channels == pixel)
      return copy(b.index(length), from, to);
    b.forEach(columns, [&](Value column) {
      copy(b.index(channels), b.add(from, b.mul(column, pixel)),
           b.add(to, b.mul(column, channels)));
    });
  });
}

SourceRows RowCopy::rows(ConvolutionBuilder &b) const {
  int64_t length = columns * channels;
  return {scratch, channels, length, b.sub(b.index(0), b.mul(first, length))};
}

/// Emits row tap `row` of a panel.
static void packRow(ConvolutionBuilder &b, const SlidingProduct &product,
                    const ConvolutionPlan &plan, const PackedWeight &packed,
                    Value group, Value panel, Value row) {
  // A depthwise convolution has a group for each channel.
  int64_t next = plan.depthwise ? product.weight.group : product.weight.out;
  auto tapAt = [&](const SlideAxis &axis, Value tap, int64_t distance) {
    Value at = b.add(b.mul(tap, axis.tapStep), axis.tapFirst);
    return b.mul(at, distance);
  };
  Value column = b.mul(panel, packed.tile);
  Value from = b.add(b.mul(group, product.weight.group),
                     tapAt(product.rows, row, product.weight.row));
  from = b.add(from, b.mul(column, next));
  Value to = b.add(
      b.mul(b.add(b.mul(group, packed.panels), panel), packed.panelStride()),
      b.mul(row, packed.rowStride()));
  Value count = b.min(b.sub(b.index(plan.out), column), packed.tile);
  b.forEach(packed.columnTaps, [&](Value tap) {
    Value fromTap =
        b.add(from, tapAt(product.columns, tap, product.weight.column));
    b.forEach(packed.in, [&](Value in) {
      Value at = b.add(fromTap, b.mul(in, product.weight.in));
      Value place =
          b.add(to, b.mul(b.add(b.mul(tap, packed.in), in), packed.tile));
      for (int64_t lane = 0; lane < packed.tile; lane += plan.lanes)
        b.store(b.zero(plan.accumulator, plan.lanes), b.argument(1),
                b.add(place, lane));
      int64_t lanes = next == 1 ? plan.lanes : 1;
      b.forVectors(count, lanes, [&](Value j, Value mask) {
        b.store(b.loadAs(plan.accumulator, b.argument(0),
                         b.add(at, b.mul(j, next)), lanes, mask),
                b.argument(1), b.add(place, j), mask);
      });
    });
  });
}

FailureOr<KernelArgument>
mp::cpu::emitPack(const SlidingProduct &product, const ConvolutionPlan &plan,
                  const PackedWeight &packed, const LayoutTensor &weight,
                  ObjectCompiler &compiler, EmittedKernel &kernel) {
  int64_t count =
      std::max<int64_t>(plan.groups * packed.panels * packed.panelStride(), 1);
  ConvolutionBuilder b(
      plan.accumulator.getContext(),
      {{weight.element(), weight.count()}, {plan.accumulator, count}}, 0);
  b.forEach(b.begin(), b.end(), 1, [&](Value item) {
    Value row = b.rem(item, packed.rowTaps);
    Value rest = b.div(item, packed.rowTaps);
    packRow(b, product, plan, packed, b.div(rest, packed.panels),
            b.rem(rest, packed.panels), row);
  });
  KernelArgument temporary{KernelArgument::Kind::Temporary,
                           unsigned(kernel.temporaries.size())};
  kernel.temporaries.push_back(count * plan.accumulatorBytes());
  int64_t inTask = elementsInTask(plan.accumulatorBytes()) /
                   std::max<int64_t>(packed.rowStride(), 1);
  if (failed(b.launch(compiler, kernel, {weight.argument, temporary},
                      plan.groups * packed.panels * packed.rowTaps, inTask)))
    return failure();
  return temporary;
}
