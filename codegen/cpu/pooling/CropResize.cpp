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
/// A place of the result along a dimension: between two pixels of the image,
/// which may be the same, and how far from the first one.
struct Between {
  Value first, second;
  Value part, rest; ///< in the type of the mix; rest = 1 - part
};

/// A side of a box.
struct Side {
  Value whole, fraction; ///< of the pixel where it begins
  Value scale, last;     ///< pixels of a place; where the last pixel lies
};

class CropEmitter {
public:
  CropEmitter(const CropResize &crop, Type element,
              ArrayRef<LoopBuilder::Argument> arguments)
      : crop(crop), mix(mixType(element)),
        lanes(lanesFor(crop.channels, bytesOf(mix), 256)),
        b(element.getContext(), arguments, 0) {
    b.forLines(items(), [&](const Line &line) { emitLine(line); });
  }

  PoolBuilder &builder() { return b; }
  LineItems items() const {
    return {crop.images, crop.dims[0].places, crop.channels, lanes};
  }
  int64_t itemsInTask() const {
    return items().inTask(crop.dims[1].places, bytesOf(mix));
  }

private:
  //===--------------------------------------------------------------------===//
  // Where pixels lie
  //===--------------------------------------------------------------------===//

  Value real(double number) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(number));
  }
  /// Within [low, high]; a NaN becomes `low`.
  Value within(Value number, Value low, Value high) {
    Value above = arith::MaxNumFOp::create(b, number, low);
    return arith::MinNumFOp::create(b, above, high);
  }
  Value floor(Value number) { return math::FloorOp::create(b, number); }
  Value toIndex(Value number) {
    Value wide = arith::FPToSIOp::create(b, b.getI64Type(), number);
    return arith::IndexCastOp::create(b, b.getIndexType(), wide);
  }
  Value toMix(Value number) {
    return mix.isF64() ? Value(arith::ExtFOp::create(b, mix, number)) : number;
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

  Between betweenOf(const Side &side, unsigned dim, Value place) {
    Value number = arith::SIToFPOp::create(
        b, b.getF32Type(),
        arith::IndexCastOp::create(b, b.getI64Type(), place));
    Value middle = arith::AddFOp::create(b, number, real(0.5));
    Value at = arith::SubFOp::create(
        b, arith::MulFOp::create(b, middle, side.scale), real(0.5));
    at = within(at, real(0), side.last);
    at = arith::AddFOp::create(b, at, side.fraction);
    Value whole = floor(at), zero = real(0), one = real(1);
    Value edge = real(crop.dims[dim].elements - 1);
    Value first = arith::AddFOp::create(b, side.whole, whole);
    Value second = arith::AddFOp::create(b, first, one);
    Value part = toMix(within(arith::SubFOp::create(b, at, whole), zero, one));
    Value all = arith::ConstantOp::create(b, b.getFloatAttr(mix, 1));
    return {toIndex(within(first, zero, edge)),
            toIndex(within(second, zero, edge)), part,
            arith::SubFOp::create(b, all, part)};
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

  /// rest * x + part * y.
  Value between(const Between &place, Value x, Value y) {
    auto all = [&](Value number) {
      return vector::BroadcastOp::create(b, x.getType(), number);
    };
    return arith::AddFOp::create(b,
                                 arith::MulFOp::create(b, all(place.rest), x),
                                 arith::MulFOp::create(b, all(place.part), y));
  }

  void emitLine(const Line &line) {
    Side height = sideOf(0, line.image), width = sideOf(1, line.image);
    Between down = betweenOf(height, 0, line.row);
    auto [from, to] = std::pair(crop.dims[0].elements, crop.dims[1].elements);
    b.forEach(crop.dims[1].places, [&](Value column) {
      Between across = betweenOf(width, 1, column);
      auto pixel = [&](Value row, Value column) {
        return b.pixelOf(line, row, column, from, to, crop.channels);
      };
      Value corners[] = {
          pixel(down.first, across.first), pixel(down.first, across.second),
          pixel(down.second, across.first), pixel(down.second, across.second)};
      Value place = b.pixelOf(line, line.row, column, crop.dims[0].places,
                              crop.dims[1].places, crop.channels);
      b.forVectors(line.count, lanes, [&](Value at, Value mask) {
        Value x[4];
        for (auto [value, corner] : llvm::zip_equal(x, corners))
          value = load(b.add(corner, at), mask);
        Value mixed = between(down, between(across, x[0], x[1]),
                              between(across, x[2], x[3]));
        store(mixed, b.add(place, at), mask);
      });
    });
  }

  const CropResize &crop;
  FloatType mix;
  int64_t lanes;
  PoolBuilder b;
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
  return emitter.builder().launch(
      compiler, kernel, passed, emitter.items().count(), emitter.itemsInTask());
}
