//===- Upsample.cpp - images in another size on the CPU -------------------===//
#include "codegen/cpu/pooling/Upsample.h"
#include "codegen/cpu/pooling/PoolBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {
/// Where a pixel of the result lies: between two pixels of the source, which
/// may be the same, and how far from the first one.
struct Source {
  Value first, second;
  Value part; ///< null if the first is copied
};

class UpsampleEmitter {
public:
  UpsampleEmitter(const Upsample &upsample,
                  ArrayRef<LoopBuilder::Argument> arguments)
      : upsample(upsample), height(upsample.dims[0]), width(upsample.dims[1]),
        sumType(computeType(arguments.front().element)),
        lanes(lanesFor(upsample.channels, bytesOf(sumType), 256)),
        b(sumType.getContext(), arguments, 0) {
    if (upsample.isBackward)
      emitElements();
    else
      emitPlaces();
  }

  PoolBuilder &builder() { return b; }
  LineItems items() const {
    return {upsample.images,
            upsample.isBackward ? height.elements : height.places,
            upsample.channels, lanes};
  }
  int64_t itemsInTask() const {
    int64_t lines =
        upsample.isBackward ? 1 + height.places / height.elements : 1;
    return items().inTask(std::max(width.elements, width.places * lines),
                          bytesOf(sumType));
  }

private:
  using Dim = Upsample::Dim;
  using State = SmallVector<Value>;

  Value elementAt(const Line &line, Value row, Value column) {
    return b.pixelOf(line, row, column, height.elements, width.elements,
                     upsample.channels);
  }
  Value placeAt(const Line &line, Value row, Value column) {
    return b.pixelOf(line, row, column, height.places, width.places,
                     upsample.channels);
  }

  //===--------------------------------------------------------------------===//
  // Where pixels lie
  //===--------------------------------------------------------------------===//

  /// The type in which places are computed, as PyTorch does.
  Type realType() {
    return upsample.isBilinear ? sumType : Type(b.getF32Type());
  }
  Value real(double number) {
    return arith::ConstantOp::create(b, b.getFloatAttr(realType(), number));
  }
  /// from / to in the type of places, rounded once.
  Value ratio(int64_t from, int64_t to) {
    if (realType().isF64())
      return real(double(from) / double(to));
    return real(float(from) / float(to));
  }
  Value toReal(Value index) {
    Value wide = arith::IndexCastOp::create(b, b.getI64Type(), index);
    return arith::SIToFPOp::create(b, realType(), wide);
  }
  /// Towards zero; the number is not negative.
  Value toIndex(Value number) {
    Value wide = arith::FPToSIOp::create(b, b.getI64Type(), number);
    return arith::IndexCastOp::create(b, b.getIndexType(), wide);
  }

  Source sourceOf(const Dim &dim, Value place) {
    if (dim.elements == dim.places)
      return {place, place, {}};
    Value number = toReal(place);
    if (!upsample.isBilinear) {
      Value at =
          arith::MulFOp::create(b, number, ratio(dim.elements, dim.places));
      return {b.min(toIndex(at), dim.elements - 1), {}, {}};
    }
    Value at;
    if (upsample.alignsCorners) {
      Value scale =
          dim.places > 1 ? ratio(dim.elements - 1, dim.places - 1) : real(0);
      at = arith::MulFOp::create(b, number, scale);
    } else {
      Value half = real(0.5);
      Value middle = arith::AddFOp::create(b, number, half);
      at = arith::MulFOp::create(b, middle, ratio(dim.elements, dim.places));
      at = arith::SubFOp::create(b, at, half);
      at = arith::MaximumFOp::create(b, at, real(0));
    }
    Value first = b.min(toIndex(at), dim.elements - 1);
    Value part = arith::SubFOp::create(b, at, toReal(first));
    part = arith::MinimumFOp::create(b, part, real(1));
    return {first, b.min(b.add(first, 1), dim.elements - 1), part};
  }

  /// How much of an element a place has.
  Value weightOf(const Dim &dim, Value place, Value element) {
    Source source = sourceOf(dim, place);
    Value none = real(0);
    auto isIt = [&](Value index) -> Value {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index, element);
    };
    if (!source.part)
      return b.select(isIt(source.first), real(1), none);
    Value rest = arith::SubFOp::create(b, real(1), source.part);
    return arith::AddFOp::create(
        b, b.select(isIt(source.first), rest, none),
        b.select(isIt(source.second), source.part, none));
  }
  Value isZero(Value weight) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, weight, real(0));
  }

  /// The places [first, last) that have a part of an element: estimated in
  /// integers, one too many at each end, and then made smaller.
  std::pair<Value, Value> placesOf(const Dim &dim, Value element) {
    int64_t from = dim.elements, to = dim.places;
    Value low, high;
    if (!upsample.isBilinear) {
      low = b.div(b.mul(element, to), from);
      high = b.divideCeil(b.mul(b.add(element, 1), to), from);
    } else if (upsample.alignsCorners) {
      int64_t steps = std::max<int64_t>(from - 1, 1);
      low = b.div(b.mul(b.largerOf(b.sub(element, b.index(1)), 0), to - 1),
                  steps);
      high = from == 1
                 ? b.index(to)
                 : b.add(b.div(b.mul(b.add(element, 1), to - 1), steps), 1);
    } else {
      Value twice = b.mul(element, 2);
      low = b.div(b.mul(b.largerOf(b.sub(twice, b.index(1)), 0), to), 2 * from);
      high = b.add(b.div(b.mul(b.add(twice, 3), to), 2 * from), 1);
    }
    low = b.largerOf(b.sub(low, b.index(1)), 0);
    high = b.min(b.add(high, 1), to);
    for (int step = 0; step < 2; ++step) {
      Value last = b.sub(high, b.index(1));
      low = b.select(isZero(weightOf(dim, low, element)), b.add(low, 1), low);
      high = b.select(isZero(weightOf(dim, last, element)), last, high);
    }
    return {low, high};
  }

  //===--------------------------------------------------------------------===//
  // Pixels of the result
  //===--------------------------------------------------------------------===//

  Value broadcast(Value number) {
    if (number.getType() != sumType)
      number = arith::ExtFOp::create(b, sumType, number);
    return vector::BroadcastOp::create(b, VectorType::get({lanes}, sumType),
                                       number);
  }
  /// x + part of the way to y, as (1 - part) x + part y.
  Value mix(Value x, Value y, Value part) {
    Value rest = broadcast(arith::SubFOp::create(b, real(1), part));
    return arith::AddFOp::create(b, arith::MulFOp::create(b, rest, x),
                                 arith::MulFOp::create(b, broadcast(part), y));
  }

  void emitPlaces() {
    b.forLines(items(), [&](const Line &line) {
      Source down = sourceOf(height, line.row);
      b.forEach(width.places, [&](Value column) {
        Source across = sourceOf(width, column);
        Value to = placeAt(line, line.row, column);
        b.forVectors(line.count, lanes, [&](Value start, Value mask) {
          auto pixel = [&](Value row, Value at) {
            Value from = b.add(elementAt(line, row, at), start);
            return b.loadAs(sumType, b.argument(0), from, lanes, mask);
          };
          auto row = [&](Value at) {
            Value x = pixel(at, across.first);
            return across.part ? mix(x, pixel(at, across.second), across.part)
                               : x;
          };
          Value value = row(down.first);
          if (down.part)
            value = mix(value, row(down.second), down.part);
          b.storeAs(value, b.argument(1), b.add(to, start), mask);
        });
      });
    });
  }

  void emitElements() {
    b.forLines(items(), [&](const Line &line) {
      auto down = placesOf(height, line.row);
      b.forEach(width.elements, [&](Value column) {
        auto across = placesOf(width, column);
        Value to = elementAt(line, line.row, column);
        b.forVectors(line.count, lanes, [&](Value start, Value mask) {
          auto part = [&](Value row, Value place, Value rowWeight) {
            Value weight = arith::MulFOp::create(
                b, rowWeight, weightOf(width, place, column));
            Value from = b.add(placeAt(line, row, place), start);
            Value x = b.loadAs(sumType, b.argument(0), from, lanes, mask);
            Value product = arith::MulFOp::create(b, broadcast(weight), x);
            // What has no part adds nothing, whatever it is.
            return b.select(isZero(weight), b.zero(sumType, lanes), product);
          };
          Value none = b.zero(sumType, lanes);
          State sum =
              b.fold(down.first, down.second, none,
                     [&](Value row, ValueRange before) -> State {
                       Value weight = weightOf(height, row, line.row);
                       return b.fold(
                           across.first, across.second, before,
                           [&](Value place, ValueRange sums) -> State {
                             return {b.sum(sums[0], part(row, place, weight))};
                           });
                     });
          b.storeAs(sum[0], b.argument(1), b.add(to, start), mask);
        });
      });
    });
  }

  const Upsample &upsample;
  Dim height, width;
  Type sumType;
  int64_t lanes;
  PoolBuilder b;
};
} // namespace

LogicalResult mp::cpu::emitUpsample(const Upsample &upsample,
                                    const LayoutTensor &source,
                                    const LayoutTensor &result,
                                    ObjectCompiler &compiler,
                                    EmittedKernel &kernel) {
  if (result.count() == 0)
    return success();
  UpsampleEmitter emitter(upsample, {{source.element(), source.count()},
                                     {result.element(), result.count()}});
  return emitter.builder().launch(
      compiler, kernel, {source.argument, result.argument},
      emitter.items().count(), emitter.itemsInTask());
}
