//===- Attention.cpp - the forward pass of attention on the CPU -----------===//
#include "codegen/cpu/attention/Attention.h"
#include "codegen/cpu/attention/AttentionBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {

/// How the scores of a head are cut up. All of it follows from the shape and
/// the target, but for the queries of an item, which change no bit.
struct ForwardPlan {
  ForwardPlan(const AttentionShape &shape, Type accumulator,
              const Target &target, unsigned workers);

  Type accumulator;
  bool fused;
  TileShape keys, width;        ///< of scores by keys, of the result by width
  int64_t queryBlock, keyBlock; ///< of scores in scratch
  int64_t chunk, chunks;        ///< queries of an item, and items of a head
  int64_t depthPitch;           ///< of packed queries
  int64_t rows;                 ///< of blocks, with those that fill a tile
  int64_t query, key, value, scores, sums, largest, total, scratch; ///< bytes

  int64_t lanes() const { return keys.lanes; }
  int64_t widthPitch(const AttentionShape &shape) const {
    return width.padded(shape.width);
  }
};

ForwardPlan::ForwardPlan(const AttentionShape &shape, Type accumulator,
                         const Target &target, unsigned workers)
    : accumulator(accumulator), fused(target.has("fma")) {
  int64_t bytes = accumulator.getIntOrFloatBitWidth() / 8;
  keys = TileShape::of(target, shape.keys, bytes);
  width = TileShape::of(target, shape.width, bytes);
  // Few queries at a time, where each looks at other keys.
  queryBlock = std::min<int64_t>(shape.reachAhead() ? 48 : 96, shape.tokens);
  keyBlock = std::min(6 * keys.panelColumns(), keys.padded(shape.keys));
  // Each item packs all keys of its head.
  int64_t wanted =
      llvm::divideCeilSigned(2 * workers, shape.batch * shape.heads);
  chunk =
      llvm::alignTo(llvm::divideCeilSigned(shape.tokens, wanted), queryBlock);
  chunks = llvm::divideCeilSigned(shape.tokens, chunk);
  depthPitch = llvm::alignTo(shape.depth, lanes());
  rows = llvm::alignTo(queryBlock, 48);

  ScratchSizes sizes;
  query = sizes.take(rows * depthPitch, bytes);
  key = sizes.take(keys.padded(shape.keys) * shape.depth, bytes);
  value = sizes.take(shape.keys * widthPitch(shape), bytes);
  scores = sizes.take(rows * keyBlock, bytes);
  sums = sizes.take(rows * widthPitch(shape), bytes);
  largest = sizes.take(rows, bytes);
  total = sizes.take(rows, bytes);
  scratch = sizes.total;
}

struct ForwardArguments : ArgumentList {
  explicit ForwardArguments(const AttentionTensors &tensors)
      : query(add(tensors.query)), key(add(tensors.key)),
        value(add(tensors.value)), masks(*this, tensors.masks),
        result(add(tensors.result)), logSumExp(add(tensors.logSumExp)) {}

  unsigned query, key, value;
  MaskPlaces masks;
  std::optional<unsigned> result, logSumExp;
};

class ForwardCode {
public:
  ForwardCode(const AttentionShape &shape, const ForwardPlan &plan,
              const ForwardArguments &arguments)
      : shape(shape), plan(plan), arguments(arguments),
        b(shape, plan.accumulator, plan.lanes(), arguments, arguments.masks,
          plan.scratch) {
    int64_t bytes = plan.accumulator.getIntOrFloatBitWidth() / 8;
    auto piece = [&](int64_t from, int64_t to) {
      return b.scratch(plan.accumulator, from, (to - from) / bytes);
    };
    query = piece(plan.query, plan.key);
    key = piece(plan.key, plan.value);
    value = piece(plan.value, plan.scores);
    scores = piece(plan.scores, plan.sums);
    sums = piece(plan.sums, plan.largest);
    largest = piece(plan.largest, plan.total);
    total = piece(plan.total, plan.scratch);
    b.forEach(b.begin(), b.end(), 1, [&](Value item) { emitItem(item); });
  }
  AttentionBuilder &builder() { return b; }

private:
  int64_t widthPitch() const { return plan.widthPitch(shape); }
  int64_t panelPitch() const { return shape.depth * plan.keys.panelColumns(); }

  void emitItem(Value item) {
    Value chunk = b.rem(item, plan.chunks), rest = b.div(item, plan.chunks);
    head = b.rem(rest, shape.heads);
    batch = b.div(rest, shape.heads);
    b.setHead(batch, head);
    Value first = b.mul(chunk, plan.chunk);
    Value last = b.min(b.add(first, plan.chunk), shape.tokens);
    packKeys(b.keysOf(first, last));
    b.forEach(first, last, plan.queryBlock, [&](Value block) {
      emitBlock(block, b.minSigned(b.add(block, plan.queryBlock), last));
    });
  }

  /// The first key of the panel that a key is in.
  Value panelStart(Value keyIndex) {
    int64_t columns = plan.keys.panelColumns();
    return b.mul(b.div(keyIndex, columns), columns);
  }

  void packKeys(const Bounds &range) {
    Value group = b.div(head, shape.headsInGroup());
    Bounds panels{panelStart(range.first), range.second};
    auto keyHeads = b.headsOf(arguments.key, shape.keys, shape.groups,
                              shape.depth, batch, group);
    Value firstPanel = b.div(panels.first, plan.keys.panelColumns());
    b.packTransposed(keyHeads, panels,
                     {key, b.mul(firstPanel, panelPitch()), panelPitch(),
                      plan.keys.panelColumns()},
                     plan.keys);
    b.pack(b.headsOf(arguments.value, shape.keys, shape.groups, shape.width,
                     batch, group),
           panels, {value, b.mul(panels.first, widthPitch()), widthPitch()});
  }

  /// Computes queries [first, last).
  void emitBlock(Value first, Value last) {
    Value rows = b.sub(last, first);
    b.pack(b.headsOf(arguments.query, shape.tokens, shape.heads, shape.depth,
                     batch, head),
           {first, last}, {query, b.index(0), plan.depthPitch}, shape.scale,
           plan.keys.rows);
    b.clear(sums, b.index(0), b.index(plan.rows * widthPitch()));
    b.clear(total, b.index(0), b.index(plan.rows));
    b.forEach(b.index(0), rows, 1, [&](Value row) {
      b.storeScalar(b.firstLane(lowest()), largest, row);
    });
    auto [begin, end] = b.keysOf(first, last);
    b.forEach(panelStart(begin), end, plan.keyBlock, [&](Value from) {
      Value count = b.minSigned(b.sub(end, from), plan.keyBlock);
      addKeys(first, rows, from, count);
    });
    finish(first, rows);
  }
  Value lowest() {
    return b.constant(-std::numeric_limits<double>::infinity());
  }

  /// Adds keys [from, from + count) to the sums of a block of queries.
  void addKeys(Value first, Value rows, Value from, Value count) {
    int64_t columns = plan.keys.panelColumns();
    Value panels = b.divideUp(count, columns);
    TileProduct{.tile = plan.keys,
                .a = {query, b.index(0), plan.depthPitch},
                .b = {key, b.mul(b.div(from, columns), panelPitch()),
                      panelPitch(), columns},
                .c = {scores, b.index(0), plan.keyBlock},
                .rows = rows,
                .depth = b.index(shape.depth),
                .panels = panels,
                .fused = plan.fused}
        .emit(b);
    b.forEach(b.index(0), rows, 1, [&](Value row) {
      weighRow(b.add(first, row), row, from, b.mul(panels, columns));
    });
    TileProduct{.tile = plan.width,
                .a = {scores, b.index(0), plan.keyBlock},
                .b = {value, b.mul(from, widthPitch()),
                      plan.width.panelColumns(), widthPitch()},
                .c = {sums, b.index(0), widthPitch()},
                .rows = rows,
                .depth = count,
                .panels = b.index(plan.width.panels(shape.width)),
                .adds = true,
                .fused = plan.fused}
        .emit(b);
  }

  /// Whether a block may hold keys that a query does not look at.
  bool hasOthers() const {
    return shape.reachAhead() || arguments.masks.lengths ||
           shape.keys % plan.keys.panelColumns();
  }

  /// Makes weights of a row of scores, from key `from` on, and multiplies the
  /// sums so far by what the largest score has changed.
  void weighRow(Value queryIndex, Value row, Value from, Value columns) {
    Bounds range = b.keysOf(queryIndex, b.add(queryIndex, 1));
    Value begin = b.mul(row, plan.keyBlock);
    auto allowed = [&](Value at) {
      return hasOthers() ? b.lanesIn(range, b.add(from, at)) : Value();
    };
    auto pieces = [&](Value start, function_ref<Value(Value, Value)> body) {
      auto loop = [&](Value at, ValueRange before) -> SmallVector<Value> {
        return {body(b.mul(at, b.lanes), before[0])};
      };
      return b.fold(b.index(0), b.div(columns, b.lanes), start, loop)[0];
    };
    Value before = b.splat(b.loadScalar(largest, row));
    Value most = pieces(before, [&](Value at, Value most) {
      Value x = b.load(scores, b.add(begin, at), b.lanes);
      Value isIn = allowed(at);
      if (b.changesScores()) {
        x = b.change(x, {queryIndex, b.add(from, at), false}, isIn);
        b.store(x, scores, b.add(begin, at));
      }
      return b.larger(most, isIn ? b.select(isIn, x, most) : x);
    });
    most = b.maxOfLanes(most);
    b.storeScalar(b.firstLane(most), largest, row);
    // Of no key at all, the largest is -inf.
    Value none =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, most, lowest());
    Value zero = b.constant(0);
    Value shift = b.select(none, zero, most);
    auto exponential = [&](Value x) -> Value {
      return math::ExpOp::create(b, arith::SubFOp::create(b, x, shift));
    };
    Value factor = exponential(before);
    Value sum = pieces(zero, [&](Value at, Value sum) {
      Value weight = exponential(b.load(scores, b.add(begin, at), b.lanes));
      if (Value isIn = allowed(at))
        weight = b.select(isIn, weight, zero);
      b.store(weight, scores, b.add(begin, at));
      return b.sum(sum, weight);
    });
    rescale(row, factor, b.sumOfLanes(sum));
  }

  void rescale(Value row, Value factor, Value sum) {
    Value before = b.splat(b.loadScalar(total, row));
    Value scaled = arith::MulFOp::create(b, before, factor);
    b.storeScalar(b.firstLane(b.sum(scaled, sum)), total, row);
    Value at = b.mul(row, widthPitch());
    for (int64_t v = 0; v < widthPitch(); v += b.lanes) {
      Value place = b.add(at, v);
      Value x = b.load(sums, place, b.lanes);
      b.store(arith::MulFOp::create(b, x, factor), sums, place);
    }
  }

  /// Divides by the totals and stores the results of queries from `first` on.
  void finish(Value first, Value rows) {
    Value zero = b.constant(0);
    b.forEach(b.index(0), rows, 1, [&](Value row) {
      Value sum = b.splat(b.loadScalar(total, row));
      Value none =
          arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, zero);
      Value divisor = b.select(none, b.constant(1), sum);
      Value at = b.mul(row, widthPitch());
      for (int64_t v = 0; v < widthPitch(); v += b.lanes) {
        Value place = b.add(at, v);
        Value x = b.load(sums, place, b.lanes);
        b.store(arith::DivFOp::create(b, x, divisor), sums, place);
      }
      if (!arguments.logSumExp)
        return;
      Value logarithm = b.sum(b.splat(b.loadScalar(largest, row)),
                              math::LogOp::create(b, divisor));
      logarithm = b.select(none, zero, logarithm);
      Value token = b.add(b.mul(batch, shape.tokens), b.add(first, row));
      b.storeScalar(b.firstLane(logarithm), b.argument(*arguments.logSumExp),
                    b.add(b.mul(token, shape.heads), head));
    });
    if (arguments.result)
      b.unpack({sums, b.index(0), widthPitch()},
               b.headsOf(*arguments.result, shape.tokens, shape.heads,
                         shape.width, batch, head),
               {first, b.add(first, rows)});
  }

  const AttentionShape &shape;
  const ForwardPlan &plan;
  const ForwardArguments &arguments;
  AttentionBuilder b;
  FlatMemory query, key, value, scores, sums, largest, total;
  Value batch, head;
};

} // namespace

LogicalResult mp::cpu::emitAttention(const AttentionShape &shape,
                                     const AttentionTensors &tensors,
                                     unsigned workers, ObjectCompiler &compiler,
                                     EmittedKernel &kernel) {
  Type accumulator = computeType(tensors.query.element());
  ForwardPlan plan(shape, accumulator, compiler.target(), workers);
  ForwardArguments arguments(tensors);
  ForwardCode code(shape, plan, arguments);
  return code.builder().launchAttention(compiler, kernel, arguments,
                                        shape.batch * shape.heads * plan.chunks,
                                        plan.scratch, shape.flops(2));
}
