//===- ConvolutionCode.cpp - what the loops of convolutions share ---------===//
#include "codegen/cpu/convolution/ConvolutionCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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

SourceRows
mp::cpu::findSourceRows(ConvolutionBuilder &b, const SlidingProduct &product,
                        const ConvolutionPlan &plan, const FlatMemory &source,
                        std::optional<FlatMemory> scratch, Value image,
                        Value group, Value first, Value last) {
  const SlideAxis &rows = product.rows;
  int64_t pixel = product.groups * product.in;
  int64_t row = product.columns.size * pixel;
  Value begin =
      b.add(b.mul(image, rows.size * row), b.mul(group, plan.sourceChannels()));
  if (!scratch)
    return {source, pixel, row, begin};
  Value from =
      b.maxSigned(b.add(b.mul(first, rows.step), rows.first), b.index(0));
  Value past =
      b.add(b.add(b.mul(b.sub(last, b.index(1)), rows.step), rows.first),
            (rows.taps - 1) * rows.dilation + 1);
  RowCopy copy{.source = source,
               .scratch = *scratch,
               .accumulator = plan.accumulator,
               .columns = product.columns.size,
               .pixel = pixel,
               .channels = plan.sourceChannels(),
               .lanes = plan.lanes,
               .image = begin,
               .first = from,
               .last = b.min(b.maxSigned(past, from), rows.size)};
  copy.emit(b);
  return copy.rows(b);
}

namespace {
/// Packs row taps of panels.
struct Packer {
  ConvolutionBuilder &b;
  const SlidingProduct &product;
  const ConvolutionPlan &plan;
  const PackedWeight &packed;

  void emitRow(Value group, Value panel, Value row) const;

private:
  /// The distance of neighbouring channels of the result in the weight.
  int64_t next() const {
    // A depthwise convolution has a group for each channel.
    return plan.depthwise ? product.weight.group : product.weight.out;
  }
  void emitTap(Value from, Value to, Value count) const;
  void emitSquare(Value from, Value to, Value count, int64_t rows,
                  Value mask) const;
};
} // namespace

void Packer::emitRow(Value group, Value panel, Value row) const {
  auto tapAt = [&](const SlideAxis &axis, Value tap, int64_t distance) {
    Value at = b.add(b.mul(tap, axis.tapStep), axis.tapFirst);
    return b.mul(at, distance);
  };
  Value channel = b.mul(panel, packed.tile);
  Value from = b.add(b.mul(group, product.weight.group),
                     tapAt(product.rows, row, product.weight.row));
  from = b.add(from, b.mul(channel, next()));
  Value to = b.add(
      b.mul(b.add(b.mul(group, packed.panels), panel), packed.panelStride()),
      b.mul(row, packed.rowStride()));
  Value count = b.min(b.sub(b.index(plan.out), channel), packed.tile);
  b.forEach(packed.columnTaps, [&](Value tap) {
    emitTap(b.add(from, tapAt(product.columns, tap, product.weight.column)),
            b.add(to, b.mul(tap, packed.in * packed.tile)), count);
  });
}

/// Channels past the last, of which no sum is stored, hold a channel or zeros,
/// so that no subnormal values slow the sums.
void Packer::emitTap(Value from, Value to, Value count) const {
  int64_t lanes = plan.lanes;
  if (next() == 1) {
    b.forEach(packed.in, [&](Value in) {
      Value at = b.add(from, b.mul(in, product.weight.in));
      Value place = b.add(to, b.mul(in, packed.tile));
      for (int64_t lane = 0; lane < packed.tile; lane += lanes)
        b.store(b.zero(plan.accumulator, lanes), b.argument(1),
                b.add(place, lane));
      b.forVectors(count, lanes, [&](Value j, Value mask) {
        b.store(b.loadAs(plan.accumulator, b.argument(0), b.add(at, j), lanes,
                         mask),
                b.argument(1), b.add(place, j), mask);
      });
    });
    return;
  }
  b.forVectors(b.index(packed.in), lanes, [&](Value in, Value mask) {
    int64_t rows = mask ? packed.in % lanes : lanes;
    emitSquare(b.add(from, in), b.add(to, b.mul(in, packed.tile)), count, rows,
               mask);
  });
}

/// Transposes `rows` channels of the source, which are neighbours in the
/// weight, of all channels of a panel.
void Packer::emitSquare(Value from, Value to, Value count, int64_t rows,
                        Value mask) const {
  int64_t lanes = plan.lanes;
  for (int64_t first = 0; first < packed.tile; first += lanes) {
    SmallVector<Value> lines;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value line = b.index(first + lane);
      line = b.select(b.isBelow(line, count), line, b.sub(count, b.index(1)));
      lines.push_back(b.loadAs(plan.accumulator, b.argument(0),
                               b.add(from, b.mul(line, next())), lanes, mask));
    }
    b.transposeSquare(lines);
    for (int64_t row = 0; row < std::min(rows, lanes); ++row)
      b.store(lines[row], b.argument(1), b.add(to, first + row * packed.tile));
  }
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
    Packer packer{b, product, plan, packed};
    packer.emitRow(b.div(rest, packed.panels), b.rem(rest, packed.panels), row);
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
