//===- AttentionGradient.cpp - the backward pass of attention on the CPU --===//
//
// Scores are transposed here: lanes are queries, so that the numbers per query
// are vectors, and weights are a left operand as they lie. One pass over blocks
// of keys and queries yields all three gradients, with sums in scratch.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/attention/Attention.h"
#include "codegen/cpu/attention/AttentionBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {

struct GradientPlan {
  GradientPlan(const AttentionShape &shape, Type accumulator,
               const Target &target);

  Type accumulator;
  bool fused;
  TileShape tokens, depth, width; ///< by what is a product's columns
  /// Of scores in scratch: multiples of all tiles.
  static constexpr int64_t keyBlock = 96, queryBlock = 192;
  int64_t depthPitch, widthPitch;
  int64_t paddedTokens; ///< whole panels
  int64_t query, queryColumns, gradient, gradientColumns, key, value;
  int64_t logSumExp, delta, weights, products;
  int64_t querySums, keySums, valueSums, scratch; ///< bytes

  int64_t lanes() const { return tokens.lanes; }
};

GradientPlan::GradientPlan(const AttentionShape &shape, Type accumulator,
                           const Target &target)
    : accumulator(accumulator), fused(target.has("fma")) {
  int64_t bytes = accumulator.getIntOrFloatBitWidth() / 8;
  tokens = TileShape::of(target, shape.tokens, bytes);
  depth = TileShape::of(target, shape.depth, bytes);
  width = TileShape::of(target, shape.width, bytes);
  depthPitch = depth.padded(shape.depth);
  widthPitch = width.padded(shape.width);
  paddedTokens = tokens.padded(shape.tokens);
  // A block's rows that fill its last tile are summed too.
  int64_t tokenRows = llvm::alignTo(shape.tokens, 48),
          keyRows = llvm::alignTo(shape.keys, 48);

  ScratchSizes sizes;
  query = sizes.take(shape.tokens * depthPitch, bytes);
  queryColumns = sizes.take(paddedTokens * shape.depth, bytes);
  gradient = sizes.take(shape.tokens * widthPitch, bytes);
  gradientColumns = sizes.take(paddedTokens * shape.width, bytes);
  key = sizes.take(keyBlock * depthPitch, bytes);
  value = sizes.take(keyBlock * widthPitch, bytes);
  logSumExp = sizes.take(paddedTokens, bytes);
  delta = sizes.take(paddedTokens, bytes);
  weights = sizes.take(keyBlock * queryBlock, bytes);
  products = sizes.take(keyBlock * queryBlock, bytes);
  querySums = sizes.take(tokenRows * depthPitch, bytes);
  keySums = sizes.take(keyRows * depthPitch, bytes);
  valueSums = sizes.take(keyRows * widthPitch, bytes);
  scratch = sizes.total;
}

struct GradientArguments : ArgumentList {
  explicit GradientArguments(const AttentionGradientTensors &tensors)
      : gradient(add(tensors.gradient)), query(add(tensors.query)),
        key(add(tensors.key)), value(add(tensors.value)),
        logSumExp(add(tensors.logSumExp)), delta(add(tensors.delta)),
        masks(*this, tensors.masks), queryGradient(add(tensors.queryGradient)),
        keyGradient(add(tensors.keyGradient)),
        valueGradient(add(tensors.valueGradient)) {}

  unsigned gradient, query, key, value, logSumExp, delta;
  MaskPlaces masks;
  std::optional<unsigned> queryGradient, keyGradient, valueGradient;
};

class GradientCode {
public:
  GradientCode(const AttentionShape &shape, const GradientPlan &plan,
               const GradientArguments &arguments)
      : shape(shape), plan(plan), arguments(arguments),
        b(shape, plan.accumulator, plan.lanes(), arguments, arguments.masks,
          plan.scratch) {
    int64_t bytes = plan.accumulator.getIntOrFloatBitWidth() / 8;
    auto piece = [&](int64_t from, int64_t to) {
      return b.scratch(plan.accumulator, from, (to - from) / bytes);
    };
    query = piece(plan.query, plan.queryColumns);
    queryColumns = piece(plan.queryColumns, plan.gradient);
    gradient = piece(plan.gradient, plan.gradientColumns);
    gradientColumns = piece(plan.gradientColumns, plan.key);
    key = piece(plan.key, plan.value);
    value = piece(plan.value, plan.logSumExp);
    logSumExp = piece(plan.logSumExp, plan.delta);
    delta = piece(plan.delta, plan.weights);
    weights = piece(plan.weights, plan.products);
    products = piece(plan.products, plan.querySums);
    querySums = piece(plan.querySums, plan.keySums);
    keySums = piece(plan.keySums, plan.valueSums);
    valueSums = piece(plan.valueSums, plan.scratch);
    b.forEach(b.begin(), b.end(), 1, [&](Value item) { emitItem(item); });
  }
  AttentionBuilder &builder() { return b; }

private:
  void emitItem(Value item) {
    group = b.rem(item, shape.groups);
    batch = b.div(item, shape.groups);
    clear(keySums, plan.keySums, plan.valueSums);
    clear(valueSums, plan.valueSums, plan.scratch);
    b.forEach(shape.headsInGroup(), [&](Value number) {
      emitHead(b.add(b.mul(group, shape.headsInGroup()), number));
    });
    auto store = [&](std::optional<unsigned> argument, const FlatMemory &sums,
                     int64_t pitch, int64_t depth) {
      if (argument)
        b.unpack(
            {sums, b.index(0), pitch},
            b.headsOf(*argument, shape.keys, shape.groups, depth, batch, group),
            {b.index(0), b.index(shape.keys)});
    };
    store(arguments.keyGradient, keySums, plan.depthPitch, shape.depth);
    store(arguments.valueGradient, valueSums, plan.widthPitch, shape.width);
  }

  void clear(const FlatMemory &memory, int64_t from, int64_t to) {
    int64_t bytes = plan.accumulator.getIntOrFloatBitWidth() / 8;
    b.clear(memory, b.index(0), b.index((to - from) / bytes));
  }

  void emitHead(Value head) {
    b.setHead(batch, head);
    packQueries(head);
    clear(querySums, plan.querySums, plan.keySums);
    Value end = b.keysOf(b.index(0), b.index(shape.tokens)).second;
    b.forEach(b.index(0), end, plan.keyBlock, [&](Value from) {
      emitKeys(from, b.minSigned(b.add(from, plan.keyBlock), end));
    });
    if (arguments.queryGradient)
      b.unpack({querySums, b.index(0), plan.depthPitch},
               b.headsOf(*arguments.queryGradient, shape.tokens, shape.heads,
                         shape.depth, batch, head),
               {b.index(0), b.index(shape.tokens)});
  }

  /// What is read for each query: rows, columns and numbers.
  void packQueries(Value head) {
    Bounds all{b.index(0), b.index(shape.tokens)};
    auto pack = [&](unsigned argument, int64_t depth, int64_t pitch,
                    const FlatMemory &rows, const FlatMemory &columns) {
      auto heads =
          b.headsOf(argument, shape.tokens, shape.heads, depth, batch, head);
      b.pack(heads, all, {rows, b.index(0), pitch});
      int64_t panel = plan.tokens.panelColumns();
      b.packTransposed(heads, all, {columns, b.index(0), depth * panel, panel},
                       plan.tokens);
    };
    pack(arguments.query, shape.depth, plan.depthPitch, query, queryColumns);
    pack(arguments.gradient, shape.width, plan.widthPitch, gradient,
         gradientColumns);
    auto gather = [&](unsigned argument, const FlatMemory &to) {
      b.forEach(shape.tokens, [&](Value token) {
        Value row = b.add(b.mul(batch, shape.tokens), token);
        Value at = b.add(b.mul(row, shape.heads), head);
        b.storeScalar(b.loadScalar(b.argument(argument), at), to, token);
      });
      b.forEach(b.index(shape.tokens), b.index(plan.paddedTokens), 1,
                [&](Value token) {
                  b.storeScalar(b.firstLane(b.constant(0)), to, token);
                });
    };
    gather(arguments.logSumExp, logSumExp);
    gather(arguments.delta, delta);
  }

  /// Adds what keys [first, last) give.
  void emitKeys(Value first, Value last) {
    Bounds range{first, last};
    auto pack = [&](unsigned argument, int64_t depth, int64_t pitch,
                    const FlatMemory &to, const TileShape &) {
      b.pack(b.headsOf(argument, shape.keys, shape.groups, depth, batch, group),
             range, {to, b.index(0), pitch}, 1, plan.tokens.rows);
    };
    pack(arguments.key, shape.depth, plan.depthPitch, key, plan.tokens);
    pack(arguments.value, shape.width, plan.widthPitch, value, plan.tokens);
    auto [begin, end] = b.queriesOf(first, last);
    int64_t columns = plan.tokens.panelColumns();
    Value from = b.mul(b.div(begin, columns), columns);
    b.forEach(from, end, plan.queryBlock, [&](Value query) {
      Value count = b.minSigned(b.sub(end, query), plan.queryBlock);
      emitBlock(first, b.sub(last, first), query, count);
    });
  }

  /// The scores of a block of keys and queries, and what they add.
  void emitBlock(Value firstKey, Value keys, Value firstQuery, Value queries) {
    int64_t columns = plan.tokens.panelColumns();
    Value panel = b.div(firstQuery, columns);
    Value panels = b.divideUp(queries, columns);
    auto scoresOf = [&](const FlatMemory &rows, int64_t pitch,
                        const FlatMemory &packed, int64_t depth,
                        const FlatMemory &to) {
      TileProduct{.tile = plan.tokens,
                  .a = {rows, b.index(0), pitch},
                  .b = {packed, b.mul(panel, depth * columns), depth * columns,
                        columns},
                  .c = {to, b.index(0), plan.queryBlock},
                  .rows = keys,
                  .depth = b.index(depth),
                  .panels = panels,
                  .fused = plan.fused}
          .emit(b);
    };
    scoresOf(key, plan.depthPitch, queryColumns, shape.depth, weights);
    scoresOf(value, plan.widthPitch, gradientColumns, shape.width, products);
    b.forEach(b.index(0), keys, 1, [&](Value row) {
      weighRow(b.add(firstKey, row), row, firstQuery, b.mul(panels, columns));
    });
    Rows weightRows{weights, b.index(0), plan.queryBlock},
        scoreRows{products, b.index(0), plan.queryBlock};
    Value keyAt = b.mul(firstKey, plan.depthPitch),
          valueAt = b.mul(firstKey, plan.widthPitch),
          queryAt = b.mul(firstQuery, plan.depthPitch),
          gradientAt = b.mul(firstQuery, plan.widthPitch);
    addProduct(plan.width, shape.width, weightRows, {gradient, gradientAt},
               {valueSums, valueAt}, keys, queries);
    addProduct(plan.depth, shape.depth, scoreRows, {query, queryAt},
               {keySums, keyAt}, keys, queries);
    addProduct(plan.depth, shape.depth,
               {products, b.index(0), 1, plan.queryBlock}, {key, b.index(0)},
               {querySums, queryAt}, queries, keys);
  }

  /// sums += a * rows, both `columns` wide.
  void addProduct(const TileShape &tile, int64_t columns, const Rows &a,
                  std::pair<FlatMemory, Value> rows,
                  std::pair<FlatMemory, Value> sums, Value count, Value depth) {
    int64_t pitch = tile.padded(columns);
    TileProduct{.tile = tile,
                .a = a,
                .b = {rows.first, rows.second, tile.panelColumns(), pitch},
                .c = {sums.first, sums.second, pitch},
                .rows = count,
                .depth = depth,
                .panels = b.index(tile.panels(columns)),
                .adds = true,
                .fused = plan.fused}
        .emit(b);
  }

  /// Makes the weights of a key of its scores, and the gradients of the scores
  /// of the products of values and gradients.
  void weighRow(Value keyIndex, Value row, Value firstQuery, Value columns) {
    Bounds range = b.queriesOf(keyIndex, b.add(keyIndex, 1));
    Value begin = b.mul(row, plan.queryBlock);
    Value scale = b.constant(shape.scale), zero = b.constant(0);
    b.forEach(b.index(0), columns, b.lanes, [&](Value at) {
      Value place = b.add(begin, at), query = b.add(firstQuery, at);
      Value isIn = b.lanesIn(range, query);
      Value score =
          arith::MulFOp::create(b, b.load(weights, place, b.lanes), scale);
      score = b.change(score, {query, keyIndex, true}, isIn);
      Value distance =
          arith::SubFOp::create(b, score, b.load(logSumExp, query, b.lanes));
      Value weight = b.select(isIn, math::ExpOp::create(b, distance), zero);
      b.store(weight, weights, place);
      Value change = arith::SubFOp::create(b, b.load(products, place, b.lanes),
                                           b.load(delta, query, b.lanes));
      Value gradient = arith::MulFOp::create(
          b, arith::MulFOp::create(b, weight, change), scale);
      b.store(b.select(isIn, gradient, zero), products, place);
    });
  }

  const AttentionShape &shape;
  const GradientPlan &plan;
  const GradientArguments &arguments;
  AttentionBuilder b;
  FlatMemory query, queryColumns, gradient, gradientColumns, key, value;
  FlatMemory logSumExp, delta, weights, products;
  FlatMemory querySums, keySums, valueSums;
  Value batch, group;
};

} // namespace

LogicalResult mp::cpu::emitAttentionGradient(
    const AttentionShape &shape, const AttentionGradientTensors &tensors,
    ObjectCompiler &compiler, EmittedKernel &kernel) {
  GradientPlan plan(shape, computeType(tensors.query.element()),
                    compiler.target());
  GradientArguments arguments(tensors);
  GradientCode code(shape, plan, arguments);
  return code.builder().launchAttention(compiler, kernel, arguments,
                                        shape.batch * shape.groups,
                                        plan.scratch, shape.flops(5));
}
