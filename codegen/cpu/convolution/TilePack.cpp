//===- TilePack.cpp - operands of convolutions as tiles read them ---------===//
#include "codegen/cpu/convolution/TileCode.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

constexpr int64_t kVector = 32; ///< elements of 16 bits in a vector

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

void PaddedCopy::clear(ConvolutionBuilder &b, Value at, int64_t count) const {
  b.forVectors(b.index(count), lanes, [&](Value i, Value mask) {
    b.store(b.zero(scratch.element, lanes), scratch, b.add(at, i), mask);
  });
}

/// Copies pixels of few channels, which zeros pad, as many at once as a vector
/// of the scratch has.
void PaddedCopy::spreadPixels(ConvolutionBuilder &b, int64_t count, Value from,
                              Value to) const {
  int64_t atOnce = lanes / channels;
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t pixel = lane / channels, channel = lane % channels;
    order.push_back(channel < product.in ? pixel * product.in + channel
                                         : lanes);
  }
  Value zeros = b.zero(scratch.element, lanes);
  b.forEach(b.index(0), b.index(count), atOnce, [&](Value i) {
    Value pixels = b.min(b.sub(b.index(count), i), atOnce);
    Value mask = b.firstLanes(b.mul(pixels, product.in), lanes);
    Value packed = load(b.add(from, b.mul(i, product.in)), mask);
    b.store(vector::ShuffleOp::create(b, packed, zeros, order), scratch,
            b.add(to, b.mul(i, channels)));
  });
}

/// A row that the image has, from its first element on.
void PaddedCopy::copyRow(ConvolutionBuilder &b, Value from, Value to) const {
  int64_t pixel = product.groups * product.in;
  int64_t count = columns.end - columns.begin;
  Value first = b.add(
      from, (product.columns.first + columns.begin * columns.distance) * pixel);
  Value place = b.add(to, columns.begin * channels);
  auto copy = [&](int64_t length, Value from, Value to) {
    // The lanes that are masked off are zeros, the first of which may pad the
    // channels of a pixel; the others are overwritten.
    b.forVectors(b.index(length), lanes, [&](Value i, Value mask) {
      b.store(load(b.add(from, i), mask), scratch, b.add(to, i));
    });
  };
  clear(b, to, columns.begin * channels);
  if (channels == pixel && columns.distance == 1)
    copy(count * channels, first, place);
  else if (product.in == pixel && columns.distance == 1 &&
           lanes % channels == 0)
    spreadPixels(b, count, first, place);
  else
    b.forEach(count, [&](Value i) {
      copy(product.in, b.add(first, b.mul(i, columns.distance * pixel)),
           b.add(place, b.mul(i, channels)));
    });
  clear(b, b.add(to, columns.end * channels),
        (columns.size - columns.end) * channels);
}

void PaddedCopy::emit(ConvolutionBuilder &b, Value group, Value first,
                      Value to) const {
  int64_t row = product.columns.size * product.groups * product.in;
  b.forEach(rows.size, [&](Value i) {
    Value from = b.add(first, b.mul(i, rows.distance));
    Value place = b.add(to, b.mul(i, columns.size * channels));
    b.choose(
        b.isBelow(from, b.index(product.rows.size)),
        [&] {
          copyRow(b, b.add(b.mul(from, row), b.mul(group, product.in)), place);
        },
        [&] { clear(b, place, columns.size * channels); });
  });
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

namespace {
/// Packs row taps of panels.
struct TilePacker {
  ConvolutionBuilder &b;
  const SlidingProduct &product;
  const TilePlan &plan;

  void emitRow(Value group, Value panel, Value row) const;

private:
  void emitSquares(Value from, Value channel, Value to) const;
  void emitSquare(Value from, Value channel, Value to, int64_t count) const;
  void emitPairs(Value from, Value channel, Value to) const;
};
} // namespace

void TilePacker::emitRow(Value group, Value panel, Value row) const {
  auto tapAt = [&](const SlideAxis &axis, Value tap, int64_t distance) {
    return b.mul(b.add(b.mul(tap, axis.tapStep), axis.tapFirst), distance);
  };
  int64_t taps = product.columns.taps;
  int64_t tapStride = plan.channels * MatrixTiles::side;
  Value channel = b.mul(panel, MatrixTiles::side);
  Value from = b.add(b.mul(group, product.weight.group),
                     tapAt(product.rows, row, product.weight.row));
  Value line = b.add(b.mul(group, plan.panels), panel);
  line = b.add(b.mul(line, product.rows.taps), row);
  b.forEach(taps, [&](Value tap) {
    Value at = b.add(from, tapAt(product.columns, tap, product.weight.column));
    Value to = b.mul(b.add(b.mul(line, taps), tap), tapStride);
    product.weight.in == 1 ? emitSquares(at, channel, to)
                           : emitPairs(at, channel, to);
  });
}

/// Neighbouring channels of the source are neighbours in the weight: squares of
/// pairs are transposed in registers.
void TilePacker::emitSquares(Value from, Value channel, Value to) const {
  b.forEach(b.index(0), b.index(product.in / kVector * kVector), kVector,
            [&](Value in) {
              emitSquare(b.add(from, in), channel,
                         b.add(to, b.mul(in, MatrixTiles::side)), kVector);
            });
  int64_t rest = product.in % kVector, whole = product.in - rest;
  if (rest)
    emitSquare(b.add(from, whole), channel,
               b.add(to, whole * MatrixTiles::side), rest);
}

/// `count` channels of the source. Channels of the result past the last, of
/// which no sum is stored, repeat it.
void TilePacker::emitSquare(Value from, Value channel, Value to,
                            int64_t count) const {
  constexpr int64_t side = MatrixTiles::side;
  Value mask = b.maskFor(b.index(0), count, kVector, kVector);
  SmallVector<Value> lines;
  for (int64_t i = 0; i < side; ++i) {
    Value line = b.min(b.add(channel, i), product.out - 1);
    lines.push_back(b.load(b.argument(0),
                           b.add(from, b.mul(line, product.weight.out)),
                           kVector, mask));
  }
  transposePairs(b, lines);
  for (int64_t pair = 0; pair < divideCeil(count, 2); ++pair)
    b.store(lines[pair], b.argument(1), b.add(to, pair * kVector));
}

/// Neighbouring channels of the result are neighbours in the weight.
void TilePacker::emitPairs(Value from, Value channel, Value to) const {
  constexpr int64_t side = MatrixTiles::side;
  Value mask = b.maskFor(channel, product.out, side, side);
  Value first = b.add(from, b.mul(channel, product.weight.out));
  auto load = [&](Value in) {
    return b.load(b.argument(0), b.add(first, b.mul(in, product.weight.in)),
                  side, mask);
  };
  auto store = [&](Value pair, Value even, Value odd) {
    b.store(interleave(b, even, odd), b.argument(1),
            b.add(to, b.mul(pair, kVector)));
  };
  b.forEach(product.in / 2, [&](Value pair) {
    Value in = b.mul(pair, 2);
    store(pair, load(in), load(b.add(in, 1)));
  });
  if (product.in % 2)
    store(b.index(product.in / 2), load(b.index(product.in - 1)),
          b.zero(b.getI16Type(), side));
}

FailureOr<KernelArgument> mp::cpu::emitTilePack(const SlidingProduct &product,
                                                const TilePlan &plan,
                                                const LayoutTensor &weight,
                                                ObjectCompiler &compiler,
                                                EmittedKernel &kernel) {
  Type word = wordOf(weight.element());
  int64_t count = product.groups * plan.panels * plan.panelStride(product);
  ConvolutionBuilder b(word.getContext(),
                       {{word, weight.count()}, {word, count}}, 0);
  b.forEach(b.begin(), b.end(), 1, [&](Value item) {
    Value row = b.rem(item, product.rows.taps);
    Value rest = b.div(item, product.rows.taps);
    TilePacker packer{b, product, plan};
    packer.emitRow(b.div(rest, plan.panels), b.rem(rest, plan.panels), row);
  });
  KernelArgument temporary{KernelArgument::Kind::Temporary,
                           unsigned(kernel.temporaries.size())};
  kernel.temporaries.push_back(count * 2);
  int64_t items = product.groups * plan.panels * product.rows.taps;
  if (failed(b.launch(compiler, kernel, {weight.argument, temporary}, items,
                      elementsInTask(2) * items / count)))
    return failure();
  return temporary;
}
