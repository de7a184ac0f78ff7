//===- attention-half.cuh - attention on tensor cores ---------------------===//
//
// f16 and bf16 by m16n8k16, with sums in f32. A block has four warps and a tile
// of 64 rows of scores, 16 a warp. Scores become weights in the registers that
// held them, which are the fragments of a left operand as they lie.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "attention-weights.cuh"

namespace mp {

constexpr int kHalfRows = 64, kHalfThreads = 128;

constexpr int halfColumns(long long columns, int size = 16) {
  return columns <= size ? size : halfColumns(columns, size * 2);
}
/// A tile of `Rows` tokens, as wide as a power of two. Where tiles of as few as
/// `Fewest` rows meet it, all threads need something of these to copy.
template <typename T, int Rows, long long Columns, int Fewest = Rows>
using HalfTile =
    SharedTile<T, Rows, halfColumns(Columns, kHalfThreads * 8 / Fewest),
               Access::Neighbours>;

/// Copies `Tile::rows` tokens of a head from token `row` on. What does not
/// exist becomes zero.
template <typename Tile, long long Tokens, long long Heads, long long Columns>
void copyTokens(typename Tile::Element *tile,
                Global<typename Tile::Element> source, long long first,
                int row) {
  TileCopy<Tile, kHalfThreads, Tokens, Columns, true, Heads * Columns> copy(
      source, first, row, 0);
  copy.start(tile);
}

/// 16 rows of 16 elements as a left operand.
template <typename Tile>
void loadLeft(unsigned (&a)[4], const typename Tile::Element *tile, int row,
              int k) {
  int lane = laneOfWarp();
  loadMatrices(a, tile + Tile::offset(row + lane % 16, k + lane / 16 * 8));
}
/// Two right operands of 16 x 8: rows `row` to `row + 16` of the tile are
/// columns.
template <typename Tile>
void loadRows(unsigned (&b)[4], const typename Tile::Element *tile, int row,
              int k) {
  int near = laneOfWarp() % 16, far = laneOfWarp() / 16 * 8;
  loadMatrices(b, tile + Tile::offset(row + far + near % 8, k + near / 8 * 8));
}
/// The same where the tile's columns are columns.
template <typename Tile>
void loadColumns(unsigned (&b)[4], const typename Tile::Element *tile, int k,
                 int column) {
  int near = laneOfWarp() % 16, far = laneOfWarp() / 16 * 8;
  loadMatricesTransposed(b, tile + Tile::offset(k + near, column + far));
}

/// A warp's sums: 16 rows of Columns.
template <typename T, int Columns> struct HalfSums {
  static constexpr int fragments = Columns / 8;
  float sums[fragments][4] = {};

  /// Adds the products of rows of `left` and rows of `right`, along rows.
  template <typename Left, typename Right>
  void multiplyRows(const T *left, int row, const T *right) {
    static_assert(Left::columns == Right::columns, "depth of a product");
#pragma unroll 2
    for (int k = 0; k < Left::columns; k += 16) {
      unsigned a[4];
      loadLeft<Left>(a, left, row, k);
#pragma unroll
      for (int j = 0; j < fragments; j += 2) {
        unsigned b[4];
        loadRows<Right>(b, right, j * 8, k);
        addTo(j, a, b);
      }
    }
  }
  /// Adds the products of weights and the rows of `right`.
  template <typename Right, int Depth>
  void multiplyColumns(const HalfSums<T, Depth> &weights, const T *right) {
#pragma unroll
    for (int k = 0; k < Depth; k += 16) {
      unsigned a[4];
      packLeft<T>(a, weights.sums, k);
#pragma unroll
      for (int j = 0; j < fragments; j += 2) {
        unsigned b[4];
        loadColumns<Right>(b, right, k, j * 8);
        addTo(j, a, b);
      }
    }
  }

private:
  void addTo(int j, const unsigned (&a)[4], const unsigned (&b)[4]) {
    unsigned low[2] = {b[0], b[1]}, high[2] = {b[2], b[3]};
    multiply<T>(sums[j], a, low);
    multiply<T>(sums[j + 1], a, high);
  }
};

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// Keys at a time, and the bytes that a block needs.
template <typename Sizes> struct HalfForward {
  using T = typename Sizes::Element;
  static constexpr int keys = 64;
  using Query = HalfTile<T, kHalfRows, Sizes::depth>;
  using Key = HalfTile<T, keys, Sizes::depth>;
  using Value = HalfTile<T, keys, Sizes::width>;
  static constexpr int stage = Key::bytes + Value::bytes;
};

template <typename Sizes, typename Reach, typename Changes, typename Result,
          typename Numbers>
void attentionForwardHalf(int block, Global<typename Sizes::Element> query,
                          Global<typename Sizes::Element> key,
                          Global<typename Sizes::Element> value,
                          const Changes &changes, float scale, Result result,
                          Numbers logSumExp, unsigned char *shared) {
  using F = HalfForward<Sizes>;
  using T = typename Sizes::Element;
  BlockOfHead<Sizes::tokens, kHalfRows> place(block);
  int batch = place.head / Sizes::heads, head = place.head % Sizes::heads;
  int group = head / Sizes::headsInGroup;
  WarpScores<Sizes, Reach, Changes, true> scores(changes, batch, head, scale);
  auto *queries = reinterpret_cast<T *>(shared);
  auto stage = [&](int number) {
    return reinterpret_cast<T *>(shared + F::Query::bytes +
                                 number % 2 * F::stage);
  };
  int begin = Reach::firstKey(place.first) / F::keys;
  int end = ceilDivide(scores.endKey(place.first + kHalfRows), F::keys);
  auto start = [&](int number) {
    if (number < end) {
      T *to = stage(number);
      copyTokens<typename F::Key, Sizes::keys, Sizes::groups, Sizes::depth>(
          to, key, Sizes::keyAt(batch, 0, group), number * F::keys);
      copyTokens<typename F::Value, Sizes::keys, Sizes::groups, Sizes::width>(
          to + F::Key::bytes / sizeof(T), value,
          Sizes::valueAt(batch, 0, group), number * F::keys);
    }
    commitCopies();
  };
  copyTokens<typename F::Query, Sizes::tokens, Sizes::heads, Sizes::depth>(
      queries, query, Sizes::queryAt(batch, 0, head), place.first);
  start(begin);

  LaneRows rows;
  HalfSums<T, F::Value::columns> sums;
#pragma unroll 1
  for (int number = begin; number < end; ++number) {
    start(number + 1);
    waitForCopies<1>();
    barrier();
    const T *keys = stage(number), *values = keys + F::Key::bytes / sizeof(T);
    const ScoreTile<true> tile{place.first, number * F::keys};
    HalfSums<T, F::keys> weights;
    weights.template multiplyRows<typename F::Query, typename F::Key>(
        queries, rowOfWarp(), keys);
    float factors[2];
    rows.weigh(scores, tile, weights.sums, factors);
    dropWeights(scores, scores.template kept<F::keys>(tile), weights.sums);
    if (anyRaised(factors))
      scaleRows(sums.sums, factors);
    sums.template multiplyColumns<typename F::Value>(weights, values);
    barrier();
  }
  waitForCopies<0>();
  finishRows<Sizes>(rows, scores, sums.sums, batch, head, place.first, result,
                    logSumExp);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// Tokens that pass by at a time: fewer where sums need many registers.
template <typename Sizes> struct HalfBackward {
  using T = typename Sizes::Element;
  static constexpr int passing =
      halfColumns(Sizes::depth) + halfColumns(Sizes::width) > 128 ? 32 : 64;
  template <int Rows> using Depth = HalfTile<T, Rows, Sizes::depth, passing>;
  template <int Rows> using Width = HalfTile<T, Rows, Sizes::width, passing>;
};

template <typename Sizes, typename Reach, typename Changes, typename Result>
void attentionQueryGradientHalf(
    int block,
    const AttentionOperands<float, typename Sizes::Element> &operands,
    const Changes &changes, float scale, Result result, unsigned char *shared) {
  using T = typename Sizes::Element;
  using B = HalfBackward<Sizes>;
  using Query = typename B::template Depth<kHalfRows>;
  using Gradient = typename B::template Width<kHalfRows>;
  using Key = typename B::template Depth<B::passing>;
  using Value = typename B::template Width<B::passing>;
  BlockOfHead<Sizes::tokens, kHalfRows> place(block);
  int batch = place.head / Sizes::heads, head = place.head % Sizes::heads;
  int group = head / Sizes::headsInGroup;
  WarpScores<Sizes, Reach, Changes, true> scores(changes, batch, head, scale);
  auto *queries = reinterpret_cast<T *>(shared);
  T *gradients = queries + Query::bytes / sizeof(T);
  T *keys = gradients + Gradient::bytes / sizeof(T);
  T *values = keys + Key::bytes / sizeof(T);
  copyTokens<Query, Sizes::tokens, Sizes::heads, Sizes::depth>(
      queries, operands.query, Sizes::queryAt(batch, 0, head), place.first);
  copyTokens<Gradient, Sizes::tokens, Sizes::heads, Sizes::width>(
      gradients, operands.gradient, Sizes::resultAt(batch, 0, head),
      place.first);
  HalfSums<T, Query::columns> sums;
  const RowNumbers<Sizes> numbers(operands, batch, head, place.first);
  int begin = Reach::firstKey(place.first) / B::passing * B::passing;
  int end = scores.endKey(place.first + kHalfRows);
#pragma unroll 1
  for (int from = begin; from < end; from += B::passing) {
    copyTokens<Key, Sizes::keys, Sizes::groups, Sizes::depth>(
        keys, operands.key, Sizes::keyAt(batch, 0, group), from);
    copyTokens<Value, Sizes::keys, Sizes::groups, Sizes::width>(
        values, operands.value, Sizes::valueAt(batch, 0, group), from);
    commitCopies();
    waitForCopies<0>();
    barrier();
    HalfSums<T, B::passing> weights, scoreChanges;
    weights.template multiplyRows<Query, Key>(queries, rowOfWarp(), keys);
    scoreChanges.template multiplyRows<Gradient, Value>(gradients, rowOfWarp(),
                                                        values);
    const ScoreTile<true> tile{place.first, from};
    weighBackward(weights.sums, scoreChanges.sums, scores, tile, numbers,
                  scores.template kept<B::passing>(tile));
    sums.template multiplyColumns<Key>(scoreChanges, keys);
    barrier();
  }
  waitForCopies<0>();
  storeRows<T, Sizes::depth>(sums.sums, result, [&](int row) {
    int token = place.first + row;
    return token < Sizes::tokens ? Sizes::queryAt(batch, token, head) : -1ll;
  });
}

template <typename Sizes, typename Reach, typename Changes, typename KeyResult,
          typename ValueResult>
void attentionKeyGradientsHalf(
    int block,
    const AttentionOperands<float, typename Sizes::Element> &operands,
    const Changes &changes, float scale, KeyResult keyResult,
    ValueResult valueResult, unsigned char *shared) {
  using T = typename Sizes::Element;
  using B = HalfBackward<Sizes>;
  using Key = typename B::template Depth<kHalfRows>;
  using Value = typename B::template Width<kHalfRows>;
  using Query = typename B::template Depth<B::passing>;
  using Gradient = typename B::template Width<B::passing>;
  BlockOfHead<Sizes::keys, kHalfRows> place(block);
  int batch = place.head / Sizes::groups, group = place.head % Sizes::groups;
  auto *keys = reinterpret_cast<T *>(shared);
  T *values = keys + Key::bytes / sizeof(T);
  T *queries = values + Value::bytes / sizeof(T);
  T *gradients = queries + Query::bytes / sizeof(T);
  copyTokens<Key, Sizes::keys, Sizes::groups, Sizes::depth>(
      keys, operands.key, Sizes::keyAt(batch, 0, group), place.first);
  copyTokens<Value, Sizes::keys, Sizes::groups, Sizes::width>(
      values, operands.value, Sizes::valueAt(batch, 0, group), place.first);
  const PassingNumbers<Sizes, B::passing> numbers{
      reinterpret_cast<float *>(gradients + Gradient::bytes / sizeof(T))};
  // Of deep heads, registers hold the sums of one gradient alone.
  constexpr bool ofKeys = !isSame<KeyResult, Unused>;
  constexpr bool ofValues = !isSame<ValueResult, Unused>;
  HalfSums<T, ofKeys ? Key::columns : 16> keySums;
  HalfSums<T, ofValues ? Value::columns : 16> valueSums;
  int begin = Reach::firstQuery(place.first) / B::passing * B::passing;
  int end = Reach::endQuery(place.first + kHalfRows, Sizes::tokens);
#pragma unroll 1
  for (int number = 0; number < Sizes::headsInGroup; ++number) {
    int head = group * Sizes::headsInGroup + number;
    WarpScores<Sizes, Reach, Changes, false> scores(changes, batch, head,
                                                    scale);
#pragma unroll 1
    for (int from = begin; from < end; from += B::passing) {
      copyTokens<Query, Sizes::tokens, Sizes::heads, Sizes::depth>(
          queries, operands.query, Sizes::queryAt(batch, 0, head), from);
      copyTokens<Gradient, Sizes::tokens, Sizes::heads, Sizes::width>(
          gradients, operands.gradient, Sizes::resultAt(batch, 0, head), from);
      numbers.start(operands, batch, head, from);
      commitCopies();
      waitForCopies<0>();
      barrier();
      HalfSums<T, B::passing> weights, scoreChanges;
      weights.template multiplyRows<Key, Query>(keys, rowOfWarp(), queries);
      if constexpr (ofKeys)
        scoreChanges.template multiplyRows<Value, Gradient>(values, rowOfWarp(),
                                                            gradients);
      const ScoreTile<false> tile{place.first, from};
      weighBackward(weights.sums, scoreChanges.sums, scores, tile, numbers,
                    scores.template kept<B::passing>(tile));
      if constexpr (ofValues)
        valueSums.template multiplyColumns<Gradient>(weights, gradients);
      if constexpr (ofKeys)
        keySums.template multiplyColumns<Query>(scoreChanges, queries);
      barrier();
    }
  }
  waitForCopies<0>();
  if constexpr (ofKeys)
    storeRows<T, Sizes::depth>(keySums.sums, keyResult, [&](int row) {
      int token = place.first + row;
      return token < Sizes::keys ? Sizes::keyAt(batch, token, group) : -1ll;
    });
  if constexpr (ofValues)
    storeRows<T, Sizes::width>(valueSums.sums, valueResult, [&](int row) {
      int token = place.first + row;
      return token < Sizes::keys ? Sizes::valueAt(batch, token, group) : -1ll;
    });
}

} // namespace mp
