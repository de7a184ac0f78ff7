//===- Convolution.cpp - generated convolutions on the CPU ----------------===//
#include "codegen/cpu/convolution/Convolution.h"
#include "codegen/cpu/convolution/ConvolutionCode.h"
#include "codegen/cpu/convolution/TileCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {

/// A work item computes a block of rows of one image and group, of some panels
/// of channels. How much it has does not change a bit of the result.
struct ProductPlan : ConvolutionPlan {
  ProductPlan(const SlidingProduct &product, Type element, const Target &target,
              unsigned workers);

  RegisterTile tile;
  SmallVector<TileRun> runs; ///< of a row
  PackedWeight packed;
  int64_t panelsInItem, rowsInItem;
  int64_t scratchRows; ///< rows of the source that an item widens

  int64_t panelGroups() const {
    return divideCeil(packed.panels, panelsInItem);
  }
  int64_t rowBlocks(const SlidingProduct &product) const {
    return divideCeil(product.rows.places, rowsInItem);
  }
};

ProductPlan::ProductPlan(const SlidingProduct &product, Type element,
                         const Target &target, unsigned workers)
    : ConvolutionPlan(product, element, target) {
  const SlideAxis &rows = product.rows;
  int64_t pixel = inPlace ? product.groups * product.in : sourceChannels();
  int64_t most = placesAtOnce(product.columns.step * pixel);
  tile = chooseRegisterTile(target, product.columns.places, out, lanes, most);
  runs = tilesOf(product.columns, tile.width);
  packed = {.tile = tile.vectors * lanes,
            .panels = divideCeil(out, tile.vectors * lanes),
            .rowTaps = rows.taps,
            .columnTaps = product.columns.taps,
            .in = in};
  // Panels that stay in the second-level cache serve all rows of an item.
  int64_t panelBytes = packed.panelStride() * accumulatorBytes();
  constexpr int64_t cached = 1 << 20;
  panelsInItem = std::clamp<int64_t>(cached / std::max<int64_t>(panelBytes, 1),
                                     1, packed.panels);

  // An item is worth its overhead, and there are a few for each worker.
  int64_t flopsOfRow = std::max<int64_t>(
      product.flops() / (product.images * product.groups * rows.places), 1);
  int64_t enough = divideCeil(int64_t(1) << 22, flopsOfRow);
  int64_t others = product.images * groups * panelGroups();
  int64_t shared =
      std::max<int64_t>(rows.places * others / (4 * int64_t(workers)), 1);
  rowsInItem = std::clamp<int64_t>(enough, 1, std::min(shared, rows.places));
  auto widened = [&] {
    return std::min(rows.size, (rowsInItem - 1) * rows.step +
                                   (rows.taps - 1) * rows.dilation + 1);
  };
  int64_t bytes = product.columns.size * sourceChannels() * accumulatorBytes();
  while (!inPlace && rowsInItem > 1 && widened() * bytes > cached / 4)
    --rowsInItem;
  scratchRows = inPlace ? 0 : std::max<int64_t>(widened(), 0);
}

class ProductCode {
public:
  ProductCode(const SlidingProduct &product, const ConvolutionTensors &tensors,
              const ProductPlan &plan)
      : product(product), tensors(tensors), plan(plan),
        b(plan.accumulator.getContext(), argumentsOf(product, tensors, plan),
          scratchBytes()) {
    if (plan.scratchRows)
      scratch = b.scratch(plan.accumulator, 0,
                          scratchBytes() / plan.accumulatorBytes());
    b.forEach(b.begin(), b.end(), 1, [&](Value item) { emitItem(item); });
  }

  int64_t scratchBytes() const {
    return plan.scratchRows * product.columns.size * plan.sourceChannels() *
           plan.accumulatorBytes();
  }
  OwningOpRef<ModuleOp> take() { return b.take(); }

private:
  static SmallVector<LoopBuilder::Argument>
  argumentsOf(const SlidingProduct &product, const ConvolutionTensors &tensors,
              const ProductPlan &plan) {
    int64_t packed =
        plan.groups * plan.packed.panels * plan.packed.panelStride();
    SmallVector<LoopBuilder::Argument> arguments{
        {tensors.source.element(), product.sourceCount()},
        {plan.accumulator, std::max<int64_t>(packed, 1)},
        {tensors.result.element(), product.resultCount()}};
    if (tensors.bias)
      arguments.push_back({tensors.bias->element(), tensors.bias->count()});
    return arguments;
  }

  void emitItem(Value item) {
    // Neighbouring items share their panels of the weight, which are the most
    // to read if there are several groups of them.
    Value block = b.rem(item, plan.rowBlocks(product));
    Value rest = b.div(item, plan.rowBlocks(product));
    image = b.rem(rest, product.images);
    rest = b.div(rest, product.images);
    group = b.rem(rest, plan.groups);
    Value panels = b.div(rest, plan.groups);
    Value first = b.mul(block, plan.rowsInItem);
    Value last = b.min(b.add(first, plan.rowsInItem), product.rows.places);
    source =
        findSourceRows(b, product, plan, b.argument(0),
                       plan.scratchRows ? std::optional(scratch) : std::nullopt,
                       image, group, first, last);
    Value begin = b.mul(panels, plan.panelsInItem);
    Value end = b.min(b.add(begin, plan.panelsInItem), plan.packed.panels);
    b.forEach(begin, end, 1, [&](Value panel) {
      channel = b.mul(panel, plan.packed.tile);
      weights = b.mul(b.add(b.mul(group, plan.packed.panels), panel),
                      plan.packed.panelStride());
      b.forEach(first, last, 1, [&](Value row) { emitRow(row); });
    });
  }

  void emitRow(Value row) {
    const SlideAxis &rows = product.rows;
    sourceRow = b.add(b.mul(row, rows.step), rows.first);
    resultRow = b.add(b.mul(image, rows.toSize),
                      b.add(b.mul(row, rows.toStep), rows.toFirst));
    taps = rows.isInside()
               ? std::pair(b.index(0), b.index(rows.taps))
               : b.insideRange(sourceRow, rows.dilation, rows.taps, rows.size);
    for (const TileRun &run : plan.runs) {
      Value end = b.index(run.first + run.tiles * run.width);
      b.forEach(b.index(run.first), end, run.width,
                [&](Value place) { emitTile(run, place); });
    }
  }

  void emitTile(const TileRun &run, Value place) {
    SmallVector<Value> sums(run.width * plan.tile.vectors,
                            b.zero(plan.accumulator, plan.lanes));
    if (!run.taps.empty() && product.rows.taps)
      sums = b.fold(taps.first, taps.second, sums,
                    [&](Value tap, ValueRange sums) {
                      return emitTaps(run, place, tap, sums);
                    });
    finishTile(run, place, sums);
  }

  /// Adds the taps of row `tap` of the window.
  SmallVector<Value> emitTaps(const TileRun &run, Value place, Value tap,
                              ValueRange before) {
    const SlideAxis &columns = product.columns;
    Value row = b.add(sourceRow, b.mul(tap, product.rows.dilation));
    Value rowAt = b.add(source.origin, b.mul(row, source.row));
    Value weightRow = b.add(weights, b.mul(tap, plan.packed.rowStride()));
    SmallVector<Value> sums(before);
    for (const TileRun::Taps &some : run.taps) {
      Value column = b.add(b.mul(place, columns.step),
                           columns.first + some.first * columns.dilation);
      Value at = b.add(rowAt, b.mul(column, source.pixel));
      Value weight = b.add(weightRow, some.first * plan.in * plan.packed.tile);
      sums = emitSteps(some, at, weight, sums);
    }
    return sums;
  }

  /// Adds neighbouring taps of a row. Their channels are neighbours too, unless
  /// there are others between.
  SmallVector<Value> emitSteps(const TileRun::Taps &some, Value at,
                               Value weight, ValueRange sums) {
    int64_t distance = product.columns.dilation * source.pixel;
    bool contiguous = !plan.depthwise && distance == plan.in;
    int64_t length = contiguous ? some.count * plan.in : plan.in;
    auto steps = [&](Value at, Value weight, ValueRange sums) {
      return b.fold(
          b.index(0), b.index(length), sums, [&](Value k, ValueRange sums) {
            return step(some, b.add(at, k),
                        b.add(weight, b.mul(k, plan.packed.tile)), sums);
          });
    };
    if (contiguous)
      return steps(at, weight, sums);
    return b.fold(
        b.index(0), b.index(some.count), sums, [&](Value tap, ValueRange sums) {
          return steps(b.add(at, b.mul(tap, distance)),
                       b.add(weight, b.mul(tap, plan.in * plan.packed.tile)),
                       sums);
        });
  }

  /// Adds one channel of one tap.
  SmallVector<Value> step(const TileRun::Taps &some, Value at, Value weight,
                          ValueRange sums) {
    SmallVector<Value> next(sums), vectors;
    for (int64_t v = 0; v < plan.tile.vectors; ++v)
      vectors.push_back(
          b.load(b.argument(1), b.add(weight, v * plan.lanes), plan.lanes));
    for (int64_t r = some.begin; r < some.end; ++r) {
      Value from = b.add(at, r * product.columns.step * source.pixel);
      Value element = plan.depthwise
                          ? Value()
                          : b.loadSplat(source.memory, from, plan.lanes);
      for (int64_t v = 0; v < plan.tile.vectors; ++v) {
        Value x = element ? element : channelsAt(from, v);
        Value &sum = next[r * plan.tile.vectors + v];
        sum = b.multiplyAdd(plan, x, vectors[v], sum);
      }
    }
    return next;
  }

  Value channelAt(int64_t v) { return b.add(channel, v * plan.lanes); }
  Value maskOf(int64_t v) {
    return b.maskFor(channelAt(v), plan.out, plan.packed.tile, plan.lanes);
  }
  Value channelsAt(Value from, int64_t v) {
    return b.load(source.memory, b.add(from, channelAt(v)), plan.lanes,
                  maskOf(v));
  }

  /// Applies bias, relu and the one rounding.
  void finishTile(const TileRun &run, Value place, ValueRange sums) {
    const SlideAxis &columns = product.columns;
    int64_t pixel = product.groups * product.out;
    Value first = b.add(b.mul(resultRow, columns.toSize),
                        b.add(b.mul(place, columns.toStep), columns.toFirst));
    Value to = b.add(b.mul(first, pixel), b.mul(group, plan.out));
    Value zero = b.zero(plan.accumulator, plan.lanes);
    for (int64_t v = 0; v < plan.tile.vectors; ++v) {
      Value at = channelAt(v), mask = maskOf(v), bias;
      if (tensors.bias)
        bias = b.loadAs(plan.accumulator, b.argument(3),
                        b.add(b.mul(group, plan.out), at), plan.lanes, mask);
      for (int64_t r = 0; r < run.width; ++r) {
        Value sum = sums[r * plan.tile.vectors + v];
        if (bias)
          sum = b.sum(sum, bias);
        if (tensors.relu)
          sum = arith::MaximumFOp::create(b, sum, zero);
        b.storeAs(sum, b.argument(2),
                  b.add(b.add(to, at), r * columns.toStep * pixel), mask);
      }
    }
  }

  const SlidingProduct &product;
  const ConvolutionTensors &tensors;
  const ProductPlan &plan;
  ConvolutionBuilder b;
  FlatMemory scratch;
  SourceRows source;
  Value image, group;         ///< of the work item
  Value channel, weights;     ///< of the panel: its first, and its place
  Value sourceRow, resultRow; ///< of the row
  std::pair<Value, Value> taps;
};

} // namespace

LogicalResult mp::cpu::emitConvolution(const SlidingProduct &product,
                                       const ConvolutionTensors &tensors,
                                       unsigned workers,
                                       ObjectCompiler &compiler,
                                       EmittedKernel &kernel) {
  if (auto unit = tileUnitFor(product, tensors.source.element(),
                              tensors.weight.element(), compiler.target()))
    return emitTileConvolution(product, tensors, workers, *unit, compiler,
                               kernel);
  ProductPlan plan(product, tensors.source.element(), compiler.target(),
                   workers);
  KernelArgument weights = tensors.weight.argument;
  if (product.taps()) {
    auto packed =
        emitPack(product, plan, plan.packed, tensors.weight, compiler, kernel);
    if (failed(packed))
      return failure();
    weights = *packed;
  }
  ProductCode code(product, tensors, plan);
  KernelLaunch launch;
  launch.shared = code.scratchBytes();
  FailureOr<std::string> symbol = compiler.compile(code.take());
  if (failed(symbol))
    return failure();
  launch.symbol = *symbol;
  launch.grid = product.images * plan.groups * plan.rowBlocks(product) *
                plan.panelGroups();
  launch.block = 1;
  launch.flops = product.flops();
  launch.arguments = {tensors.source.argument, weights,
                      tensors.result.argument};
  if (tensors.bias)
    launch.arguments.push_back(tensors.bias->argument);
  kernel.launches.push_back(std::move(launch));
  return success();
}
