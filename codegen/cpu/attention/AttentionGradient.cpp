//===- AttentionGradient.cpp - the backward pass of attention on the CPU --===//
//
// Scores are transposed here: lanes are queries, so that the numbers per query
// are vectors, and weights are a left operand as they lie. One pass over blocks
// of keys and queries yields all three gradients, with sums in scratch.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/MatrixTiles.h"
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

struct GradientPlan {
  GradientPlan(const AttentionShape &shape, Type element, const Target &target);

  ProductKind kind;
  TileShape tokens, depth, width; ///< by what is a product's columns
  /// Of scores in scratch: multiples of all tiles.
  int64_t keyBlock;
  static constexpr int64_t queryBlock = 192;
  static constexpr int64_t tileRows = 48; ///< a multiple of those of all tiles
  int64_t depthPitch, widthPitch;
  int64_t paddedTokens; ///< whole panels
  /// Of queries and keys, as left operands, columns and terms of products.
  ScratchPiece queryTerms, queryColumns, gradientTerms, gradientColumns;
  ScratchPiece key, keyTerms, value;
  ScratchPiece logSumExp, delta;
  ScratchPiece scores, products; ///< a block, in the accumulator's type
  /// Weights, and gradients of scores: keys are rows, or terms.
  ScratchPiece weights, changes, changeTerms;
  ScratchPiece querySums, keySums, valueSums;
  std::optional<ScratchPiece> factors; ///< of a block's weights, by dropout
  int64_t scratchBytes;
};

GradientPlan::GradientPlan(const AttentionShape &shape, Type element,
                           const Target &target)
    : kind(element, target), tokens(kind.tileOf(target, shape.tokens)),
      depth(kind.tileOf(target, shape.depth)),
      width(kind.tileOf(target, shape.width)),
      depthPitch(depth.padded(shape.depth)),
      widthPitch(width.padded(shape.width)),
      paddedTokens(tokens.padded(shape.tokens)) {
  Type sum = kind.accumulator, factor = kind.factor;
  // Few keys at a time, where each is seen by other queries.
  keyBlock = shape.reachAhead() ? 48 : 96;
  bool isPaired = kind.inTerm == 2;
  auto even = [&](int64_t count) { return kind.terms(count) * kind.inTerm; };
  // A block's rows that fill its last tile are summed too.
  int64_t tokenRows = llvm::alignTo(shape.tokens, tileRows),
          keyRows = llvm::alignTo(shape.keys, tileRows);

  ScratchSizes sizes;
  queryTerms = sizes.take(factor, even(shape.tokens) * depthPitch);
  queryColumns = sizes.take(factor, paddedTokens * even(shape.depth));
  gradientTerms = sizes.take(factor, even(shape.tokens) * widthPitch);
  gradientColumns = sizes.take(factor, paddedTokens * even(shape.width));
  key = sizes.take(factor, keyBlock * depthPitch);
  keyTerms = isPaired ? sizes.take(factor, keyBlock * depthPitch) : key;
  value = sizes.take(factor, keyBlock * widthPitch);
  logSumExp = sizes.take(sum, paddedTokens);
  delta = sizes.take(sum, paddedTokens);
  int64_t block = keyBlock * queryBlock;
  scores = sizes.take(sum, block);
  products = sizes.take(sum, block);
  weights = isPaired ? sizes.take(factor, block) : scores;
  changes = isPaired ? sizes.take(factor, block) : products;
  changeTerms = isPaired ? sizes.take(factor, block) : products;
  querySums = sizes.take(sum, tokenRows * depthPitch);
  keySums = sizes.take(sum, keyRows * depthPitch);
  valueSums = sizes.take(sum, keyRows * widthPitch);
  if (shape.dropout)
    factors = sizes.take(sum, block);
  scratchBytes = sizes.total;
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
        b(shape, plan.kind, plan.tokens.lanes, arguments, arguments.masks,
          plan.scratchBytes) {
    if (plan.factors)
      dropout.emplace(b, *plan.factors);
    b.forEach(b.begin(), b.end(), 1, [&](Value item) { emitItem(item); });
  }
  AttentionBuilder &builder() { return b; }

private:
  void emitItem(Value item) {
    group = b.rem(item, shape.groups);
    batch = b.div(item, shape.groups);
    clear(plan.keySums);
    clear(plan.valueSums);
    b.forEach(shape.headsInGroup(), [&](Value number) {
      emitHead(b.add(b.mul(group, shape.headsInGroup()), number));
    });
    auto store = [&](std::optional<unsigned> argument, const ScratchPiece &sums,
                     int64_t pitch, int64_t depth) {
      if (argument)
        b.unpack(
            {sums.in(b), b.index(0), pitch},
            b.headsOf(*argument, shape.keys, shape.groups, depth, batch, group),
            {b.index(0), b.index(shape.keys)});
    };
    store(arguments.keyGradient, plan.keySums, plan.depthPitch, shape.depth);
    store(arguments.valueGradient, plan.valueSums, plan.widthPitch,
          shape.width);
  }

  void clear(const ScratchPiece &sums) {
    b.clear(sums.in(b), b.index(0), b.index(sums.count));
  }

  void emitHead(Value head) {
    b.setHead(batch, head);
    if (dropout)
      dropout->setHead(batch, head);
    packQueries(head);
    clear(plan.querySums);
    Value end = b.keysOf(b.index(0), b.index(shape.tokens)).second;
    b.forEach(b.index(0), end, plan.keyBlock, [&](Value from) {
      emitKeys(from, b.minSigned(b.add(from, plan.keyBlock), end));
    });
    if (arguments.queryGradient)
      b.unpack({plan.querySums.in(b), b.index(0), plan.depthPitch},
               b.headsOf(*arguments.queryGradient, shape.tokens, shape.heads,
                         shape.depth, batch, head),
               {b.index(0), b.index(shape.tokens)});
  }

  int64_t inTerm() const { return plan.kind.inTerm; }
  /// Of packed columns of tokens: terms, and panels.
  int64_t termPitch() const { return inTerm() * plan.tokens.panelColumns(); }
  int64_t panelPitch(int64_t depth) const {
    return plan.kind.terms(depth) * termPitch();
  }

  /// What is read for each query: terms, columns and numbers.
  void packQueries(Value head) {
    Bounds all{b.index(0), b.index(shape.tokens)};
    auto pack = [&](unsigned argument, int64_t depth, int64_t pitch,
                    const ScratchPiece &terms, const ScratchPiece &columns) {
      auto heads =
          b.headsOf(argument, shape.tokens, shape.heads, depth, batch, head);
      b.packTerms(heads, all, {terms.in(b), b.index(0), pitch});
      b.packTransposed(
          heads, all,
          {columns.in(b), b.index(0), panelPitch(depth), termPitch()},
          plan.tokens);
    };
    pack(arguments.query, shape.depth, plan.depthPitch, plan.queryTerms,
         plan.queryColumns);
    pack(arguments.gradient, shape.width, plan.widthPitch, plan.gradientTerms,
         plan.gradientColumns);
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
    gather(arguments.logSumExp, plan.logSumExp.in(b));
    gather(arguments.delta, plan.delta.in(b));
  }

  /// Adds what keys [first, last) give.
  void emitKeys(Value first, Value last) {
    Bounds range{first, last};
    auto headsOf = [&](unsigned argument, int64_t depth) {
      return b.headsOf(argument, shape.keys, shape.groups, depth, batch, group);
    };
    auto keys = headsOf(arguments.key, shape.depth);
    b.pack(keys, range, {plan.key.in(b), b.index(0), plan.depthPitch},
           plan.tokens.rows);
    if (inTerm() == 2)
      b.packTerms(keys, range,
                  {plan.keyTerms.in(b), b.index(0), plan.depthPitch});
    b.pack(headsOf(arguments.value, shape.width), range,
           {plan.value.in(b), b.index(0), plan.widthPitch}, plan.tokens.rows);
    auto [begin, end] = b.queriesOf(first, last);
    int64_t columns = plan.tokens.panelColumns();
    Value from = b.mul(b.div(begin, columns), columns);
    b.forEach(from, end, plan.queryBlock, [&](Value query) {
      Value count = b.minSigned(b.sub(end, query), plan.queryBlock);
      emitBlock(range, query, count);
    });
  }

  /// The scores of a block of keys and queries, and what they add.
  void emitBlock(const Bounds &range, Value firstQuery, Value queries) {
    int64_t columns = plan.tokens.panelColumns();
    Value keys = b.sub(range.second, range.first);
    Value panel = b.div(firstQuery, columns);
    Value panels = b.divideUp(queries, columns);
    auto scoresOf = [&](const ScratchPiece &rows, int64_t pitch,
                        const ScratchPiece &packed, int64_t depth,
                        const ScratchPiece &to) {
      TileProduct{.tile = plan.tokens,
                  .a = {rows.in(b), b.index(0), pitch, inTerm()},
                  .right = {packed.in(b), b.mul(panel, panelPitch(depth)),
                            panelPitch(depth), termPitch()},
                  .c = {to.in(b), b.index(0), plan.queryBlock},
                  .rows = keys,
                  .depth = b.index(plan.kind.terms(depth)),
                  .panels = panels,
                  .fused = plan.kind.fused}
          .emit(b);
    };
    scoresOf(plan.key, plan.depthPitch, plan.queryColumns, shape.depth,
             plan.scores);
    scoresOf(plan.value, plan.widthPitch, plan.gradientColumns, shape.width,
             plan.products);
    if (dropout)
      dropout->drawBlock(range, firstQuery, b.mul(panels, columns),
                         plan.queryBlock);
    weighBlock(range, firstQuery, b.mul(panels, columns));
    clearRest(keys, queries, b.mul(panels, columns));
    auto rowsOf = [&](const ScratchPiece &piece) {
      return Rows{piece.in(b), b.index(0), plan.queryBlock, inTerm()};
    };
    Value keyAt = b.mul(range.first, plan.depthPitch),
          valueAt = b.mul(range.first, plan.widthPitch),
          queryAt = b.mul(firstQuery, plan.depthPitch),
          gradientAt = b.mul(firstQuery, plan.widthPitch);
    addProduct(plan.width, shape.width, rowsOf(plan.weights),
               {plan.gradientTerms, gradientAt}, {plan.valueSums, valueAt},
               keys, queries);
    addProduct(plan.depth, shape.depth, rowsOf(plan.changes),
               {plan.queryTerms, queryAt}, {plan.keySums, keyAt}, keys,
               queries);
    addProduct(plan.depth, shape.depth,
               {plan.changeTerms.in(b), b.index(0), inTerm(),
                inTerm() * plan.queryBlock},
               {plan.keyTerms, b.index(0)}, {plan.querySums, queryAt}, queries,
               keys);
  }

  /// Clears what follows a block's weights: the last tiles of sums add that to
  /// keys and queries after the block, which may be there.
  void clearRest(Value keys, Value queries, Value columns) {
    auto whole = [&](Value count) {
      return b.mul(b.divideUp(count, plan.tileRows), plan.tileRows);
    };
    // Elements [from, to) of a row, or of terms in the place of rows.
    auto clear = [&](const ScratchPiece &piece, Value row, Value from, Value to,
                     int64_t inTerm) {
      Value at = b.add(b.mul(row, plan.queryBlock), from);
      b.clear(piece.in(b), b.mul(at, inTerm),
              b.mul(b.sub(b.maxSigned(to, from), from), inTerm));
    };
    b.forEach(b.index(0), plan.kind.terms(b, keys), 1, [&](Value term) {
      clear(plan.changeTerms, term, columns, whole(queries), inTerm());
    });
    b.forEach(keys, whole(keys), 1, [&](Value row) {
      clear(plan.weights, row, b.index(0), columns, 1);
      clear(plan.changes, row, b.index(0), columns, 1);
    });
  }

  /// sums += a * terms, both `columns` wide.
  void addProduct(const TileShape &tile, int64_t columns, const Rows &a,
                  std::pair<ScratchPiece, Value> terms,
                  std::pair<ScratchPiece, Value> sums, Value rows,
                  Value depth) {
    int64_t pitch = tile.padded(columns);
    TileProduct{.tile = tile,
                .a = a,
                .right = {terms.first.in(b), terms.second,
                          inTerm() * tile.panelColumns(), inTerm() * pitch},
                .c = {sums.first.in(b), sums.second, pitch},
                .rows = rows,
                .depth = plan.kind.terms(b, depth),
                .panels = b.index(tile.panels(columns)),
                .adds = true,
                .fused = plan.kind.fused}
        .emit(b);
  }

  void weighBlock(const Bounds &range, Value firstQuery, Value columns) {
    Value keys = b.sub(range.second, range.first);
    auto weigh = [&](bool isWhole) {
      b.forEach(b.index(0), keys, inTerm(), [&](Value row) {
        weighKeys(range, row, firstQuery, columns, isWhole);
      });
    };
    // The queries that look at every key of the block.
    Value last = b.sub(range.second, b.index(1));
    Bounds seeing{b.queriesOf(last, range.second).first,
                  b.queriesOf(range.first, b.add(range.first, 1)).second};
    Value isWhole =
        b.isWithin({firstQuery, b.add(firstQuery, columns)}, seeing);
    if (inTerm() == 2) // A last pair may lack its second key.
      isWhole = arith::AndIOp::create(
          b, isWhole,
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, b.rem(keys, 2),
                                b.index(0)));
    b.ifElse(isWhole, [&] { weigh(true); }, [&] { weigh(false); });
  }

  /// Makes the weights of one key, or of two that are a term, of their scores,
  /// and the gradients of the scores of the products of values and gradients.
  /// In a whole block, all queries look at all keys.
  void weighKeys(const Bounds &keys, Value row, Value firstQuery, Value columns,
                 bool isWhole) {
    FlatMemory weights = plan.weights.in(b), changes = plan.changes.in(b),
               terms = plan.changeTerms.in(b);
    b.forEach(b.index(0), columns, b.lanes, [&](Value at) {
      Value query = b.add(firstQuery, at);
      SmallVector<Value, 2> ofTerm;
      for (int64_t i = 0; i < inTerm(); ++i) {
        Value place = b.add(b.mul(b.add(row, i), plan.queryBlock), at);
        auto [weight, change] = weigh(keys, b.add(b.add(keys.first, row), i),
                                      query, place, isWhole);
        b.store(b.rounded(weight, weights), weights, place);
        ofTerm.push_back(b.rounded(change, changes));
        b.store(ofTerm.back(), changes, place);
      }
      if (inTerm() == 2)
        b.store(interleave(b, ofTerm[0], ofTerm[1]), terms,
                b.add(b.mul(row, plan.queryBlock), b.mul(at, 2)));
    });
  }

  /// The lanes of queries, from `query` on, that look at a key.
  Value lanesOf(const Bounds &keys, Value key, Value query) {
    Bounds range = b.queriesOf(key, b.add(key, 1));
    // The second of a last pair does not exist.
    range.second =
        b.select(b.isBelow(key, keys.second), range.second, range.first);
    return b.lanesIn(range, query);
  }

  std::pair<Value, Value> weigh(const Bounds &keys, Value key, Value query,
                                Value place, bool isWhole) {
    Value isIn = isWhole ? Value() : lanesOf(keys, key, query);
    auto unlessOut = [&](Value x) {
      return isIn ? b.select(isIn, x, b.constant(0)) : x;
    };
    Value scale = b.constant(shape.scale);
    Value score = arith::MulFOp::create(
        b, b.load(plan.scores.in(b), place, b.lanes), scale);
    score = b.change(score, {query, key, true}, isIn);
    Value distance = arith::SubFOp::create(
        b, score, b.load(plan.logSumExp.in(b), query, b.lanes));
    Value weight =
        unlessOut(expFor(inTerm() == 2 ? Type(b.getBF16Type()) : b.accumulator,
                         Expression(b, distance), ExpArgument::Any));
    Value product = b.load(plan.products.in(b), place, b.lanes);
    Value kept = weight;
    if (dropout) {
      Value factor = dropout->at(place);
      product = arith::MulFOp::create(b, product, factor);
      kept = arith::MulFOp::create(b, weight, factor);
    }
    Value change = arith::SubFOp::create(
        b, product, b.load(plan.delta.in(b), query, b.lanes));
    change = arith::MulFOp::create(b, arith::MulFOp::create(b, weight, change),
                                   scale);
    return {kept, unlessOut(change)};
  }

  const AttentionShape &shape;
  const GradientPlan &plan;
  const GradientArguments &arguments;
  AttentionBuilder b;
  std::optional<WeightDropout> dropout;
  Value batch, group;
};

} // namespace

LogicalResult mp::cpu::emitAttentionGradient(
    const AttentionShape &shape, const AttentionGradientTensors &tensors,
    ObjectCompiler &compiler, EmittedKernel &kernel) {
  GradientPlan plan(shape, tensors.query.element(), compiler.target());
  GradientArguments arguments(tensors);
  GradientCode code(shape, plan, arguments);
  return code.builder().launchAttention(compiler, kernel, arguments,
                                        shape.batch * shape.groups,
                                        plan.scratchBytes, shape.flops(5));
}
