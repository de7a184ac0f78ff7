//===- PoolBuilder.cpp - places and elements of pools ---------------------===//
#include "codegen/cpu/pooling/PoolBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

Value PoolBuilder::largerOf(Value x, int64_t y) {
  return createOrFold<arith::MaxSIOp>(x, index(y));
}
Value PoolBuilder::isNegative(Value x) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, x, index(0));
}

Value PoolBuilder::splat(Value index, Type element, int64_t lanes) {
  Value number;
  if (isa<FloatType>(element)) {
    Value wide = arith::IndexCastOp::create(*this, getI64Type(), index);
    number = arith::SIToFPOp::create(*this, element, wide);
  } else {
    number = arith::IndexCastOp::create(*this, element, index);
  }
  return vector::BroadcastOp::create(*this, VectorType::get({lanes}, element),
                                     number);
}
Value PoolBuilder::splat(double number, Type element, int64_t lanes) {
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(VectorType::get({lanes}, element),
                                    Attribute(getFloatAttr(element, number))));
}

void PoolBuilder::forLines(const LineItems &items,
                           function_ref<void(const Line &)> body) {
  forEach(begin(), end(), 1, [&](Value item) {
    Value channel = mul(rem(item, items.channelBlocks()), items.channelBlock());
    Value count =
        min(sub(index(items.channels), channel), items.channelBlock());
    Value line = div(item, items.channelBlocks());
    body({div(line, items.lines), rem(line, items.lines), channel, count});
  });
}

Value PoolBuilder::pixelOf(const Line &line, Value row, Value column,
                           int64_t rows, int64_t columns, int64_t channels) {
  Value y = add(mul(line.image, rows), row);
  return add(mul(add(mul(y, columns), column), channels), line.channel);
}

Taps PoolBuilder::tapsOf(const PoolDim &dim, Value place) {
  if (dim.isAdaptive) {
    Value start = div(mul(place, dim.elements), dim.places);
    Value end = divideCeil(mul(add(place, 1), dim.elements), dim.places);
    return {start, index(0), sub(end, start)};
  }
  const WindowDim &window = dim.window;
  Value begin = mul(place, window.stride), first = index(0);
  if (window.low)
    first =
        divideCeil(largerOf(sub(index(window.low), begin), 0), window.dilation);
  // Every place begins before the last element's end.
  Value room = sub(index(dim.elements + window.low), begin);
  Value last = min(divideCeil(room, window.dilation), window.size);
  return {sub(begin, index(window.low)), first, last};
}

Value PoolBuilder::countOf(const PoolDim &dim, Value place,
                           bool countsPadding) {
  if (int64_t count = dim.countedByAll(countsPadding))
    return index(count);
  if (dim.isAdaptive || !countsPadding) {
    Taps taps = tapsOf(dim, place);
    return sub(taps.last, taps.first);
  }
  int64_t end = dim.elements + dim.window.low + dim.window.high;
  return min(sub(index(end), mul(place, dim.window.stride)), dim.window.size);
}

std::pair<Value, Value> PoolBuilder::placesOf(const PoolDim &dim,
                                              Value element) {
  if (dim.isAdaptive)
    return {div(mul(element, dim.places), dim.elements),
            divideCeil(mul(add(element, 1), dim.places), dim.elements)};
  const WindowDim &window = dim.window;
  Value at = add(element, window.low);
  Value reach = largerOf(sub(add(at, window.stride), index(window.span())), 0);
  return {div(reach, window.stride),
          min(add(div(at, window.stride), 1), dim.places)};
}

Value PoolBuilder::tapOf(const PoolDim &dim, Value element, Value place) {
  if (dim.isAdaptive)
    return sub(element, div(mul(place, dim.elements), dim.places));
  const WindowDim &window = dim.window;
  Value from = sub(add(element, window.low), mul(place, window.stride));
  if (window.dilation == 1)
    return from;
  Value isTap = isBelow(rem(from, window.dilation), index(1));
  return select(isTap, div(from, window.dilation), index(-1));
}
