//===- AttentionBuilder.cpp - what both passes of attention share ---------===//
#include "codegen/cpu/attention/AttentionBuilder.h"
#include "codegen/cpu/MatrixTiles.h"
#include "passes/kernels/MathExpansion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

/// Pairs of bf16 are multiplied where dot products are faster than widening;
/// tile registers are not used.
ProductKind::ProductKind(Type element, const Target &target)
    : accumulator(computeType(element)), factor(accumulator),
      fused(target.has("fma")), inTerm(1) {
  if (!element.isBF16() || tileUnitOf(target) != TileUnit::DotProducts)
    return;
  factor = IntegerType::get(element.getContext(), 16);
  inTerm = 2;
}

AttentionBuilder::AttentionBuilder(const AttentionShape &shape,
                                   const ProductKind &kind, int64_t lanes,
                                   const ArgumentList &arguments,
                                   const MaskPlaces &places,
                                   int64_t scratchBytes)
    : LayoutBuilder(kind.accumulator.getContext(), arguments.types,
                    scratchBytes),
      shape(shape), kind(kind), accumulator(kind.accumulator), lanes(lanes),
      places(places) {}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

AttentionBuilder::Heads AttentionBuilder::headsOf(unsigned argument_,
                                                  int64_t tokens, int64_t heads,
                                                  int64_t depth, Value batch,
                                                  Value head) {
  Value at = add(mul(batch, tokens * heads * depth), mul(head, depth));
  return {argument(argument_), heads, depth, at};
}

Value AttentionBuilder::bitsOf(Value vector) {
  auto type = cast<VectorType>(vector.getType());
  return arith::BitcastOp::create(*this, type.clone(getI16Type()), vector);
}

Value AttentionBuilder::loadPiece(const Heads &heads, Value token, int64_t v,
                                  Type element) {
  int64_t left = heads.depth - v;
  if (left <= 0)
    return zero(element, lanes);
  Value mask = left < lanes ? firstLanes(left, lanes) : Value();
  Value at = add(add(heads.at, mul(token, heads.pitch())), v);
  if (element.isInteger())
    return bitsOf(load(heads.memory, at, lanes, mask));
  return loadAs(element, heads.memory, at, lanes, mask);
}

void AttentionBuilder::pack(const Heads &heads, const Bounds &tokens,
                            const Rows &to, int64_t rowMultiple) {
  Type element = to.memory.element;
  auto storeRow = [&](Value row, function_ref<Value(int64_t)> piece) {
    Value at = add(to.at, mul(row, to.row));
    for (int64_t v = 0; v < to.row; v += lanes)
      store(piece(v), to.memory, add(at, v));
  };
  forEach(tokens.first, tokens.second, 1, [&](Value token) {
    storeRow(sub(token, tokens.first),
             [&](int64_t v) { return loadPiece(heads, token, v, element); });
  });
  if (rowMultiple == 1)
    return;
  Value count = sub(tokens.second, tokens.first);
  Value zeros = zero(element, lanes);
  forEach(count, mul(divideUp(count, rowMultiple), rowMultiple), 1,
          [&](Value row) { storeRow(row, [&](int64_t) { return zeros; }); });
}

void AttentionBuilder::packTerms(const Heads &heads, const Bounds &tokens,
                                 const Rows &to) {
  if (kind.inTerm == 1)
    return pack(heads, tokens, to);
  Type element = to.memory.element;
  auto storePairs = [&](Value token, function_ref<Value(int64_t)> second) {
    Value at = add(to.at, mul(div(sub(token, tokens.first), 2), 2 * to.row));
    for (int64_t v = 0; v < to.row; v += lanes) {
      Value first = loadPiece(heads, token, v, element);
      store(interleave(*this, first, second(v)), to.memory, add(at, 2 * v));
    }
  };
  Value count = sub(tokens.second, tokens.first);
  Value whole = add(tokens.first, mul(div(count, 2), 2));
  forEach(tokens.first, whole, 2, [&](Value token) {
    storePairs(token, [&](int64_t v) {
      return loadPiece(heads, add(token, 1), v, element);
    });
  });
  forEach(whole, tokens.second, 1, [&](Value token) {
    storePairs(token, [&](int64_t) { return zero(element, lanes); });
  });
}

/// Transposes as many tokens as there are lanes, `from` in their heads.
void AttentionBuilder::packTransposedLines(const Heads &heads,
                                           ArrayRef<Value> from, Value to,
                                           const Panels &panels) {
  auto square = [&](Value p, int64_t rows) {
    Value mask = rows < lanes ? firstLanes(rows, lanes) : Value();
    SmallVector<Value> lines = llvm::map_to_vector(from, [&](Value at) {
      return loadAs(accumulator, heads.memory, add(at, p), lanes, mask);
    });
    transposeSquare(lines);
    for (int64_t row = 0; row < rows; ++row)
      store(lines[row], panels.memory, add(to, mul(add(p, row), panels.row)));
  };
  int64_t rest = heads.depth % lanes;
  forEach(index(0), index(heads.depth - rest), lanes,
          [&](Value p) { square(p, lanes); });
  if (rest)
    square(index(heads.depth - rest), rest);
}

/// The same for pairs of elements.
void AttentionBuilder::packTransposedPairs(const Heads &heads,
                                           ArrayRef<Value> from, Value to,
                                           const Panels &panels) {
  auto square = [&](Value p, int64_t elements) {
    Value mask =
        elements < 2 * lanes ? firstLanes(elements, 2 * lanes) : Value();
    SmallVector<Value> lines = llvm::map_to_vector(from, [&](Value at) {
      return bitsOf(load(heads.memory, add(at, p), 2 * lanes, mask));
    });
    transposePairs(*this, lines);
    Value term = div(p, 2);
    for (int64_t row = 0; 2 * row < elements; ++row)
      store(lines[row], panels.memory,
            add(to, mul(add(term, row), panels.row)));
  };
  int64_t rest = heads.depth % (2 * lanes);
  forEach(index(0), index(heads.depth - rest), 2 * lanes,
          [&](Value p) { square(p, 2 * lanes); });
  if (rest)
    square(index(heads.depth - rest), rest);
}

void AttentionBuilder::packTransposed(const Heads &heads, const Bounds &tokens,
                                      const Panels &to, const TileShape &tile) {
  int64_t columns = tile.panelColumns();
  Value last = sub(tokens.second, index(1));
  Value count = sub(tokens.second, tokens.first);
  forEach(index(0), divideUp(count, columns), 1, [&](Value panel) {
    Value first = add(tokens.first, mul(panel, columns));
    Value toPanel = add(to.at, mul(panel, to.panel));
    for (int64_t v = 0; v < columns; v += lanes) {
      SmallVector<Value> from;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Value token = minSigned(add(first, v + lane), last);
        from.push_back(add(heads.at, mul(token, heads.pitch())));
      }
      if (kind.inTerm == 2)
        packTransposedPairs(heads, from, add(toPanel, 2 * v), to);
      else
        packTransposedLines(heads, from, add(toPanel, v), to);
    }
  });
}

void AttentionBuilder::unpack(const Rows &from, const Heads &heads,
                              const Bounds &tokens) {
  forEach(tokens.first, tokens.second, 1, [&](Value token) {
    Value row = add(from.at, mul(sub(token, tokens.first), from.row));
    Value to = add(heads.at, mul(token, heads.pitch()));
    for (int64_t v = 0; v < heads.depth; v += lanes) {
      int64_t left = heads.depth - v;
      Value mask = left < lanes ? firstLanes(left, lanes) : Value();
      storeAs(load(from.memory, add(row, v), lanes), heads.memory, add(to, v),
              mask);
    }
  });
}

Value AttentionBuilder::rounded(Value vector, const FlatMemory &memory) {
  if (memory.element == accumulator)
    return vector;
  auto type = VectorType::get({lanes}, getBF16Type());
  return bitsOf(arith::TruncFOp::create(*this, type, vector));
}

void AttentionBuilder::clear(const FlatMemory &memory, Value at, Value count) {
  forEach(index(0), count, lanes, [&](Value place) {
    store(zero(memory.element, lanes), memory, add(at, place));
  });
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

void AttentionBuilder::setHead(Value batch, Value head) {
  keyCount = index(shape.keys);
  if (places.lengths) {
    Value count = loadIndex(argument(*places.lengths), batch);
    keyCount = maxSigned(minSigned(count, keyCount), 0);
  }
  if (places.mask)
    maskAt = add(mul(batch, (*shape.mask)[0]), mul(head, (*shape.mask)[1]));
  if (places.slopes) {
    Value number = loadAs(accumulator, argument(*places.slopes), head, 1);
    slope = splat(firstLane(number));
  }
}

Bounds AttentionBuilder::keysOf(Value first, Value last) {
  Value begin = index(0), end = keyCount;
  if (auto back = shape.reachBack())
    begin = maxSigned(add(first, shape.offset - *back), begin);
  if (auto ahead = shape.reachAhead())
    end = minSigned(add(last, shape.offset + *ahead), end);
  end = maxSigned(end, 0);
  return {minSigned(begin, end), end};
}

Bounds AttentionBuilder::queriesOf(Value first, Value last) {
  Value begin = index(0), end = index(shape.tokens);
  if (auto ahead = shape.reachAhead())
    begin = maxSigned(add(first, -shape.offset - *ahead), begin);
  if (auto back = shape.reachBack())
    end = minSigned(add(last, *back - shape.offset), end);
  end = maxSigned(end, 0);
  return {minSigned(begin, end), end};
}

Value AttentionBuilder::isWithin(const Bounds &part, const Bounds &whole) {
  auto isAtMost = [&](Value x, Value y) {
    return arith::CmpIOp::create(*this, arith::CmpIPredicate::sle, x, y);
  };
  return arith::AndIOp::create(*this, isAtMost(whole.first, part.first),
                               isAtMost(part.second, whole.second));
}

Value AttentionBuilder::lanesIn(const Bounds &range, Value at) {
  SmallVector<int32_t> numbers(lanes);
  std::iota(numbers.begin(), numbers.end(), 0);
  Value iota = arith::ConstantOp::create(*this, getI32VectorAttr(numbers));
  auto distance = [&](Value to) {
    Value number = arith::IndexCastOp::create(*this, getI32Type(), sub(to, at));
    return vector::BroadcastOp::create(*this, iota.getType(), number);
  };
  Value inside = arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, iota,
                                       distance(range.second));
  Value after = arith::CmpIOp::create(*this, arith::CmpIPredicate::sge, iota,
                                      distance(range.first));
  return arith::AndIOp::create(*this, inside, after);
}

Value AttentionBuilder::loadMask(const Scores &which, Value mask) {
  const auto &strides = *shape.mask;
  const FlatMemory &memory = argument(*places.mask);
  Value at = add(maskAt,
                 add(mul(which.query, strides[2]), mul(which.key, strides[3])));
  int64_t stride = strides[which.lanesAreQueries ? 2 : 3];
  if (stride == 0)
    return vector::BroadcastOp::create(*this,
                                       VectorType::get({lanes}, memory.element),
                                       loadScalar(memory, at));
  if (stride == 1)
    return load(memory, at, lanes, mask);
  Value vector = zero(memory.element, lanes);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value place = add(at, lane * stride);
    // Lanes that are masked off may lie past the end, even the first.
    if (mask) {
      Value isIn = vector::ExtractOp::create(*this, mask, lane);
      place = select(isIn, place, maskAt);
    }
    vector = vector::InsertOp::create(*this, loadScalar(memory, place), vector,
                                      lane);
  }
  return vector;
}

Value AttentionBuilder::addSlopes(Value scores, const Scores &which) {
  SmallVector<int32_t> numbers(lanes);
  std::iota(numbers.begin(), numbers.end(), 0);
  Value iota = arith::ConstantOp::create(*this, getI32VectorAttr(numbers));
  Value first = arith::IndexCastOp::create(
      *this, getI32Type(), sub(add(which.query, shape.offset), which.key));
  Value start = vector::BroadcastOp::create(*this, iota.getType(), first);
  Value distance = which.lanesAreQueries
                       ? Value(arith::AddIOp::create(*this, start, iota))
                       : Value(arith::SubIOp::create(*this, start, iota));
  Value number = arith::SIToFPOp::create(
      *this, VectorType::get({lanes}, accumulator), distance);
  number = math::AbsFOp::create(*this, number);
  return arith::SubFOp::create(*this, scores,
                               arith::MulFOp::create(*this, slope, number));
}

Value AttentionBuilder::change(Value scores, const Scores &which, Value mask) {
  if (places.slopes)
    scores = addSlopes(scores, which);
  if (!places.mask)
    return scores;
  Value loaded = loadMask(which, mask);
  auto type = cast<VectorType>(loaded.getType());
  if (type.getElementType().isInteger(1))
    return select(loaded, scores,
                  constant(-std::numeric_limits<double>::infinity()));
  if (type.getElementType() != accumulator) {
    VectorType wanted = type.clone(accumulator);
    bool isWider =
        type.getElementTypeBitWidth() > wanted.getElementTypeBitWidth();
    loaded = isWider ? Value(arith::TruncFOp::create(*this, wanted, loaded))
                     : Value(arith::ExtFOp::create(*this, wanted, loaded));
  }
  return sum(scores, loaded);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value AttentionBuilder::constant(double value) {
  auto type = VectorType::get({lanes}, accumulator);
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(type, getFloatAttr(accumulator, value)));
}
Value AttentionBuilder::splat(Value scalar) {
  return vector::BroadcastOp::create(
      *this, VectorType::get({lanes}, scalar.getType()), scalar);
}
Value AttentionBuilder::firstLane(Value vector) {
  return vector::ExtractOp::create(*this, vector, 0);
}

Value AttentionBuilder::reduceLanes(Value x,
                                    function_ref<Value(Value, Value)> combine) {
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane)
      order.push_back(lane ^ distance);
    x = combine(x, vector::ShuffleOp::create(*this, x, x, order));
  }
  return x;
}
Value AttentionBuilder::larger(Value x, Value y) {
  Value isLarger =
      arith::CmpFOp::create(*this, arith::CmpFPredicate::OGT, y, x);
  return select(isLarger, y, x);
}
Value AttentionBuilder::maxOfLanes(Value x) {
  return reduceLanes(x, [&](Value x, Value y) { return larger(x, y); });
}
Value AttentionBuilder::sumOfLanes(Value x) {
  return reduceLanes(x, [&](Value x, Value y) { return sum(x, y); });
}
Value AttentionBuilder::minSigned(Value x, Value y) {
  return createOrFold<arith::MinSIOp>(x, y);
}
Value AttentionBuilder::maxSigned(Value x, Value y) {
  return createOrFold<arith::MaxSIOp>(x, y);
}

LogicalResult AttentionBuilder::launchAttention(ObjectCompiler &compiler,
                                                EmittedKernel &kernel,
                                                const ArgumentList &arguments,
                                                int64_t items,
                                                int64_t scratchBytes,
                                                uint64_t flops) {
  OwningOpRef<ModuleOp> module = take();
  expandMath(*module);
  FailureOr<std::string> symbol = compiler.compile(std::move(module));
  if (failed(symbol))
    return failure();
  KernelLaunch launch;
  launch.symbol = std::move(*symbol);
  launch.grid = items;
  launch.shared = scratchBytes;
  launch.arguments = arguments.passed;
  launch.flops = flops;
  kernel.launches.push_back(std::move(launch));
  return success();
}
