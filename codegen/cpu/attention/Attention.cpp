//===- Attention.cpp - the forward pass of attention on the CPU -----------===//
#include "codegen/cpu/attention/Attention.h"
#include "codegen/cpu/attention/AttentionBuilder.h"
#include "codegen/cpu/attention/WeightDropout.h"
#include "dialect/Accuracy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {

/// How the scores of a head are cut up. All of it follows from the shape and
/// the target, but for the queries of an item, which change no bit.
struct ForwardPlan {
  ForwardPlan(const AttentionShape &shape, Type element, const Target &target,
              unsigned workers);

  ProductKind kind;
  TileShape keys, width;        ///< of scores by keys, of the result by width
  int64_t queryBlock, keyBlock; ///< of scores in scratch
  int64_t chunk, chunks;        ///< queries of an item, and items of a head
  int64_t depthPitch, widthPitch;
  int64_t rows; ///< of blocks, with those that fill a tile
  ScratchPiece query, key, value, scores, weights, sums, largest, total;
  std::optional<ScratchPiece> factors; ///< of a row's weights, by dropout
  int64_t scratchBytes;
};

ForwardPlan::ForwardPlan(const AttentionShape &shape, Type element,
                         const Target &target, unsigned workers)
    : kind(element, target), keys(kind.tileOf(target, shape.keys)),
      width(kind.tileOf(target, shape.width)) {
  // Few queries at a time, where each looks at other keys.
  queryBlock =
      std::clamp<int64_t>(shape.tokens, 1, shape.reachAhead() ? 48 : 96);
  keyBlock = std::min(6 * keys.panelColumns(), keys.padded(shape.keys));
  // Each item packs all keys of its head.
  int64_t wanted =
      llvm::divideCeilSigned(2 * workers, shape.batch * shape.heads);
  chunk =
      llvm::alignTo(llvm::divideCeilSigned(shape.tokens, wanted), queryBlock);
  chunks = llvm::divideCeilSigned(shape.tokens, chunk);
  depthPitch = llvm::alignTo(shape.depth, keys.lanes);
  widthPitch = width.padded(shape.width);
  rows = llvm::alignTo(queryBlock, 48);

  ScratchSizes sizes;
  query = sizes.take(kind.factor, rows * depthPitch);
  key = sizes.take(kind.factor, keys.padded(shape.keys) *
                                    kind.terms(shape.depth) * kind.inTerm);
  value = sizes.take(kind.factor,
                     kind.terms(shape.keys) * kind.inTerm * widthPitch);
  scores = sizes.take(kind.accumulator, rows * keyBlock);
  // In the place of the scores, if they have their type.
  weights =
      kind.inTerm == 1 ? scores : sizes.take(kind.factor, rows * keyBlock);
  sums = sizes.take(kind.accumulator, rows * widthPitch);
  largest = sizes.take(kind.accumulator, rows);
  total = sizes.take(kind.accumulator, rows);
  if (shape.dropout)
    factors = sizes.take(kind.accumulator,
                         WeightDropout::rowElements(keyBlock, keys.lanes));
  scratchBytes = sizes.total;
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
        b(shape, plan.kind, plan.keys.lanes, arguments, arguments.masks,
          plan.scratchBytes),
        query(plan.query.in(b)), key(plan.key.in(b)), value(plan.value.in(b)),
        scores(plan.scores.in(b)), weights(plan.weights.in(b)),
        sums(plan.sums.in(b)), largest(plan.largest.in(b)),
        total(plan.total.in(b)) {
    if (plan.factors)
      dropout.emplace(b, *plan.factors);
    b.forEach(b.begin(), b.end(), 1, [&](Value item) { emitItem(item); });
  }
  AttentionBuilder &builder() { return b; }

private:
  /// Of packed keys: terms of a panel's columns, and panels.
  int64_t termPitch() const {
    return plan.kind.inTerm * plan.keys.panelColumns();
  }
  int64_t panelPitch() const {
    return plan.kind.terms(shape.depth) * termPitch();
  }

  void emitItem(Value item) {
    Value chunk = b.rem(item, plan.chunks), rest = b.div(item, plan.chunks);
    head = b.rem(rest, shape.heads);
    batch = b.div(rest, shape.heads);
    b.setHead(batch, head);
    if (dropout)
      dropout->setHead(batch, head);
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
    b.packTransposed(
        keyHeads, panels,
        {key, b.mul(firstPanel, panelPitch()), panelPitch(), termPitch()},
        plan.keys);
    b.packTerms(b.headsOf(arguments.value, shape.keys, shape.groups,
                          shape.width, batch, group),
                panels,
                {value, b.mul(panels.first, plan.widthPitch), plan.widthPitch});
  }

  /// Computes queries [first, last).
  void emitBlock(Value first, Value last) {
    Value rows = b.sub(last, first);
    b.pack(b.headsOf(arguments.query, shape.tokens, shape.heads, shape.depth,
                     batch, head),
           {first, last}, {query, b.index(0), plan.depthPitch}, plan.keys.rows);
    b.clear(sums, b.index(0), b.index(plan.rows * plan.widthPitch));
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
                .a = {query, b.index(0), plan.depthPitch, plan.kind.inTerm},
                .right = {key, b.mul(b.div(from, columns), panelPitch()),
                          panelPitch(), termPitch()},
                .c = {scores, b.index(0), plan.keyBlock},
                .rows = rows,
                .depth = b.index(plan.kind.terms(shape.depth)),
                .panels = panels,
                .fused = plan.kind.fused}
        .emit(b);
    b.forEach(b.index(0), rows, 1, [&](Value row) {
      weighRow(b.add(first, row), row, from, b.mul(panels, columns));
    });
    TileProduct{.tile = plan.width,
                .a = {weights, b.index(0), plan.keyBlock, plan.kind.inTerm},
                .right = {value, b.mul(from, plan.widthPitch),
                          plan.kind.inTerm * plan.width.panelColumns(),
                          plan.kind.inTerm * plan.widthPitch},
                .c = {sums, b.index(0), plan.widthPitch},
                .rows = rows,
                .depth = plan.kind.terms(b, count),
                .panels = b.index(plan.width.panels(shape.width)),
                .adds = true,
                .fused = plan.kind.fused}
        .emit(b);
  }

  /// Whether a block may hold keys that a query does not look at.
  bool hasOthers() const {
    return shape.reachAhead() || arguments.masks.lengths ||
           shape.keys % plan.keys.panelColumns();
  }

  /// Whether scores are scaled where they become weights: the largest stays the
  /// largest, so that its scaling is enough before, and a store is spared.
  bool scalesLate() const { return shape.scale > 0 && !b.changesScores(); }

  /// Makes weights of a row of scores, from key `from` on, and multiplies the
  /// sums so far by what the largest score has changed.
  void weighRow(Value queryIndex, Value row, Value from, Value columns) {
    if (!hasOthers())
      return weighKeys(queryIndex, row, from, columns, std::nullopt);
    Bounds range = b.keysOf(queryIndex, b.add(queryIndex, 1));
    b.ifElse(
        b.isWithin({from, b.add(from, columns)}, range),
        [&] { weighKeys(queryIndex, row, from, columns, std::nullopt); },
        [&] { weighKeys(queryIndex, row, from, columns, range); });
  }

  /// Does so for the keys in `range`, or for all.
  void weighKeys(Value queryIndex, Value row, Value from, Value columns,
                 std::optional<Bounds> range) {
    Value begin = b.mul(row, plan.keyBlock);
    auto allowed = [&](Value at) {
      return range ? b.lanesIn(*range, b.add(from, at)) : Value();
    };
    auto pieces = [&](Value start, function_ref<Value(Value, Value)> body) {
      auto loop = [&](Value at, ValueRange before) -> SmallVector<Value> {
        return {body(b.mul(at, b.lanes), before[0])};
      };
      return b.fold(b.index(0), b.div(columns, b.lanes), start, loop)[0];
    };
    Value before = b.splat(b.loadScalar(largest, row));
    Value scale = b.constant(shape.scale);
    auto scaled = [&](Value x) -> Value {
      return arith::MulFOp::create(b, x, scale);
    };
    Value most = pieces(lowest(), [&](Value at, Value most) {
      Value place = b.add(begin, at), isIn = allowed(at);
      Value x = b.load(scores, place, b.lanes);
      if (!scalesLate()) {
        x = b.change(scaled(x), {queryIndex, b.add(from, at), false}, isIn);
        b.store(x, scores, place);
      }
      return b.larger(most, isIn ? b.select(isIn, x, most) : x);
    });
    most = b.maxOfLanes(most);
    most = b.larger(before, scalesLate() ? scaled(most) : most);
    b.storeScalar(b.firstLane(most), largest, row);
    // Of no key at all, the largest is -inf.
    Value none =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, most, lowest());
    Value zero = b.constant(0);
    Value shift = b.select(none, zero, most);
    // In the accumulator's accuracy, as the logarithm of the sum is a result.
    auto exponential = [&](Value x) -> Value {
      Expression below(b, arith::SubFOp::create(b, x, shift));
      return expFor(b.accumulator, below, ExpArgument::NotPositive);
    };
    Value factor = exponential(before);
    Value factorsAt =
        dropout ? dropout->drawRow(queryIndex, from, columns) : Value();
    Value sum = pieces(zero, [&](Value at, Value sum) {
      Value x = b.load(scores, b.add(begin, at), b.lanes);
      Value weight = exponential(scalesLate() ? scaled(x) : x);
      if (Value isIn = allowed(at))
        weight = b.select(isIn, weight, zero);
      Value kept = weight;
      if (dropout)
        kept =
            arith::MulFOp::create(b, weight, dropout->at(b.add(factorsAt, at)));
      b.store(b.rounded(kept, weights), weights, b.add(begin, at));
      return b.sum(sum, weight);
    });
    rescale(row, factor, b.sumOfLanes(sum));
  }

  void rescale(Value row, Value factor, Value sum) {
    Value before = b.splat(b.loadScalar(total, row));
    Value scaled = arith::MulFOp::create(b, before, factor);
    b.storeScalar(b.firstLane(b.sum(scaled, sum)), total, row);
    Value at = b.mul(row, plan.widthPitch);
    for (int64_t v = 0; v < plan.widthPitch; v += b.lanes) {
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
      Value at = b.mul(row, plan.widthPitch);
      for (int64_t v = 0; v < plan.widthPitch; v += b.lanes) {
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
      b.unpack({sums, b.index(0), plan.widthPitch},
               b.headsOf(*arguments.result, shape.tokens, shape.heads,
                         shape.width, batch, head),
               {first, b.add(first, rows)});
  }

  const AttentionShape &shape;
  const ForwardPlan &plan;
  const ForwardArguments &arguments;
  AttentionBuilder b;
  FlatMemory query, key, value, scores, weights, sums, largest, total;
  std::optional<WeightDropout> dropout;
  Value batch, head;
};

} // namespace

LogicalResult mp::cpu::emitAttention(const AttentionShape &shape,
                                     const AttentionTensors &tensors,
                                     unsigned workers, ObjectCompiler &compiler,
                                     EmittedKernel &kernel) {
  ForwardPlan plan(shape, tensors.query.element(), compiler.target(), workers);
  ForwardArguments arguments(tensors);
  ForwardCode code(shape, plan, arguments);
  return code.builder().launchAttention(compiler, kernel, arguments,
                                        shape.batch * shape.heads * plan.chunks,
                                        plan.scratchBytes, shape.flops(2));
}
