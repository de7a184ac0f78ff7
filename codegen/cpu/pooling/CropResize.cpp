//===- CropResize.cpp - boxes of images in one size on the CPU ------------===//
#include "codegen/cpu/pooling/CropResize.h"
#include "codegen/cpu/pooling/PoolBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {
/// Places of the result along a dimension, one or a vector of them: between two
/// pixels of the image, `part` of the way from the first one.
struct Between {
  Value first, second, part;
};

/// A side of a box, in f32.
struct Side {
  Value whole, fraction; ///< of the pixel where it begins
  Value scale, last;     ///< pixels of a place; where the last pixel lies
};

/// Columns of a line of the result are located in vectors before its pixels are
/// mixed, since there are more operations in a place than in a pixel.
class CropEmitter {
public:
  CropEmitter(const CropResize &crop, Type element,
              ArrayRef<LoopBuilder::Argument> arguments)
      : crop(crop), mix(mixType(element)),
        lanes(lanesFor(crop.channels, bytesOf(mix), 256)),
        columns(llvm::alignTo(crop.dims[1].places, kPlaces)),
        b(element.getContext(), arguments, sharedBytes()),
        first(b.scratch(b.getI32Type(), 0, columns)),
        second(b.scratch(b.getI32Type(), 4 * columns, columns)),
        part(b.scratch(b.getF32Type(), 8 * columns, columns)) {
    b.forLines(items(), [&](const Line &line) { emitLine(line); });
  }

  PoolBuilder &builder() { return b; }
  LineItems items() const {
    return {crop.images, crop.dims[0].places, crop.channels, lanes};
  }
  int64_t itemsInTask() const {
    return items().inTask(crop.dims[1].places, bytesOf(mix));
  }
  int64_t sharedBytes() const { return 12 * columns; }

private:
  static constexpr int64_t kPlaces = 8; ///< that are located at once

  //===--------------------------------------------------------------------===//
  // Where pixels lie
  //===--------------------------------------------------------------------===//

  /// A number as often as `like` has elements.
  Value all(Value number, Value like) {
    if (!isa<VectorType>(like.getType()))
      return number;
    return vector::BroadcastOp::create(b, like.getType(), number);
  }
  Value real(double number) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(number));
  }
  /// Within [low, high]; a NaN becomes `low`.
  Value within(Value number, Value low, Value high) {
    Value above = arith::MaxNumFOp::create(b, number, all(low, number));
    return arith::MinNumFOp::create(b, above, all(high, number));
  }
  Value floor(Value number) { return math::FloorOp::create(b, number); }
  Value plus(Value number, Value other) {
    return arith::AddFOp::create(b, number, all(other, number));
  }
  Value toIndex(Value number) {
    Value wide = arith::FPToSIOp::create(b, b.getI64Type(), number);
    return arith::IndexCastOp::create(b, b.getIndexType(), wide);
  }

  Side sideOf(unsigned dim, Value image) {
    Value begin = b.loadScalar(b.argument(1 + dim), image);
    Value extent = b.loadScalar(b.argument(3 + dim), image);
    Value whole = floor(begin);
    Value last = arith::SubFOp::create(b, extent, real(1));
    return {whole, arith::SubFOp::create(b, begin, whole),
            arith::DivFOp::create(b, extent, real(crop.dims[dim].places)),
            arith::MaxNumFOp::create(b, last, real(0))};
  }

  /// Places by their numbers in f32; pixels are whole numbers of f32.
  Between betweenOf(const Side &side, unsigned dim, Value places) {
    Value at = arith::MulFOp::create(b, plus(places, real(0.5)),
                                     all(side.scale, places));
    at = within(plus(at, real(-0.5)), real(0), side.last);
    at = plus(at, side.fraction);
    Value whole = floor(at), edge = real(crop.dims[dim].elements - 1);
    Value first = plus(whole, side.whole), second = plus(first, real(1));
    Value part = arith::SubFOp::create(b, at, whole);
    return {within(first, real(0), edge), within(second, real(0), edge),
            within(part, real(0), real(1))};
  }

  Between rowsOf(const Line &line) {
    Value wide = arith::IndexCastOp::create(b, b.getI64Type(), line.row);
    Value row = arith::SIToFPOp::create(b, b.getF32Type(), wide);
    Between rows = betweenOf(sideOf(0, line.image), 0, row);
    return {toIndex(rows.first), toIndex(rows.second), toMix(rows.part)};
  }

  void locateColumns(Value image) {
    Side side = sideOf(1, image);
    auto reals = VectorType::get({kPlaces}, b.getF32Type());
    auto integers = VectorType::get({kPlaces}, b.getI32Type());
    SmallVector<float> numbers;
    for (int64_t i = 0; i < kPlaces; ++i)
      numbers.push_back(i);
    Value steps = arith::ConstantOp::create(
        b, DenseElementsAttr::get(reals, ArrayRef(numbers)));
    b.forEach(b.index(0), b.index(columns), kPlaces, [&](Value start) {
      Value wide = arith::IndexCastOp::create(b, b.getI64Type(), start);
      Value number = arith::SIToFPOp::create(b, b.getF32Type(), wide);
      Between places = betweenOf(side, 1, plus(steps, number));
      b.store(arith::FPToSIOp::create(b, integers, places.first), first, start);
      b.store(arith::FPToSIOp::create(b, integers, places.second), second,
              start);
      b.store(places.part, part, start);
    });
  }

  //===--------------------------------------------------------------------===//
  // Pixels
  //===--------------------------------------------------------------------===//

  Value load(Value at, Value mask) {
    const FlatMemory &source = b.argument(0);
    if (isa<FloatType>(source.element))
      return b.loadAs(mix, source, at, lanes, mask);
    return arith::UIToFPOp::create(b, VectorType::get({lanes}, mix),
                                   b.load(source, at, lanes, mask));
  }

  void store(Value pixel, Value at, Value mask) {
    const FlatMemory &result = b.argument(5);
    if (isa<FloatType>(result.element))
      return b.storeAs(pixel, result, at, mask);
    auto bytes = VectorType::get({lanes}, result.element);
    Value nearest = math::RoundEvenOp::create(b, pixel);
    b.store(arith::FPToUIOp::create(b, bytes, nearest), result, at, mask);
  }

  Value toMix(Value number) {
    return mix.isF64() ? Value(arith::ExtFOp::create(b, mix, number)) : number;
  }
  /// (1 - part) * x + part * y.
  Value between(Value part, Value x, Value y) {
    Value one = arith::ConstantOp::create(b, b.getFloatAttr(mix, 1));
    Value rest = arith::SubFOp::create(b, one, part);
    return arith::AddFOp::create(b, arith::MulFOp::create(b, all(rest, x), x),
                                 arith::MulFOp::create(b, all(part, x), y));
  }

  void emitLine(const Line &line) {
    Between down = rowsOf(line);
    locateColumns(line.image);
    // Known where it can be, so that the mask of a rest is.
    Value count =
        items().channelBlocks() == 1 ? b.index(crop.channels) : line.count;
    auto [from, to] = std::pair(crop.dims[0].elements, crop.dims[1].elements);
    b.forEach(crop.dims[1].places, [&](Value column) {
      Value left = b.loadIndex(first, column),
            right = b.loadIndex(second, column),
            across = toMix(b.loadScalar(part, column));
      auto pixel = [&](Value row, Value column) {
        return b.pixelOf(line, row, column, from, to, crop.channels);
      };
      Value corners[] = {pixel(down.first, left), pixel(down.first, right),
                         pixel(down.second, left), pixel(down.second, right)};
      Value place = b.pixelOf(line, line.row, column, crop.dims[0].places,
                              crop.dims[1].places, crop.channels);
      b.forVectors(count, lanes, [&](Value at, Value mask) {
        Value x[4];
        for (auto [value, corner] : llvm::zip_equal(x, corners))
          value = load(b.add(corner, at), mask);
        Value mixed = between(down.part, between(across, x[0], x[1]),
                              between(across, x[2], x[3]));
        store(mixed, b.add(place, at), mask);
      });
    });
  }

  const CropResize &crop;
  FloatType mix;
  int64_t lanes, columns;
  PoolBuilder b;
  FlatMemory first, second, part; ///< of the columns of a line
};
} // namespace

LogicalResult
mp::cpu::emitCropResize(const CropResize &crop, const LayoutTensor &source,
                        const Boxes &boxes, const LayoutTensor &result,
                        ObjectCompiler &compiler, EmittedKernel &kernel) {
  if (result.count() == 0)
    return success();
  SmallVector<LoopBuilder::Argument> arguments;
  SmallVector<KernelArgument> passed;
  for (const LayoutTensor &tensor :
       {source, boxes.top, boxes.left, boxes.height, boxes.width, result}) {
    arguments.push_back({tensor.element(), tensor.count()});
    passed.push_back(tensor.argument);
  }
  CropEmitter emitter(crop, source.element(), arguments);
  if (failed(emitter.builder().launch(compiler, kernel, passed,
                                      emitter.items().count(),
                                      emitter.itemsInTask())))
    return failure();
  kernel.launches.back().shared = emitter.sharedBytes();
  return success();
}
