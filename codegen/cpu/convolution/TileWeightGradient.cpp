//===- TileWeightGradient.cpp - gradients of weights in tiles -------------===//
//
// For each row of the window, the gradient is a product of two matrices whose
// inner dimension is the places of all images. A pair of a tile is the same
// place of two images, so that one copy of the source serves all taps.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/convolution/TileCode.h"
#include "codegen/cpu/convolution/TileGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {

constexpr int64_t kSide = MatrixTiles::side;

class GradientCode {
public:
  GradientCode(const SlidingProduct &product, Type element,
               const TileGradientPlan &plan)
      : product(product), plan(plan),
        b(element.getContext(),
          {{wordOf(element), product.sourceCount()},
           {wordOf(element), gradientCount(product)},
           {Float32Type::get(element.getContext()), plan.sumsCount(product)}},
          plan.scratchBytes(product)),
        tiles(MatrixTiles::create(b, plan.unit)) {
    Type pair = b.getI32Type();
    int64_t count = plan.sourceCount(product);
    source = b.scratch(pair, 0, count);
    gradient = b.scratch(pair, 4 * llvm::alignTo(count, kSide),
                         plan.pairsAtOnce * plan.gradientStride());
    b.forEach(b.begin(), b.end(), 1, [&](Value item) { emitItem(item); });
  }
  OwningOpRef<ModuleOp> take() { return b.take(); }

private:
  static int64_t gradientCount(const SlidingProduct &product) {
    return product.images * product.rows.places * product.columns.places *
           product.groups * product.out;
  }

  void emitItem(Value item) {
    Value block = b.rem(item, plan.channelBlocks());
    Value rest = b.div(item, plan.channelBlocks());
    group = b.rem(rest, product.groups);
    Value part = b.div(rest, product.groups);
    firstTile = b.mul(block, plan.channelTilesInItem);
    channelTiles = b.min(b.sub(b.index(plan.channelTiles), firstTile),
                         plan.channelTilesInItem);
    sums = b.mul(b.add(b.mul(rest, plan.channelTiles), firstTile),
                 plan.channelStride(product));
    Value end = b.add(sums, b.mul(channelTiles, plan.channelStride(product)));
    b.forEach(sums, end, kSide, [&](Value at) {
      b.store(b.zero(b.getF32Type(), kSide), b.argument(2), at);
    });
    auto start = [&](Value part) {
      return b.div(b.mul(part, plan.pairs), plan.parts);
    };
    Value last = start(b.add(part, 1));
    b.forEach(start(part), last, plan.pairsAtOnce, [&](Value pair) {
      Value count = b.min(b.sub(last, pair), plan.pairsAtOnce);
      b.forEach(b.index(0), b.index(product.rows.places), plan.rowsAtOnce,
                [&](Value row) { emitRows(pair, count, row); });
    });
  }

  /// Adds rows from `first` on of `count` pairs of images.
  void emitRows(Value firstPair, Value count, Value first) {
    PairPacker packer(b, product, plan, source, gradient);
    rows = b.min(b.sub(b.index(product.rows.places), first), plan.rowsAtOnce);
    b.forEach(b.index(0), count, 1, [&](Value i) {
      packer.findImages(b.add(firstPair, i));
      packer.packSource(group, first, b.mul(i, plan.sourceStride(product)));
      packer.packGradient(group, firstTile, channelTiles, first, rows,
                          b.mul(i, plan.gradientStride()));
    });
    b.forEach(b.index(0), channelTiles, 1, [&](Value tile) {
      b.forEach(product.rows.taps, [&](Value tap) {
        findRows(first, tap);
        Value to = b.add(sums, b.mul(tile, plan.channelStride(product)));
        to = b.add(to, b.mul(tap, plan.runTiles * kSide * kSide));
        Value from =
            b.mul(tap, plan.rows.dilation * plan.columns.size * product.in);
        b.forEach(plan.runs.count, [&](Value run) {
          emitRun(count, tile,
                  b.add(from, b.mul(run, plan.columns.dilation * product.in)),
                  b.add(to, b.mul(run, plan.tilesOfRun() * kSide * kSide)));
        });
      });
    });
  }

  /// Finds the rows in scratch, from row `first` on, for which a tap is not in
  /// the padding.
  void findRows(Value first, Value tap) {
    const SlideAxis &axis = product.rows;
    Value origin = b.add(b.mul(first, axis.step),
                         b.add(b.mul(tap, axis.dilation), axis.first));
    inRows = b.insideRange(origin, axis.step, plan.rowsAtOnce, axis.size);
    inRows.second = b.createOrFold<arith::MinUIOp>(inRows.second, rows);
  }

  /// Adds the products of a channel tile and a run, which begins at `from` in
  /// each row of the source.
  void emitRun(Value count, Value tile, Value from, Value to) {
    if (plan.areRunsRows)
      return emitRunAsRows(count, tile, from, to);
    int64_t all = plan.tilesOfRun(), rest = all % plan.tilesAtOnce;
    auto emit = [&](Value first, int64_t atOnce) {
      emitTiles(count, tile, b.add(from, b.mul(first, kSide)),
                b.add(to, b.mul(first, kSide * kSide)), atOnce);
    };
    b.forEach(b.index(0), b.index(all - rest), plan.tilesAtOnce,
              [&](Value first) { emit(first, plan.tilesAtOnce); });
    if (rest)
      emit(b.index(all - rest), rest);
  }

  void emitTiles(Value count, Value tile, Value from, Value to,
                 int64_t atOnce) {
    SmallVector<MatrixTiles::Place> places;
    for (int64_t i = 0; i < atOnce; ++i)
      places.push_back({b.argument(2), b.add(to, i * kSide * kSide), kSide});
    auto addTiles = [&](Value source, Value gradient, ValueRange block) {
      return addRow(source, gradient, atOnce, block);
    };
    tiles->store(addRows(count, tile, from, tiles->load(places), addTiles),
                 places);
  }

  /// The same where elements of the run are rows of sums.
  void emitRunAsRows(Value count, Value tile, Value from, Value to) {
    SmallVector<Value> block;
    for (int64_t i = 0; i < plan.runs.length; ++i)
      block.push_back(b.load(b.argument(2), b.add(to, i * kSide), kSide));
    auto addPlace = [&](Value source, Value channels, ValueRange block) {
      SmallVector<Value> next(block);
      Value pairs = b.load(gradient, channels, kSide);
      for (auto [i, sum] : llvm::enumerate(next))
        sum = addDotProducts(
            b, sum, pairs,
            splatPair(b, this->source, b.add(source, int64_t(i))));
      return next;
    };
    auto addPlaces = [&](Value source, Value channels, ValueRange block) {
      return b.fold(b.index(0), b.index(product.columns.places), block,
                    [&](Value place, ValueRange block) {
                      int64_t step = plan.columns.step * product.in;
                      return addPlace(b.add(source, b.mul(place, step)),
                                      b.add(channels, b.mul(place, kSide)),
                                      block);
                    });
    };
    block = addRows(count, tile, from, block, addPlaces);
    for (auto [i, sum] : llvm::enumerate(block))
      b.store(sum, b.argument(2), b.add(to, int64_t(i) * kSide));
  }

  /// Adds all rows in scratch to sums: addOne(place in the source, place in the
  /// gradient, sums) adds one.
  SmallVector<Value>
  addRows(Value count, Value tile, Value from, ValueRange start,
          function_ref<SmallVector<Value>(Value, Value, ValueRange)> addOne) {
    return b.fold(b.index(0), count, start, [&](Value pair, ValueRange block) {
      Value sourcePair = b.add(from, b.mul(pair, plan.sourceStride(product)));
      Value gradientPair = b.add(b.mul(pair, plan.gradientStride()),
                                 b.mul(tile, kSide * plan.gradientPitch));
      auto add = [&](Value row, ValueRange block) {
        int64_t sourceRow = plan.rows.step * plan.columns.size * product.in;
        int64_t gradientRow =
            plan.channelTilesInItem * kSide * plan.gradientPitch;
        return addOne(b.add(sourcePair, b.mul(row, sourceRow)),
                      b.add(gradientPair, b.mul(row, gradientRow)), block);
      };
      return b.fold(inRows.first, inRows.second, block, add);
    });
  }

  /// Adds the places of a row.
  SmallVector<Value> addRow(Value sourceAt, Value gradientAt, int64_t atOnce,
                            ValueRange before) {
    int64_t places = product.columns.places;
    int64_t step = MatrixTiles::depthOf(plan.unit, 2 * places) / 2;
    int64_t whole = places / step, rest = places % step;
    SmallVector<Value> block(before);
    if (whole)
      block = b.fold(b.index(0), b.index(whole), block,
                     [&](Value i, ValueRange block) {
                       return addPlaces(sourceAt, gradientAt, b.mul(i, step),
                                        step, atOnce, block);
                     });
    if (rest)
      block = addPlaces(sourceAt, gradientAt, b.index(whole * step), rest,
                        atOnce, block);
    return block;
  }

  SmallVector<Value> addPlaces(Value sourceAt, Value gradientAt, Value first,
                               int64_t count, int64_t atOnce,
                               ValueRange block) {
    int64_t pixel = plan.columns.step * product.in;
    MatrixTiles::Place channels = {gradient, b.add(gradientAt, first),
                                   plan.gradientPitch};
    Value from = b.add(sourceAt, b.mul(first, pixel));
    SmallVector<MatrixTiles::Place> elements;
    for (int64_t i = 0; i < atOnce; ++i)
      elements.push_back({source, b.add(from, i * kSide), pixel});
    return tiles->multiplyAdd(block, channels, elements, 2 * count);
  }

  const SlidingProduct &product;
  const TileGradientPlan &plan;
  ConvolutionBuilder b;
  std::unique_ptr<MatrixTiles> tiles;
  FlatMemory source, gradient;
  Value group, firstTile, channelTiles, sums; ///< of the work item
  Value rows;                                 ///< in scratch
  std::pair<Value, Value> inRows;             ///< those that a tap meets
};

/// Adds the parts in order, and writes the weight's gradient as [group, out,
/// row tap, run, its elements].
LogicalResult emitTotals(const SlidingProduct &product,
                         const TileGradientPlan &plan, KernelArgument sums,
                         const LayoutTensor &result, ObjectCompiler &compiler,
                         EmittedKernel &kernel) {
  MLIRContext *context = result.element().getContext();
  ConvolutionBuilder b(context,
                       {{Float32Type::get(context), plan.sumsCount(product)},
                        {result.element(), result.count()}},
                       0);
  int64_t lines = product.rows.taps * plan.runs.count;
  int64_t partStride =
      product.groups * plan.channelTiles * plan.channelStride(product);
  b.forEach(b.begin(), b.end(), 1, [&](Value row) {
    Value group = b.div(row, product.out), out = b.rem(row, product.out);
    Value tile = b.add(b.mul(group, plan.channelTiles), b.div(out, kSide));
    Value from = b.add(b.mul(tile, plan.channelStride(product)),
                       b.mul(b.rem(out, kSide), plan.areRunsRows ? 1 : kSide));
    b.forEach(lines, [&](Value line) {
      Value first = b.add(from, b.mul(line, plan.tilesOfRun() * kSide * kSide));
      Value to = b.mul(b.add(b.mul(row, lines), line), plan.runs.length);
      // Elements of a run are neighbours, or in neighbouring rows.
      int64_t lanes = plan.areRunsRows ? 1 : kSide;
      b.forVectors(b.index(plan.runs.length), lanes, [&](Value i, Value mask) {
        Value at = b.add(first, b.mul(i, kSide));
        Value start = b.load(b.argument(0), at, lanes);
        Value total =
            b.fold(b.index(1), b.index(plan.parts), start,
                   [&](Value part, ValueRange sum) -> SmallVector<Value> {
                     Value place = b.add(at, b.mul(part, partStride));
                     return {
                         b.sum(sum[0], b.load(b.argument(0), place, lanes))};
                   })
                .front();
        b.storeAs(total, b.argument(1), b.add(to, i), mask);
      });
    });
  });
  return b.launch(compiler, kernel, {sums, result.argument},
                  product.groups * product.out,
                  elementsInTask(4) / (lines * plan.runs.length * plan.parts));
}

} // namespace

LogicalResult mp::cpu::emitTileWeightGradient(
    const SlidingProduct &product, const LayoutTensor &source,
    const LayoutTensor &gradient, const LayoutTensor &result, TileUnit unit,
    ObjectCompiler &compiler, EmittedKernel &kernel) {
  TileGradientPlan plan(product, unit);
  KernelArgument sums{KernelArgument::Kind::Temporary,
                      unsigned(kernel.temporaries.size())};
  kernel.temporaries.push_back(4 * plan.sumsCount(product));
  KernelLaunch launch;
  launch.shared = plan.scratchBytes(product);
  FailureOr<std::string> symbol =
      compiler.compile(GradientCode(product, source.element(), plan).take());
  if (failed(symbol))
    return failure();
  launch.symbol = *symbol;
  launch.grid = plan.parts * product.groups * plan.channelBlocks();
  launch.block = 1;
  launch.flops = product.flops();
  launch.arguments = {source.argument, gradient.argument, sums};
  kernel.launches.push_back(std::move(launch));
  return emitTotals(product, plan, sums, result, compiler, kernel);
}
