//===- TileConvolution.cpp - convolutions of bf16 in tiles ----------------===//
//
// A row of A is what a place reads of a row of the window: the channels of
// neighbouring pixels are neighbours in memory, so that a tile is read from the
// padded image as it is, and nothing is unfolded.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/convolution/TileCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {

constexpr int64_t kVector = 32; ///< elements of 16 bits in a vector

class TileCode {
public:
  TileCode(const SlidingProduct &product, const ConvolutionTensors &tensors,
           const TilePlan &plan)
      : product(product), tensors(tensors), plan(plan),
        b(tensors.source.element().getContext(),
          argumentsOf(product, tensors, plan), scratchBytes(plan)),
        tiles(MatrixTiles::create(b, plan.unit)) {
    images = b.scratch(b.getI16Type(), 0, plan.imageCount());
    sums = b.scratch(b.getF32Type(), sumsOffset(plan), plan.sumsCount());
    b.forEach(b.begin(), b.end(), 1, [&](Value item) { emitItem(item); });
  }
  OwningOpRef<ModuleOp> take() { return b.take(); }

  static int64_t sumsOffset(const TilePlan &plan) {
    return llvm::alignTo(2 * plan.imageCount(), 64);
  }
  static int64_t scratchBytes(const TilePlan &plan) {
    return sumsOffset(plan) + 4 * plan.sumsCount();
  }

private:
  static SmallVector<LoopBuilder::Argument>
  argumentsOf(const SlidingProduct &product, const ConvolutionTensors &tensors,
              const TilePlan &plan) {
    Type word = wordOf(tensors.source.element());
    SmallVector<LoopBuilder::Argument> arguments{
        {word, product.sourceCount()},
        {word, product.groups * plan.panels * plan.panelStride(product)},
        {tensors.result.element(), product.resultCount()}};
    if (tensors.bias)
      arguments.push_back({tensors.bias->element(), tensors.bias->count()});
    return arguments;
  }

  void emitItem(Value item) {
    // Neighbouring items share their panels of the weight.
    auto split = [&](int64_t count) {
      Value part = b.rem(item, count);
      item = b.div(item, count);
      return part;
    };
    firstRow = b.mul(split(plan.rowBlocks(product)), plan.rowsInItem);
    firstImage = b.mul(split(plan.imageBlocks(product)), plan.imagesInItem);
    group = split(product.groups);
    Value firstPanel = b.mul(item, plan.panelsInItem);
    Value lastPanel = b.min(b.add(firstPanel, plan.panelsInItem), plan.panels);
    Value count =
        b.min(b.sub(b.index(product.images), firstImage), plan.imagesInItem);
    copyImages(count);
    b.forEach(firstPanel, lastPanel, plan.tilesN, [&](Value panel) {
      channel = b.mul(panel, MatrixTiles::side);
      weights = b.mul(b.add(b.mul(group, plan.panels), panel),
                      plan.panelStride(product));
      b.forEach(b.index(0), count, 1, [&](Value image) { emitImage(image); });
    });
  }

  void copyImages(Value count) {
    int64_t size = product.sourceCount() / product.images;
    Value row = b.add(b.mul(firstRow, product.rows.step), product.rows.first);
    b.forEach(b.index(0), count, 1, [&](Value image) {
      Value begin = b.mul(b.add(firstImage, image), size);
      auto load = [&](Value at, Value mask) {
        return b.load(b.argument(0), b.add(begin, at), kVector, mask);
      };
      PaddedCopy copy{.product = product,
                      .rows = plan.rows,
                      .columns = plan.columns,
                      .channels = plan.pitch,
                      .lanes = kVector,
                      .scratch = images,
                      .load = load};
      copy.emit(b, group, row, b.mul(image, plan.imageStride()));
    });
  }

  /// The rows of an image, for one block of channels.
  void emitImage(Value image) {
    Value rows =
        b.min(b.sub(b.index(product.rows.places), firstRow), plan.rowsInItem);
    int64_t places = product.columns.places;
    b.forEach(b.index(0), rows, plan.rowsAtOnce, [&](Value first) {
      Value count = b.min(b.sub(rows, first), plan.rowsAtOnce);
      Value at = b.add(b.mul(image, plan.imageStride()),
                       b.mul(first, plan.rowStride()));
      if (plan.acrossRows) {
        Value between = b.mul(b.sub(count, b.index(1)), plan.sumsPitch);
        emitLine(at, b.index(0), b.add(between, places));
      } else {
        b.forEach(b.index(0), count, plan.rowsOfTile, [&](Value row) {
          if (plan.skipsRows)
            findTaps(b.add(b.add(firstRow, first), row));
          emitLine(b.add(at, b.mul(row, plan.rowStride())),
                   b.mul(row, plan.sumsPitch),
                   b.index(plan.rowsOfTile * places));
        });
      }
      finishRows(b.add(firstImage, image), b.add(firstRow, first), count);
    });
  }

  /// Finds the taps of a row of places that are not in the padding.
  void findTaps(Value place) {
    const SlideAxis &rows = product.rows;
    Value origin = b.add(b.mul(place, rows.step), rows.first);
    taps = b.insideRange(origin, rows.dilation, rows.taps, rows.size);
  }

  /// Sums `pixels` places: those of the source from `at` on, into the sums from
  /// pixel `to` on.
  void emitLine(Value at, Value to, Value pixels) {
    Value count = b.div(b.add(pixels, plan.places - 1), plan.places);
    Value whole = b.mul(b.div(count, plan.tilesM), plan.tilesM);
    auto emitBlocks = [&](Value first, Value last, int64_t tilesM) {
      b.forEach(first, last, tilesM, [&](Value tile) {
        int64_t stride = plan.places * plan.columns.step * plan.pitch;
        emitBlock(tilesM, b.add(at, b.mul(tile, stride)),
                  b.add(to, b.mul(tile, plan.places)));
      });
    };
    emitBlocks(b.index(0), whole, plan.tilesM);
    if (plan.tilesM > 1)
      emitBlocks(whole, count, 1);
  }

  /// A block of tilesM x tilesN tiles of sums.
  void emitBlock(int64_t tilesM, Value at, Value to) {
    SmallVector<Value> block = tiles->zeros(tilesM * plan.tilesN, plan.places);
    auto addTap = [&](Value tap, ValueRange block) {
      int64_t row = plan.rows.dilation * plan.columns.size * plan.pitch;
      Value weight =
          b.add(weights, b.mul(tap, plan.runs.count * plan.runs.length *
                                        MatrixTiles::side));
      return emitRuns(tilesM, b.add(at, b.mul(tap, row)), weight, block);
    };
    block = plan.skipsRows ? b.fold(taps.first, taps.second, block, addTap)
                           : repeat(product.rows.taps, block, addTap);
    SmallVector<MatrixTiles::Place> places;
    for (int64_t m = 0; m < tilesM; ++m)
      for (int64_t n = 0; n < plan.tilesN; ++n) {
        Value pixel = b.add(to, m * plan.places);
        places.push_back(
            {sums,
             b.add(b.mul(pixel, plan.blockColumns()), n * MatrixTiles::side),
             plan.blockColumns(), plan.places});
      }
    tiles->store(block, places);
  }

  /// Adds a row of the window.
  SmallVector<Value> emitRuns(int64_t tilesM, Value at, Value weight,
                              ValueRange block) {
    const WindowRuns &runs = plan.runs;
    return repeat(runs.count, block, [&](Value run, ValueRange block) {
      Value from = b.add(at, b.mul(run, plan.columns.dilation * plan.pitch));
      Value row = b.add(weight, b.mul(run, runs.length * MatrixTiles::side));
      auto step = [&](Value k, int64_t depth, ValueRange block) {
        return addProducts(tilesM, b.add(from, k),
                           b.add(row, b.mul(k, MatrixTiles::side)), depth,
                           block);
      };
      SmallVector<Value> next =
          repeat(runs.steps(), block, [&](Value i, ValueRange block) {
            return step(b.mul(i, runs.depth), runs.depth, block);
          });
      if (runs.rest())
        next = step(b.index(runs.steps() * runs.depth), runs.rest(), next);
      return next;
    });
  }

  SmallVector<Value> addProducts(int64_t tilesM, Value at, Value weight,
                                 int64_t depth, ValueRange block) {
    constexpr int64_t side = MatrixTiles::side;
    SmallVector<MatrixTiles::Place> pixels, channels;
    int64_t pixel = plan.columns.step * plan.pitch;
    for (int64_t m = 0; m < tilesM; ++m)
      pixels.push_back({images, b.add(at, m * plan.places * pixel), pixel,
                        plan.places, plan.places / plan.rowsOfTile,
                        plan.rowStride()});
    for (int64_t n = 0; n < plan.tilesN; ++n)
      channels.push_back({b.argument(1),
                          b.add(weight, n * plan.panelStride(product)),
                          2 * side});
    return tiles->multiplyAdd(block, pixels, channels, depth);
  }

  /// body(i, values) for i below `count`: a few are written out.
  SmallVector<Value>
  repeat(int64_t count, ValueRange start,
         function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    constexpr int64_t few = 3;
    if (count > few)
      return b.fold(b.index(0), b.index(count), start, body);
    SmallVector<Value> values(start);
    for (int64_t i = 0; i < count; ++i)
      values = body(b.index(i), values);
    return values;
  }

  /// Applies bias, relu and the one rounding to `count` rows of sums.
  void finishRows(Value image, Value first, Value count) {
    const SlideAxis &rows = product.rows, &columns = product.columns;
    int64_t pixel = product.groups * product.out, lanes = plan.blockColumns();
    Value mask = b.maskFor(channel, product.out, lanes, lanes);
    Value inGroup = b.add(b.mul(group, product.out), channel), bias;
    if (tensors.bias)
      bias = b.loadAs(b.getF32Type(), b.argument(3), inGroup, lanes, mask);
    b.forEach(b.index(0), count, 1, [&](Value row) {
      Value place = b.add(b.mul(b.add(first, row), rows.toStep), rows.toFirst);
      place = b.add(b.mul(image, rows.toSize), place);
      place = b.add(b.mul(place, columns.toSize), columns.toFirst);
      Value to = b.add(b.mul(place, pixel), inGroup);
      Value from = b.mul(row, plan.sumsPitch * lanes);
      // Two pixels of 16 channels are rounded together.
      if (product.groups == 1 && product.out == MatrixTiles::side &&
          lanes == product.out && columns.toStep == 1)
        return finishPixels(from, to, bias);
      b.forEach(columns.places, [&](Value column) {
        Value sum = b.load(sums, b.add(from, b.mul(column, lanes)), lanes);
        b.storeAs(finish(sum, bias), b.argument(2),
                  b.add(to, b.mul(column, columns.toStep * pixel)), mask);
      });
    });
  }

  /// A row of pixels that are neighbours in the sums and in the result.
  void finishPixels(Value from, Value to, Value bias) {
    constexpr int64_t lanes = 2 * MatrixTiles::side;
    if (bias) {
      auto twice = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
      bias = vector::ShuffleOp::create(b, bias, bias, twice);
    }
    int64_t length = product.columns.places * MatrixTiles::side;
    b.forVectors(b.index(length), lanes, [&](Value i, Value mask) {
      Value sum = b.load(sums, b.add(from, i), lanes);
      b.storeAs(finish(sum, bias), b.argument(2), b.add(to, i), mask);
    });
  }

  Value finish(Value sum, Value bias) {
    if (bias)
      sum = b.sum(sum, bias);
    int64_t lanes = cast<VectorType>(sum.getType()).getNumElements();
    if (tensors.relu)
      sum = arith::MaximumFOp::create(b, sum, b.zero(b.getF32Type(), lanes));
    return sum;
  }

  const SlidingProduct &product;
  const ConvolutionTensors &tensors;
  const TilePlan &plan;
  ConvolutionBuilder b;
  std::unique_ptr<MatrixTiles> tiles;
  FlatMemory images, sums;
  Value firstImage, firstRow, group; ///< of the work item
  Value channel, weights;            ///< of the block of panels
  std::pair<Value, Value> taps;      ///< of a row, if rows are skipped
};

} // namespace

LogicalResult mp::cpu::emitTileConvolution(const SlidingProduct &product,
                                           const ConvolutionTensors &tensors,
                                           unsigned workers, TileUnit unit,
                                           ObjectCompiler &compiler,
                                           EmittedKernel &kernel) {
  TilePlan plan(product, workers, unit);
  FailureOr<KernelArgument> weights =
      emitTilePack(product, plan, tensors.weight, compiler, kernel);
  if (failed(weights))
    return failure();
  KernelLaunch launch;
  launch.shared = TileCode::scratchBytes(plan);
  FailureOr<std::string> symbol =
      compiler.compile(TileCode(product, tensors, plan).take());
  if (failed(symbol))
    return failure();
  launch.symbol = *symbol;
  launch.grid = plan.rowBlocks(product) * plan.imageBlocks(product) *
                product.groups * plan.panelGroups();
  launch.block = 1;
  launch.flops = product.flops();
  launch.arguments = {tensors.source.argument, *weights,
                      tensors.result.argument};
  if (tensors.bias)
    launch.arguments.push_back(tensors.bias->argument);
  kernel.launches.push_back(std::move(launch));
  return success();
}
