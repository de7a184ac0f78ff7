//===- WeightGradient.cpp - gradients of convolutions' weights ------------===//
//
// For each tap, the gradient is a product of two matrices whose inner dimension
// is the places of all images. A work item has a part of the images and a panel
// of the result's channels, and its sums stay in memory between images; the
// sums of the parts are added at the end, in order.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/convolution/Convolution.h"
#include "codegen/cpu/convolution/ConvolutionCode.h"
#include "codegen/cpu/convolution/TileCode.h"

#include <numeric>

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {

struct GradientPlan : ConvolutionPlan {
  GradientPlan(const SlidingProduct &product, Type element,
               const Target &target);

  RegisterTile tile; ///< channels of the source by channels of the result
  int64_t panels;
  int64_t parts;      ///< of the images, by the shape alone
  int64_t rowsAtOnce; ///< of the result, whose sources are widened together
  int64_t scratchRows;

  /// Returns the rows of which all taps of a tile read the same lines of the
  /// first-level cache, but no fewer than make a tap worth its beginning and
  /// end.
  int64_t rowsInFirstCache(const SlidingProduct &product) const {
    const SlideAxis &columns = product.columns;
    int64_t bytes = accumulatorBytes();
    int64_t row = columns.size * llvm::alignTo(tile.width * bytes, 64) +
                  columns.places * columnsOfPanel() * bytes;
    constexpr int64_t cache = 32 << 10, enough = 128;
    return std::max(cache / row, divideCeil(enough, columns.places));
  }
  int64_t columnsOfPanel() const { return tile.vectors * lanes; }
};

GradientPlan::GradientPlan(const SlidingProduct &product, Type element,
                           const Target &target)
    : ConvolutionPlan(product, element, target) {
  tile = chooseRegisterTile(target, in, out, lanes);
  panels = divideCeil(out, columnsOfPanel());

  int64_t bytes = groups * panels * product.taps() * in * columnsOfPanel() *
                  accumulatorBytes();
  constexpr int64_t most = 16, mostBytes = 8 << 20;
  parts =
      std::clamp<int64_t>(mostBytes / bytes, 1, std::min(most, product.images));

  // What is widened stays in the second-level cache.
  const SlideAxis &rows = product.rows;
  constexpr int64_t cached = 512 << 10;
  auto widened = [&] {
    return std::min(rows.size, (rowsAtOnce - 1) * rows.step +
                                   (rows.taps - 1) * rows.dilation + 1);
  };
  auto widenedBytes = [&] {
    return (widened() * product.columns.size * sourceChannels() +
            rowsAtOnce * product.columns.places * columnsOfPanel()) *
           accumulatorBytes();
  };
  rowsAtOnce = rows.places;
  if (inPlace)
    rowsAtOnce = std::min(rows.places, rowsInFirstCache(product));
  while (!inPlace && rowsAtOnce > 1 && widenedBytes() > cached)
    rowsAtOnce = (rowsAtOnce + 1) / 2;
  scratchRows = inPlace ? 0 : widened();
}

class GradientCode {
public:
  GradientCode(const SlidingProduct &product, const LayoutTensor &source,
               const LayoutTensor &gradient, const GradientPlan &plan)
      : product(product), plan(plan), b(plan.accumulator.getContext(),
                                        {{source.element(), source.count()},
                                         {gradient.element(), gradient.count()},
                                         {plan.accumulator, sumsCount()}},
                                        scratchBytes()) {
    int64_t sourceBytes = plan.scratchRows * product.columns.size *
                          plan.sourceChannels() * plan.accumulatorBytes();
    if (plan.scratchRows) {
      wideSource =
          b.scratch(plan.accumulator, 0, sourceBytes / plan.accumulatorBytes());
      wideGradient =
          b.scratch(plan.accumulator, sourceBytes,
                    (scratchBytes() - sourceBytes) / plan.accumulatorBytes());
    }
    b.forEach(b.begin(), b.end(), 1, [&](Value item) { emitItem(item); });
  }

  int64_t tapStride() const { return plan.in * plan.columnsOfPanel(); }
  int64_t panelStride() const { return product.taps() * tapStride(); }
  int64_t partStride() const {
    return plan.groups * plan.panels * panelStride();
  }
  int64_t sumsCount() const { return plan.parts * partStride(); }
  int64_t scratchBytes() const {
    if (!plan.scratchRows)
      return 0;
    return plan.accumulatorBytes() *
           (plan.scratchRows * product.columns.size * plan.sourceChannels() +
            plan.rowsAtOnce * product.columns.places * plan.columnsOfPanel());
  }
  OwningOpRef<ModuleOp> take() { return b.take(); }

private:
  void emitItem(Value item) {
    Value panel = b.rem(item, plan.panels);
    Value rest = b.div(item, plan.panels);
    group = b.rem(rest, plan.groups);
    Value part = b.div(rest, plan.groups);
    channel = b.mul(panel, plan.columnsOfPanel());
    sums = b.mul(item, panelStride());
    b.forEach(b.index(0), b.index(panelStride()), plan.lanes, [&](Value at) {
      b.store(b.zero(plan.accumulator, plan.lanes), b.argument(2),
              b.add(sums, at));
    });
    auto start = [&](Value part) {
      return b.div(b.mul(part, product.images), plan.parts);
    };
    b.forEach(start(part), start(b.add(part, 1)), 1, [&](Value image) {
      b.forEach(b.index(0), b.index(product.rows.places), plan.rowsAtOnce,
                [&](Value first) { emitRows(image, first); });
    });
  }

  /// Adds places [first, first + rowsAtOnce) of the rows of an image.
  void emitRows(Value image, Value first) {
    Value last = b.min(b.add(first, plan.rowsAtOnce), product.rows.places);
    source = findSourceRows(b, product, plan, b.argument(0),
                            plan.scratchRows ? std::optional(wideSource)
                                             : std::nullopt,
                            image, group, first, last);
    findGradient(image, first, last);
    // Channels of the source in tiles of two widths.
    int64_t tiles = divideCeil(plan.in, plan.tile.width);
    int64_t narrow = plan.in / tiles, wider = plan.in % tiles;
    Value wide = b.index(wider * (narrow + 1));
    auto emitTaps = [&](Value in, int64_t width) {
      b.forEach(product.rows.taps, [&](Value rowTap) {
        b.forEach(product.columns.taps, [&](Value columnTap) {
          findPlaces(rowTap, columnTap, first, last);
          emitTile(in, width);
        });
      });
    };
    b.forEach(b.index(0), wide, narrow + 1,
              [&](Value in) { emitTaps(in, narrow + 1); });
    b.forEach(wide, b.index(plan.in), narrow,
              [&](Value in) { emitTaps(in, narrow); });
  }

  /// Finds the panel of the gradient, and widens it if it is not read in its
  /// place.
  void findGradient(Value image, Value first, Value last) {
    int64_t pixel = product.groups * product.out;
    int64_t row = product.columns.places * pixel;
    Value begin = b.add(b.mul(image, product.rows.places * row),
                        b.add(b.mul(group, plan.out), channel));
    gradient = {b.argument(1), pixel, row, begin};
    if (!plan.scratchRows)
      return;
    int64_t width = plan.columnsOfPanel();
    Value from = b.add(begin, b.mul(first, row));
    Value pixels = b.mul(b.sub(last, first), product.columns.places);
    b.forEach(b.index(0), pixels, 1, [&](Value place) {
      for (int64_t v = 0; v < plan.tile.vectors; ++v) {
        Value at = b.add(b.add(from, b.mul(place, pixel)), v * plan.lanes);
        b.store(b.loadAs(plan.accumulator, b.argument(1), at, plan.lanes,
                         maskOf(v)),
                wideGradient, b.add(b.mul(place, width), v * plan.lanes));
      }
    });
    int64_t wideRow = product.columns.places * width;
    gradient = {wideGradient, width, wideRow,
                b.sub(b.index(0), b.mul(first, wideRow))};
  }

  /// Finds the places whose taps have a source.
  void findPlaces(Value rowTap, Value columnTap, Value first, Value last) {
    auto find = [&](const SlideAxis &axis, Value tap) {
      Value origin = b.add(b.mul(tap, axis.dilation), axis.first);
      return std::pair(
          origin, b.insideRange(origin, axis.step, axis.places, axis.size));
    };
    auto [rowOrigin, rowRange] = find(product.rows, rowTap);
    auto [columnOrigin, columnRange] = find(product.columns, columnTap);
    rows = {b.maxSigned(rowRange.first, first),
            b.select(b.isBelow(rowRange.second, last), rowRange.second, last)};
    columns = columnRange;
    sourceTap = b.add(source.origin, b.add(b.mul(rowOrigin, source.row),
                                           b.mul(columnOrigin, source.pixel)));
    Value tap = b.add(b.mul(rowTap, product.columns.taps), columnTap);
    sumsTap = b.add(sums, b.mul(tap, tapStride()));
  }

  /// Adds `width` channels of the source from `in` on by the panel's.
  void emitTile(Value in, int64_t width) {
    SmallVector<Value> zeros(width * plan.tile.vectors,
                             b.zero(plan.accumulator, plan.lanes));
    Value from = b.add(sourceTap, in);
    SmallVector<Value> part =
        b.fold(rows.first, rows.second, zeros, [&](Value row, ValueRange sums) {
          Value at = b.add(from, b.mul(row, product.rows.step * source.row));
          Value to = b.add(gradient.origin, b.mul(row, gradient.row));
          return b.fold(columns.first, columns.second, sums,
                        [&](Value column, ValueRange sums) {
                          int64_t step = product.columns.step * source.pixel;
                          return addPlace(
                              b.add(at, b.mul(column, step)),
                              b.add(to, b.mul(column, gradient.pixel)), sums);
                        });
        });
    for (auto [i, sum] : llvm::enumerate(part)) {
      int64_t r = i / plan.tile.vectors, v = i % plan.tile.vectors;
      Value at = b.add(sumsTap, b.mul(b.add(in, r), plan.columnsOfPanel()));
      at = b.add(at, v * plan.lanes);
      Value before = b.load(b.argument(2), at, plan.lanes);
      b.store(b.sum(before, sum), b.argument(2), at);
    }
  }

  SmallVector<Value> addPlace(Value sourceAt, Value gradientAt,
                              ValueRange sums) {
    SmallVector<Value> next(sums), vectors;
    for (int64_t v = 0; v < plan.tile.vectors; ++v)
      vectors.push_back(b.load(gradient.memory,
                               b.add(gradientAt, v * plan.lanes), plan.lanes,
                               plan.scratchRows ? Value() : maskOf(v)));
    for (auto [i, sum] : llvm::enumerate(next)) {
      int64_t r = i / plan.tile.vectors, v = i % plan.tile.vectors;
      Value x;
      if (plan.depthwise)
        x = b.load(source.memory,
                   b.add(b.add(sourceAt, channel), v * plan.lanes), plan.lanes,
                   maskOf(v));
      else
        x = b.loadSplat(source.memory, b.add(sourceAt, r), plan.lanes);
      sum = b.multiplyAdd(plan, x, vectors[v], sum);
    }
    return next;
  }

  Value maskOf(int64_t v) {
    return b.maskFor(b.add(channel, v * plan.lanes), plan.out,
                     plan.columnsOfPanel(), plan.lanes);
  }

  const SlidingProduct &product;
  const GradientPlan &plan;
  ConvolutionBuilder b;
  FlatMemory wideSource, wideGradient;
  SourceRows source, gradient;
  Value group, channel, sums;            ///< of the work item
  std::pair<Value, Value> rows, columns; ///< places of a tap
  Value sourceTap, sumsTap;              ///< where a tap begins
};

/// Adds the parts in order, and writes the weight's gradient as [group, out,
/// taps, in].
LogicalResult emitTotals(const SlidingProduct &product,
                         const GradientPlan &plan, const GradientCode &code,
                         KernelArgument sums, const LayoutTensor &result,
                         ObjectCompiler &compiler, EmittedKernel &kernel) {
  ConvolutionBuilder b(plan.accumulator.getContext(),
                       {{plan.accumulator, code.sumsCount()},
                        {result.element(), result.count()}},
                       0);
  int64_t length = product.taps() * plan.in;
  b.forEach(b.begin(), b.end(), 1, [&](Value row) {
    Value group = b.div(row, plan.out), out = b.rem(row, plan.out);
    Value panel =
        b.add(b.mul(group, plan.panels), b.div(out, plan.columnsOfPanel()));
    Value from = b.add(b.mul(panel, code.panelStride()),
                       b.rem(out, plan.columnsOfPanel()));
    b.forEach(length, [&](Value at) {
      Value first = b.add(from, b.mul(at, plan.columnsOfPanel()));
      Value start = b.load(b.argument(0), first, 1);
      Value total =
          b.fold(b.index(1), b.index(plan.parts), start,
                 [&](Value part, ValueRange sum) -> SmallVector<Value> {
                   Value place = b.add(first, b.mul(part, code.partStride()));
                   return {b.sum(sum[0], b.load(b.argument(0), place, 1))};
                 })
              .front();
      b.storeAs(total, b.argument(1), b.add(b.mul(row, length), at));
    });
  });
  return b.launch(compiler, kernel, {sums, result.argument},
                  plan.groups * plan.out,
                  elementsInTask(8) / (length * plan.parts));
}

} // namespace

LogicalResult mp::cpu::emitWeightGradient(const SlidingProduct &product,
                                          const LayoutTensor &source,
                                          const LayoutTensor &gradient,
                                          const LayoutTensor &result,
                                          ObjectCompiler &compiler,
                                          EmittedKernel &kernel) {
  if (auto unit = tileUnitFor(product, source.element(), gradient.element(),
                              compiler.target()))
    return emitTileWeightGradient(product, source, gradient, result, *unit,
                                  compiler, kernel);
  GradientPlan plan(product, source.element(), compiler.target());
  GradientCode code(product, source, gradient, plan);
  KernelArgument sums{KernelArgument::Kind::Temporary,
                      unsigned(kernel.temporaries.size())};
  kernel.temporaries.push_back(code.sumsCount() * plan.accumulatorBytes());
  KernelLaunch launch;
  launch.shared = code.scratchBytes();
  FailureOr<std::string> symbol = compiler.compile(code.take());
  if (failed(symbol))
    return failure();
  launch.symbol = *symbol;
  launch.grid = plan.parts * plan.groups * plan.panels;
  launch.flops = product.flops();
  launch.arguments = {source.argument, gradient.argument, sums};
  kernel.launches.push_back(std::move(launch));
  return emitTotals(product, plan, code, sums, result, compiler, kernel);
}
