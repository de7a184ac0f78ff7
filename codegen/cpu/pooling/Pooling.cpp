//===- Pooling.cpp - pools on the CPU -------------------------------------===//
#include "codegen/cpu/pooling/Pooling.h"
#include "codegen/cpu/pooling/PoolBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {
/// Windows of at most so many taps in a row are unrolled.
constexpr int64_t kMostUnrolled = 8;

class PoolEmitter {
public:
  PoolEmitter(const Pool &pool, ArrayRef<LoopBuilder::Argument> arguments)
      : pool(pool), height(pool.dims[0]), width(pool.dims[1]),
        sumType(computeType(arguments.front().element)),
        lanes(lanesFor(pool.channels, bytesOf(sumType), 256)),
        b(sumType.getContext(), arguments, 0), result(arguments.size() - 1) {
    if (pool.isBackward())
      emitElements();
    else
      emitPlaces();
  }

  PoolBuilder &builder() { return b; }
  LineItems items() const {
    return {pool.images, pool.isBackward() ? height.elements : height.places,
            pool.channels, lanes};
  }
  int64_t itemsInTask() const {
    // The longer of the lines that an item reads and writes.
    int64_t lines = pool.isBackward() ? height.covers() : height.taps();
    return items().inTask(std::max(width.elements * lines, width.places),
                          bytesOf(sumType));
  }

private:
  using State = SmallVector<Value>;

  /// Where a place or an element has its first channel.
  Value placeAt(const Line &line, Value row, Value column) {
    return b.pixelOf(line, row, column, height.places, width.places,
                     pool.channels);
  }
  Value elementAt(const Line &line, Value row, Value column) {
    return b.pixelOf(line, row, column, height.elements, width.elements,
                     pool.channels);
  }

  //===--------------------------------------------------------------------===//
  // Places from their elements
  //===--------------------------------------------------------------------===//

  /// A place that is being computed: where its elements are.
  struct Place {
    Line line;
    Taps down, across;
    bool isInside; ///< all taps of its width are elements
  };

  void emitPlaces() {
    b.forLines(items(), [&](const Line &line) {
      Value row = line.row;
      Taps down = b.tapsOf(height, row);
      auto emit = [&](int64_t from, int64_t to, bool isInside) {
        if (from >= to)
          return;
        b.forEach(b.index(from), b.index(to), 1, [&](Value column) {
          Place place{line, down, b.tapsOf(width, column), isInside};
          Value at = placeAt(line, row, column);
          b.forVectors(line.count, lanes, [&](Value start, Value mask) {
            Value divisor;
            if (pool.loop == Pool::Loop::Mean)
              divisor = divisorOf(row, column);
            State state = emitPlace(place, b.add(at, start), start, mask);
            Value value =
                divisor ? Value(arith::DivFOp::create(b, state[0], divisor))
                        : state.back();
            b.storeAs(value, b.argument(result), b.add(at, start), mask);
          });
        });
      };
      auto [first, last] = insideOf(width);
      emit(0, first, false);
      emit(first, last, true);
      emit(last, width.places, false);
    });
  }

  /// The places whose taps are all elements, if they are worth unrolling.
  static std::pair<int64_t, int64_t> insideOf(const PoolDim &dim) {
    const WindowDim &window = dim.window;
    int64_t room = dim.elements + window.low - window.span();
    if (dim.isAdaptive || window.size > kMostUnrolled || room < 0)
      return {0, 0};
    int64_t first = llvm::divideCeil(window.low, window.stride);
    int64_t last = std::min(room / window.stride + 1, dim.places);
    return first < last ? std::pair(first, last)
                        : std::pair<int64_t, int64_t>();
  }

  Value divisorOf(Value row, Value column) {
    if (int64_t all = pool.countedByAll())
      return b.splat(double(all), sumType, lanes);
    Value rows = b.countOf(height, row, pool.countsPadding),
          columns = b.countOf(width, column, pool.countsPadding);
    return b.splat(b.times(rows, columns), sumType, lanes);
  }

  Value numberOf(Value down, Value across) {
    return b.add(b.mul(down, width.taps()), across);
  }

  /// What a place is before its first tap: a value, and for an index a number.
  State initial(const Place &place) {
    if (pool.loop == Pool::Loop::Mean || pool.loop == Pool::Loop::At)
      return {b.zero(sumType, lanes)};
    State state{
        b.splat(-std::numeric_limits<double>::infinity(), sumType, lanes)};
    if (pool.loop == Pool::Loop::Index)
      state.push_back(b.splat(numberOf(place.down.first, place.across.first),
                              b.getI32Type(), lanes));
    return state;
  }

  State emitPlace(const Place &place, Value at, Value start, Value mask) {
    Value index;
    if (pool.takesIndex())
      index = b.loadAs(b.getI32Type(), b.argument(1), at, lanes, mask);
    return b.fold(
        place.down.first, place.down.last, initial(place),
        [&](Value down, ValueRange before) -> State {
          Value row = b.elementOf(height, place.down, down);
          auto tap = [&](Value across, ValueRange state) {
            Value column = b.elementOf(width, place.across, across);
            Value from = elementAt(place.line, row, column);
            Value x = b.loadAs(sumType, b.argument(0), b.add(from, start),
                               lanes, mask);
            Value number;
            if (pool.numbersTaps())
              number = b.splat(numberOf(down, across), b.getI32Type(), lanes);
            return combine(state, x, number, index);
          };
          if (!place.isInside)
            return b.fold(place.across.first, place.across.last, before, tap);
          State state(before);
          for (int64_t across = 0; across < width.window.size; ++across)
            state = tap(b.index(across), state);
          return state;
        });
  }

  State combine(ValueRange state, Value x, Value number, Value index) {
    if (pool.loop == Pool::Loop::Mean)
      return {b.sum(state[0], x)};
    if (pool.loop == Pool::Loop::At) {
      Value isIt =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index, number);
      return {b.select(isIt, x, state[0])};
    }
    // A NaN replaces anything, and only a NaN replaces it.
    Value isLarger =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, state[0]);
    Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
    Value wins = arith::OrIOp::create(b, isLarger, isNaN);
    State next{b.select(wins, x, state[0])};
    if (pool.loop == Pool::Loop::Index)
      next.push_back(b.select(wins, number, state[1]));
    return next;
  }

  //===--------------------------------------------------------------------===//
  // Gradients of elements from their places
  //===--------------------------------------------------------------------===//

  void emitElements() {
    b.forLines(items(), [&](const Line &line) {
      Value row = line.row;
      auto down = b.placesOf(height, row);
      b.forEach(width.elements, [&](Value column) {
        auto across = b.placesOf(width, column);
        Value to = elementAt(line, row, column);
        b.forVectors(line.count, lanes, [&](Value start, Value mask) {
          Value none = b.zero(sumType, lanes);
          Value sum =
              b.fold(down.first, down.second, none,
                     [&](Value placeRow, ValueRange before) -> State {
                       return b.fold(
                           across.first, across.second, before,
                           [&](Value placeColumn, ValueRange state) -> State {
                             Value at = placeAt(line, placeRow, placeColumn);
                             Value number =
                                 tapNumber(row, column, placeRow, placeColumn);
                             return {
                                 b.sum(state[0],
                                       partOf(b.add(at, start), number,
                                              placeRow, placeColumn, mask))};
                           });
                     })
                  .front();
          if (int64_t all = pool.countedByAll();
              all && pool.loop == Pool::Loop::MeanBack)
            sum = arith::DivFOp::create(b, sum,
                                        b.splat(double(all), sumType, lanes));
          b.storeAs(sum, b.argument(result), b.add(to, start), mask);
        });
      });
    });
  }

  /// The number of an element in a place, in all lanes; -1 if it is no tap.
  Value tapNumber(Value row, Value column, Value placeRow, Value placeColumn) {
    if (pool.loop != Pool::Loop::MaxBack)
      return {};
    Value down = b.tapOf(height, row, placeRow),
          across = b.tapOf(width, column, placeColumn);
    Value number = numberOf(down, across);
    Value none = b.index(-1);
    if (height.window.dilation > 1)
      number = b.select(b.isNegative(down), none, number);
    if (width.window.dilation > 1)
      number = b.select(b.isNegative(across), none, number);
    return b.splat(number, b.getI32Type(), lanes);
  }

  /// What an element gets of the gradient of a place.
  Value partOf(Value at, Value number, Value row, Value column, Value mask) {
    Value gradient = b.loadAs(sumType, b.argument(0), at, lanes, mask);
    if (pool.loop == Pool::Loop::MeanBack)
      return pool.countedByAll() ? gradient
                                 : Value(arith::DivFOp::create(
                                       b, gradient, divisorOf(row, column)));
    Value index = b.loadAs(b.getI32Type(), b.argument(1), at, lanes, mask);
    Value isIt =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index, number);
    return b.select(isIt, gradient, b.zero(sumType, lanes));
  }

  const Pool &pool;
  PoolDim height, width;
  Type sumType;
  int64_t lanes;
  PoolBuilder b;
  unsigned result; ///< its argument
};
} // namespace

LogicalResult mp::cpu::emitPool(const Pool &pool, const LayoutTensor &source,
                                std::optional<LayoutTensor> index,
                                const LayoutTensor &result,
                                ObjectCompiler &compiler,
                                EmittedKernel &kernel) {
  if (result.count() == 0)
    return success();
  SmallVector<LoopBuilder::Argument> arguments{
      {source.element(), source.count()}};
  SmallVector<KernelArgument> passed{source.argument};
  if (index) {
    arguments.push_back({index->element(), index->count()});
    passed.push_back(index->argument);
  }
  arguments.push_back({result.element(), result.count()});
  passed.push_back(result.argument);
  PoolEmitter emitter(pool, arguments);
  return emitter.builder().launch(
      compiler, kernel, passed, emitter.items().count(), emitter.itemsInTask());
}
