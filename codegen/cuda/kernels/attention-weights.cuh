//===- attention-weights.cuh - scores and weights in registers ------------===//
//
// What becomes of a tile of products between two products on tensor cores. Each
// warp has 16 rows, in the fragments of mma.m16n8k16, which warpgroups have
// too. Weights are powers of two: a score is kept as the number x whose
// `factor`-fold, less that of the row's largest, is the exponent.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "attention-any.cuh"

namespace mp {

inline int laneOfWarp() { return threadIdx.x % 32; }
inline int rowOfWarp() { return threadIdx.x / 32 * 16; }
/// The row and the column that element e of a lane's fragment of sums has.
inline int rowOfElement(int e) { return laneOfWarp() / 4 + e / 2 * 8; }
inline int columnOfElement(int e) { return laneOfWarp() % 4 * 2 + e % 2; }

/// Over the four lanes that share a row.
inline float sumOfFour(float value) {
  value = value + shuffleXor(value, 1);
  return value + shuffleXor(value, 2);
}
inline float largestOfFour(float value) {
  value = maximum(value, shuffleXor(value, 1));
  return maximum(value, shuffleXor(value, 2));
}

//===----------------------------------------------------------------------===//
// Which weights are kept
//===----------------------------------------------------------------------===//

struct AllKept {};
/// A bit for each element of a lane's fragments, by number: 4 * j + e.
template <int Columns> struct KeptBits {
  static constexpr int count = most(Columns / 64, 1);
  unsigned words[count] = {};

  bool has(int j, int e) const { return words[j / 8] >> (j % 8 * 4 + e) & 1; }
};

/// Where a tile of scores lies; its rows are queries, or else keys.
template <bool QueriesAreRows> struct ScoreTile {
  int row, column;
  int query(int r, int c) const {
    return QueriesAreRows ? row + r : column + c;
  }
  int key(int r, int c) const { return QueriesAreRows ? column + c : row + r; }
};

/// Draws for a tile. Four neighbouring keys share a block of random bits, if
/// their number lets them: then each of the four lanes that have them computes
/// a quarter of the blocks for all.
template <typename Sizes, int Columns, bool QueriesAreRows> struct TileDropout {
  static constexpr int perWord = min(Columns / 8, 8);
  const WeightDropout &dropout;
  long long firstRow; ///< of the head, in [batch, heads, tokens]

  KeptBits<Columns> kept(const ScoreTile<QueriesAreRows> &tile) const {
    KeptBits<Columns> bits;
    if constexpr (Sizes::keys % 4)
      drawEach(bits, tile);
    else if constexpr (QueriesAreRows)
      drawAlongRows(bits, tile);
    else
      drawDownColumns(bits, tile);
    return bits;
  }

private:
  using Tile = ScoreTile<QueriesAreRows>;
  long long indexOf(int query, int key) const {
    return (firstRow + query) * Sizes::keys + key;
  }
  /// Which block of random bits; the generator counts to 2^32.
  unsigned blockOf(int query, int key) const {
    unsigned row = static_cast<unsigned>(firstRow) + query;
    return row * static_cast<unsigned>(Sizes::keys / 4) + key / 4;
  }
  // Loops are not unrolled, as registers are few. A word has eight fragments.
  void drawEach(KeptBits<Columns> &bits, const Tile &tile) const {
#pragma unroll
    for (int word = 0; word < bits.count; ++word)
#pragma unroll 1
      for (int i = 0; i < perWord * 4; ++i) {
        int row = rowOfWarp() + rowOfElement(i % 4);
        int column = word * 64 + i / 4 * 8 + columnOfElement(i % 4);
        long long index =
            indexOf(tile.query(row, column), tile.key(row, column));
        bits.words[word] |= (dropout.keptOfFour(index >> 2) >> (index & 3) & 1)
                            << i;
      }
  }
  /// Two lanes have four keys of two queries: each draws for a query.
  void drawAlongRows(KeptBits<Columns> &bits, const Tile &tile) const {
    const int odd = laneOfWarp() % 2;
    const int row = rowOfWarp() + rowOfElement(odd * 2);
    const int column = columnOfElement(0) / 4 * 4;
#pragma unroll
    for (int word = 0; word < bits.count; ++word) {
      unsigned block =
          blockOf(tile.query(row, 0), tile.key(row, word * 64 + column));
      unsigned own = 0, other = 0;
#pragma unroll 2
      for (int i = 0; i < perWord; ++i) {
        unsigned four = dropout.keptOfFour(block + i * 2);
        own |= (four >> odd * 2 & 3) << i * 4;
        other |= (four >> (2 - odd * 2) & 3) << i * 4;
      }
      other = shuffled(other << odd * 2, 1);
      bits.words[word] = own << odd * 2 | other;
    }
  }
  /// Four lanes have four keys of four queries of a fragment, in elements e:
  /// each draws for one e.
  void drawDownColumns(KeptBits<Columns> &bits, const Tile &tile) const {
    const int turn = laneOfWarp() / 4 % 4;
    const int row = rowOfWarp() + laneOfWarp() / 16 * 4 + turn / 2 * 8;
#pragma unroll
    for (int word = 0; word < bits.count; ++word) {
      // For the lane that is `away` turns from this one.
      unsigned drawn[4] = {};
#pragma unroll 1
      for (int i = 0; i < perWord; ++i) {
        int column = word * 64 + i * 8 + columnOfElement(turn);
        unsigned four = dropout.keptOfFour(
            blockOf(tile.query(row, column), tile.key(row, column)));
#pragma unroll
        for (int away = 0; away < 4; ++away)
          drawn[away] |= (four >> (turn ^ away) & 1) << i * 4;
      }
      bits.words[word] = drawn[0] << turn;
#pragma unroll
      for (int away = 1; away < 4; ++away)
        bits.words[word] |= shuffled(drawn[away], away * 4) << (turn ^ away);
    }
  }
  static unsigned shuffled(unsigned value, int mask) {
    return static_cast<unsigned>(shuffleXor(static_cast<int>(value), mask));
  }
};

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// The scores of a head, for tiles of products of which a warp has 16 rows.
template <typename Sizes, typename Reach, typename Changes, bool QueriesAreRows>
class WarpScores {
public:
  using Tile = ScoreTile<QueriesAreRows>;
  static constexpr bool drops = Changes::drops;
  static constexpr float log2e = 1.44269504f;

  WarpScores(const Changes &changes, int batch, int head, float scale)
      : scores{changes, batch, head, scale} {}

  int endKey(int last) const { return scores.endKey(last); }
  float scale() const { return scores.scale; }
  /// The score of which x is kept. No product that is looked at is infinite,
  /// so that of others -inf is, if the unit is not zero.
  float unit() const {
    return Changes::changesScores ? 1.0f
                                  : most(absolute(scores.scale), 0x1p-100f);
  }
  float factor() const { return unit() * log2e; }

  /// Makes x of products: -inf of those that are not looked at.
  template <int Fragments>
  void enter(float (&x)[Fragments][4], const Tile &tile) const {
    if constexpr (Changes::changesScores) {
      forEach<Fragments>(tile, [&](int j, int e, int query, int key) {
        x[j][e] = scores(x[j][e], query, key);
      });
    } else {
      if (scores.scale < 0)
#pragma unroll
        for (int j = 0; j < Fragments; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            x[j][e] = -x[j][e];
      limit(x, tile, lowest<float>());
    }
  }
  /// Where scores are not looked at, zeros. Weights of zero tell that, too.
  template <int Fragments>
  void clear(float (&values)[Fragments][4],
             const float (&weights)[Fragments][4], const Tile &tile) const {
    if constexpr (Changes::changesScores) {
#pragma unroll
      for (int j = 0; j < Fragments; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          values[j][e] = weights[j][e] == 0 ? 0.0f : values[j][e];
    } else {
      limit(values, tile, 0.0f);
    }
  }
  /// The weight of a score less another, of which `shift` is made. Scores may
  /// be as large as numbers get where masks are added.
  float weight(float x, float shift) const {
    if constexpr (Changes::changesScores)
      return exp2Flushed((x - shift) * log2e);
    else
      return exp2Flushed(fma(x, factor(), -shift));
  }
  float shiftOf(float x) const {
    return Changes::changesScores ? x : x * factor();
  }
  float shiftOfSum(float logSumExp) const {
    return Changes::changesScores ? logSumExp : logSumExp * log2e;
  }

  template <int Columns> auto kept(const Tile &tile) const {
    if constexpr (Changes::drops) {
      long long row =
          (scores.batch * Sizes::heads + scores.head) * Sizes::tokens;
      return TileDropout<Sizes, Columns, QueriesAreRows>{scores.changes.dropout,
                                                         row}
          .kept(tile);
    } else {
      return AllKept{};
    }
  }
  float keptScale() const {
    return static_cast<float>(scores.changes.dropout.scale);
  }

private:
  template <int Fragments, typename Visit>
  static void forEach(const Tile &tile, const Visit &visit) {
#pragma unroll
    for (int j = 0; j < Fragments; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        int row = rowOfWarp() + rowOfElement(e),
            column = j * 8 + columnOfElement(e);
        visit(j, e, tile.query(row, column), tile.key(row, column));
      }
  }

  /// Whether a warp has scores in a tile that are not looked at.
  bool isAtAnEdge(const Tile &tile, int columns) const {
    int query = tile.query(rowOfWarp(), 0), key = tile.key(rowOfWarp(), 0);
    int queries = QueriesAreRows ? 16 : columns;
    int keys = QueriesAreRows ? columns : 16;
    return key + keys > scores.keys ||
           !Reach::allowsAll(query, queries, key, keys);
  }
  /// Sets values where scores are not looked at, row by row: columns from
  /// `first` up to `end` are.
  template <int Fragments>
  void limit(float (&values)[Fragments][4], const Tile &tile,
             float value) const {
    if (!isAtAnEdge(tile, Fragments * 8))
      return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      int row = tile.row + rowOfWarp() + rowOfElement(half * 2);
      int first, end;
      if constexpr (QueriesAreRows) {
        first = Reach::firstKey(row);
        end = Reach::endKey(row + 1, scores.keys);
      } else {
        first = Reach::firstQuery(row);
        end = row < scores.keys ? Reach::endQuery(row + 1, Sizes::tokens) : 0;
      }
      first -= tile.column + columnOfElement(0);
      end -= tile.column + columnOfElement(0);
#pragma unroll
      for (int j = 0; j < Fragments; ++j)
#pragma unroll
        for (int e = half * 2; e < half * 2 + 2; ++e)
          if (j * 8 + e % 2 < first || j * 8 + e % 2 >= end)
            values[j][e] = value;
    }
  }

  HeadScores<Sizes, Reach, Changes, float> scores;
};

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// The two rows of a lane in the forward pass: their largest scores, and this
/// lane's share of the sums of their weights.
struct LaneRows {
  float largest[2] = {lowest<float>(), lowest<float>()};
  float sum[2] = {};

  /// Makes weights of products; `factors` are those for what was summed.
  template <typename Scores, int Fragments>
  void weigh(const Scores &scores, const typename Scores::Tile &tile,
             float (&x)[Fragments][4], float (&factors)[2]) {
    scores.enter(x, tile);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int e = half * 2;
      float before = largest[half], now = maximum(x[0][e], x[0][e + 1]);
#pragma unroll
      for (int j = 1; j < Fragments; ++j)
        now = maximum(now, maximum(x[j][e], x[j][e + 1]));
      now = maximum(before, largestOfFour(now));
      largest[half] = now;
      // Without any key so far, nothing is taken off.
      float shift = now == lowest<float>() ? 0.0f : scores.shiftOf(now);
      factors[half] = scores.weight(before, shift);
      float total = sum[half] * factors[half];
#pragma unroll
      for (int j = 0; j < Fragments; ++j)
#pragma unroll
        for (int i = e; i < e + 2; ++i) {
          x[j][i] = scores.weight(x[j][i], shift);
          total = total + x[j][i];
        }
      sum[half] = total;
    }
  }
  /// Sums are of this lane alone until all tiles have passed.
  void finish() {
    sum[0] = sumOfFour(sum[0]);
    sum[1] = sumOfFour(sum[1]);
  }
  /// What sums are multiplied by in the end.
  float inverse(int half) const {
    return sum[half] == 0 ? 1.0f : 1.0f / sum[half];
  }
  template <typename Scores>
  float logSumExp(const Scores &scores, int half) const {
    return sum[half] == 0 ? 0.0f
                          : largest[half] * scores.unit() + logOf(sum[half]);
  }
};

/// Drops weights of a tile, or their gradients.
template <typename Scores, int Fragments>
void dropWeights(const Scores &, AllKept, float (&)[Fragments][4]) {}
template <typename Scores, int Columns, int Fragments>
void dropWeights(const Scores &scores, const KeptBits<Columns> &kept,
                 float (&values)[Fragments][4]) {
#pragma unroll
  for (int j = 0; j < Fragments; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      values[j][e] = kept.has(j, e) ? values[j][e] * scores.keptScale() : 0.0f;
}

/// Whether a tile has raised the largest score of a row; most do not.
inline bool anyRaised(const float (&factors)[2]) {
  return anyOfWarp(factors[0] != 1 || factors[1] != 1);
}
template <int Fragments>
void scaleRows(float (&sums)[Fragments][4], const float (&factors)[2]) {
#pragma unroll
  for (int j = 0; j < Fragments; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      sums[j][e] = sums[j][e] * factors[e / 2];
}

//===----------------------------------------------------------------------===//
// Weights of the backward pass
//===----------------------------------------------------------------------===//

/// The log_sum_exp and delta of a query.
struct QueryNumbers {
  float logSumExp, delta;
};
template <typename Sizes, typename T>
QueryNumbers numbersOf(const AttentionOperands<float, T> &operands, int batch,
                       int query, int head) {
  if (query >= Sizes::tokens)
    return {0, 0};
  long long at = Sizes::numberAt(batch, query, head);
  return {operands.logSumExp.load(at), operands.delta.load(at)};
}
/// Those of a lane's two rows.
template <typename Sizes> struct RowNumbers {
  template <typename T>
  RowNumbers(const AttentionOperands<float, T> &operands, int batch, int head,
             int first) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
      rows[half] = numbersOf<Sizes>(
          operands, batch, first + rowOfWarp() + rowOfElement(half * 2), head);
  }
  QueryNumbers operator()(int, int e) const { return rows[e / 2]; }

private:
  QueryNumbers rows[2];
};
/// Those of queries that pass by, in shared memory: all log_sum_exp, and then
/// all delta. By at least 2 * Passing threads.
template <typename Sizes, int Passing> struct PassingNumbers {
  static constexpr int bytes = 2 * Passing * sizeof(float);
  float *stage;

  /// Starts to copy those of queries from `first` on.
  template <typename T>
  void start(const AttentionOperands<float, T> &operands, int batch, int head,
             int first) const {
    int i = threadIdx.x, query = first + i % Passing;
    if (i < 2 * Passing)
      copyAsync<1>(stage + i, i < Passing ? operands.logSumExp : operands.delta,
                   Sizes::numberAt(batch, query, head), query < Sizes::tokens);
  }
  QueryNumbers operator()(int j, int e) const {
    const float *two = stage + j * 8 + columnOfElement(0);
    using Two = Vector<float, 2>;
    return {reinterpret_cast<const Two *>(two)->items[e % 2],
            reinterpret_cast<const Two *>(two + Passing)->items[e % 2]};
  }
};

/// Makes weights of products of queries and keys, and gradients of scores of
/// products of values and gradients.
template <typename Scores, int Fragments, typename Numbers, typename Kept>
void weighBackward(float (&weights)[Fragments][4],
                   float (&changes)[Fragments][4], const Scores &scores,
                   const typename Scores::Tile &tile, const Numbers &numbers,
                   const Kept &kept) {
  dropWeights(scores, kept, changes);
  scores.enter(weights, tile);
#pragma unroll
  for (int j = 0; j < Fragments; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const QueryNumbers own = numbers(j, e);
      float weight =
          scores.weight(weights[j][e], scores.shiftOfSum(own.logSumExp));
      weights[j][e] = weight;
      changes[j][e] = weight * scores.scale() * (changes[j][e] - own.delta);
    }
  scores.clear(changes, weights, tile);
  dropWeights(scores, kept, weights);
}

/// 16 columns of sums as a left operand.
template <typename T, int Fragments>
void packLeft(unsigned (&a)[4], const float (&sums)[Fragments][4], int k) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float *two = &sums[k / 8 + i / 2][i % 2 * 2];
    a[i] = packPair<T>(two[0], two[1]);
  }
}

/// Rounds sums to tokens: `at(row)` is where a row begins, or negative.
template <typename T, long long Existing, int Fragments, typename Result,
          typename At>
void storeRows(const float (&sums)[Fragments][4], const Result &result,
               const At &at) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    long long begin = at(rowOfWarp() + rowOfElement(half * 2));
    if (begin < 0)
      continue;
#pragma unroll
    for (int j = 0; j < Fragments; ++j) {
      const int e = half * 2, column = j * 8 + columnOfElement(0);
      if constexpr (Existing % 2 == 0) {
        if (column < Existing)
          result.template storeVector<2>(
              begin + column,
              Vector<T, 2>{roundTo<T>(sums[j][e]), roundTo<T>(sums[j][e + 1])});
      } else {
        for (int i = 0; i < 2; ++i)
          if (column + i < Existing)
            result.store(begin + column + i, roundTo<T>(sums[j][e + i]));
      }
    }
  }
}

/// Stores the results of the forward pass.
template <typename Sizes, typename Scores, int Fragments, typename Result,
          typename Numbers>
void finishRows(LaneRows &rows, const Scores &scores,
                float (&sums)[Fragments][4], int batch, int head, int first,
                const Result &result, const Numbers &logSumExp) {
  rows.finish();
  const float inverses[2] = {rows.inverse(0), rows.inverse(1)};
  scaleRows(sums, inverses);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    int token = first + rowOfWarp() + rowOfElement(half * 2);
    if (token < Sizes::tokens && laneOfWarp() % 4 == 0)
      logSumExp.store(Sizes::numberAt(batch, token, head),
                      rows.logSumExp(scores, half));
  }
  storeRows<typename Sizes::Element, Sizes::width>(sums, result, [&](int row) {
    int token = first + row;
    return token < Sizes::tokens ? Sizes::resultAt(batch, token, head) : -1ll;
  });
}

} // namespace mp
