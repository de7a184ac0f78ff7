//===- attention-any.cuh - attention in any type --------------------------===//
//
// A block has 256 threads, 16 by 16, and tiles of 32 queries and 32 keys. A
// thread has 2 x 2 scores, two rows apart by 16, and the elements of two rows
// of a result whose columns are 16 apart. Operands come through shared memory
// in the type that sums have, 32 rows of 32 elements at a time.
//
// Registers hold the sums of so many columns of a result. Where heads are
// wider, several blocks have the same rows, and each computes its weights anew.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "attention.cuh"

namespace mp {

constexpr int kAnyTile = 32;

/// The columns of a result that a block has.
template <typename S> constexpr int kAnyColumns = 2048 / sizeof(S);

/// A tile in shared memory, whose rows begin in different banks.
template <typename S> struct AnyTile {
  S (*rows)[kAnyTile + 1];
  static constexpr int bytes = kAnyTile * (kAnyTile + 1) * sizeof(S);

  AnyTile(unsigned char *shared, int number)
      : rows(reinterpret_cast<S (*)[kAnyTile + 1]>(shared + number * bytes)) {}
  S &operator()(int row, int column) const { return rows[row][column]; }

  /// Fills it from element(row, column), by the whole block.
  template <typename Element> void fill(const Element &element) const {
#pragma unroll
    for (int i = 0; i < kAnyTile * kAnyTile / 256; ++i) {
      int place = threadIdx.x + i * 256;
      rows[place / kAnyTile][place % kAnyTile] =
          element(place / kAnyTile, place % kAnyTile);
    }
  }
};

inline int anyRow(int i) { return threadIdx.x / 16 + i * 16; }
inline int anyColumn(int j) { return threadIdx.x % 16 + j * 16; }

/// sums = the products of 32 rows a(row, d) and 32 rows b(row, d), of `Depth`
/// elements. `first` and `second` are tiles that no one else reads.
template <long long Depth, typename S, typename A, typename B>
void multiplyRows(S (&sums)[2][2], const AnyTile<S> &first,
                  const AnyTile<S> &second, const A &a, const B &b) {
  sums[0][0] = sums[0][1] = sums[1][0] = sums[1][1] = 0;
#pragma unroll 1
  for (long long from = 0; from < Depth; from += kAnyTile) {
    barrier();
    first.fill([&](int row, int d) {
      return from + d < Depth ? a(row, from + d) : S(0);
    });
    second.fill([&](int row, int d) {
      return from + d < Depth ? b(row, from + d) : S(0);
    });
    barrier();
#pragma unroll 8
    for (int d = 0; d < kAnyTile; ++d)
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j)
          sums[i][j] =
              fma(first(anyRow(i), d), second(anyColumn(j), d), sums[i][j]);
  }
}

/// The elements of two rows of a result with `Width` columns, from column
/// `first` on.
template <typename S, long long Width> struct AnySums {
  static constexpr int pieces =
      ceilDivide(min(Width, (long long)kAnyColumns<S>), 16);
  int first;
  S sums[2][pieces] = {};

  explicit AnySums(int part) : first(part * kAnyColumns<S>) {}

  /// Adds the products of a tile of weights and 32 rows, row(key, column).
  template <typename Row>
  void add(const AnyTile<S> &weights, const AnyTile<S> &staged,
           const Row &row) {
#pragma unroll
    for (int from = 0; from < pieces * 16; from += kAnyTile) {
      barrier();
      staged.fill([&](int key, int column) {
        long long at = first + from + column;
        return at < Width ? row(key, at) : S(0);
      });
      barrier();
#pragma unroll 8
      for (int key = 0; key < kAnyTile; ++key)
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < 2; ++j)
            if (from / 16 + j < pieces) {
              S &sum = sums[i][from / 16 + j < pieces ? from / 16 + j : 0];
              sum =
                  fma(weights(anyRow(i), key), staged(key, anyColumn(j)), sum);
            }
    }
  }
  /// Calls store(i, column, sum) for all elements, of the thread's row i.
  template <typename Store> void forEach(const Store &store) const {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < pieces; ++j)
        if (first + anyColumn(j) < Width)
          store(i, first + anyColumn(j), sums[i][j]);
  }
};

/// Rounds a sum to an element.
template <typename T> T roundSum(float sum) { return roundTo<T>(sum); }
template <typename T> T roundSum(double sum) { return static_cast<T>(sum); }

/// Elements as sums have them; zeros past the last token.
template <typename S, typename T>
S elementOr0(bool exists, Global<T> source, long long index) {
  return exists ? static_cast<S>(wide(source.load(index))) : S(0);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// Which tile of which head a block has.
template <long long Items, int Tile> struct BlockOfHead {
  static constexpr int tiles = ceilDivide(Items, Tile);
  int first;
  int head; ///< of all batch entries

  explicit BlockOfHead(int block)
      : first(block % tiles * Tile), head(block / tiles) {}
};

/// The same where blocks next to each other have parts of the columns.
template <long long Items, typename S, long long Columns>
struct BlockOfColumns {
  static constexpr int parts = ceilDivide(Columns, kAnyColumns<S>);
  int part;
  BlockOfHead<Items, kAnyTile> tile;

  explicit BlockOfColumns(int block)
      : part(block % parts), tile(block / parts) {}
};

/// The sum or the largest over the 16 threads of a row.
template <typename S> S sumOfRow(S value) {
#pragma unroll
  for (int mask = 8; mask > 0; mask /= 2)
    value = value + shuffleXor(value, mask);
  return value;
}
template <typename S> S largestOfRow(S value) {
#pragma unroll
  for (int mask = 8; mask > 0; mask /= 2) {
    S other = shuffleXor(value, mask);
    value = other > value ? other : value;
  }
  return value;
}

template <typename Sizes, typename Reach, typename S, typename Q, typename K,
          typename V, typename Changes, typename Result, typename Numbers>
void attentionForwardAny(int block, Q query, K key, V value,
                         const Changes &changes, S scale, Result result,
                         Numbers logSumExp, unsigned char *shared) {
  using T = typename Sizes::Element;
  BlockOfColumns<Sizes::tokens, S, Sizes::width> own(block);
  const auto place = own.tile;
  int batch = place.head / Sizes::heads, head = place.head % Sizes::heads;
  int group = head / Sizes::headsInGroup;
  HeadScores<Sizes, Reach, Changes, S> scores{changes, batch, head, scale};
  AnyTile<S> first(shared, 0), second(shared, 1), weights(shared, 2);
  RowTotals<S> totals[2];
  AnySums<S, Sizes::width> sums(own.part);

  int end = scores.endKey(place.first + kAnyTile);
  int begin = Reach::firstKey(place.first) / kAnyTile * kAnyTile;
#pragma unroll 1
  for (int from = begin; from < end; from += kAnyTile) {
    S products[2][2];
    multiplyRows<Sizes::depth>(
        products, first, second,
        [&](int row, long long d) {
          int token = place.first + row;
          return elementOr0<S>(token < Sizes::tokens, query,
                               Sizes::queryAt(batch, token, head) + d);
        },
        [&](int row, long long d) {
          int token = from + row;
          return elementOr0<S>(token < Sizes::keys, key,
                               Sizes::keyAt(batch, token, group) + d);
        });
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      int token = place.first + anyRow(i);
      S score[2], largest = lowest<S>();
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        score[j] = scores(products[i][j], token, from + anyColumn(j));
        largest = score[j] > largest ? score[j] : largest;
      }
      S factor = totals[i].raise(largestOfRow(largest)), sum = 0;
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        S weight = weightOf(score[j] - totals[i].shift());
        weights(anyRow(i), anyColumn(j)) =
            scores.drop(weight, token, from + anyColumn(j));
        sum = sum + weight;
      }
      totals[i].sum = totals[i].sum * factor + sumOfRow(sum);
#pragma unroll
      for (int j = 0; j < sums.pieces; ++j)
        sums.sums[i][j] = sums.sums[i][j] * factor;
    }
    sums.add(weights, second, [&](int row, long long column) {
      int token = from + row;
      return elementOr0<S>(token < Sizes::keys, value,
                           Sizes::valueAt(batch, token, group) + column);
    });
  }
  sums.forEach([&](int i, int column, S sum) {
    int token = place.first + anyRow(i);
    if (token < Sizes::tokens)
      result.store(Sizes::resultAt(batch, token, head) + column,
                   roundSum<T>(sum / totals[i].divisor()));
  });
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    int token = place.first + anyRow(i);
    if (token < Sizes::tokens && threadIdx.x % 16 == 0 && own.part == 0)
      logSumExp.store(Sizes::numberAt(batch, token, head),
                      totals[i].logSumExp());
  }
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// What the backward pass reads of a query, and its operands.
template <typename S, typename T> struct AttentionOperands {
  Global<T> gradient, query, key, value;
  Global<S> logSumExp, delta;
};

/// Adds to gradients what a tile of queries and keys of a head gives. Rows of
/// scores are keys where `KeysAreRows`, else queries.
template <typename Sizes, typename Reach, typename Changes, typename S,
          bool KeysAreRows>
struct AnyBackward {
  using T = typename Sizes::Element;
  const AttentionOperands<S, T> &from;
  HeadScores<Sizes, Reach, Changes, S> scores;
  AnyTile<S> first, second, weights, changes;

  int group() const { return scores.head / Sizes::headsInGroup; }
  S queryElement(int token, long long d) const {
    return elementOr0<S>(token < Sizes::tokens, from.query,
                         Sizes::queryAt(scores.batch, token, scores.head) + d);
  }
  S gradientElement(int token, long long d) const {
    return elementOr0<S>(token < Sizes::tokens, from.gradient,
                         Sizes::resultAt(scores.batch, token, scores.head) + d);
  }
  S keyElement(int token, long long d) const {
    return elementOr0<S>(token < Sizes::keys, from.key,
                         Sizes::keyAt(scores.batch, token, group()) + d);
  }
  S valueElement(int token, long long d) const {
    return elementOr0<S>(token < Sizes::keys, from.value,
                         Sizes::valueAt(scores.batch, token, group()) + d);
  }

  /// Fills `weights` and `changes`, the gradients of the scores.
  void weigh(int firstQuery, int firstKey) const {
    S products[2][2], gradients[2][2];
    auto query = [&](int row, long long d) {
      return queryElement(firstQuery + row, d);
    };
    auto key = [&](int row, long long d) {
      return keyElement(firstKey + row, d);
    };
    auto gradient = [&](int row, long long d) {
      return gradientElement(firstQuery + row, d);
    };
    auto value = [&](int row, long long d) {
      return valueElement(firstKey + row, d);
    };
    if constexpr (KeysAreRows) {
      multiplyRows<Sizes::depth>(products, first, second, key, query);
      multiplyRows<Sizes::width>(gradients, first, second, value, gradient);
    } else {
      multiplyRows<Sizes::depth>(products, first, second, query, key);
      multiplyRows<Sizes::width>(gradients, first, second, gradient, value);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        int query = firstQuery + (KeysAreRows ? anyColumn(j) : anyRow(i));
        int key = firstKey + (KeysAreRows ? anyRow(i) : anyColumn(j));
        S weight = 0, change = 0;
        S score = scores(products[i][j], query, key);
        if (score != lowest<S>()) {
          long long at = Sizes::numberAt(scores.batch, query, scores.head);
          weight = weightOf(score - from.logSumExp.load(at));
          change = scores.drop(gradients[i][j], query, key);
          change = weight * (change - from.delta.load(at)) * scores.scale;
          weight = scores.drop(weight, query, key);
        }
        weights(anyRow(i), anyColumn(j)) = weight;
        changes(anyRow(i), anyColumn(j)) = change;
      }
  }
};

template <typename Sizes, typename Reach, typename S, typename Changes,
          typename Result>
void attentionQueryGradientAny(
    int block, const AttentionOperands<S, typename Sizes::Element> &operands,
    const Changes &changes, S scale, Result result, unsigned char *shared) {
  using T = typename Sizes::Element;
  BlockOfColumns<Sizes::tokens, S, Sizes::depth> own(block);
  const auto place = own.tile;
  int batch = place.head / Sizes::heads, head = place.head % Sizes::heads;
  AnyBackward<Sizes, Reach, Changes, S, false> tile{
      operands,    {changes, batch, head, scale},
      {shared, 0}, {shared, 1},
      {shared, 2}, {shared, 3}};
  AnySums<S, Sizes::depth> sums(own.part);
  int end = tile.scores.endKey(place.first + kAnyTile);
  int begin = Reach::firstKey(place.first) / kAnyTile * kAnyTile;
#pragma unroll 1
  for (int from = begin; from < end; from += kAnyTile) {
    tile.weigh(place.first, from);
    sums.add(tile.changes, tile.second, [&](int row, long long column) {
      return tile.keyElement(from + row, column);
    });
  }
  sums.forEach([&](int i, int column, S sum) {
    int token = place.first + anyRow(i);
    if (token < Sizes::tokens)
      result.store(Sizes::queryAt(batch, token, head) + column,
                   roundSum<T>(sum));
  });
}

template <typename Sizes, typename Reach, typename S, typename Changes,
          typename KeyResult, typename ValueResult>
void attentionKeyGradientsAny(
    int block, const AttentionOperands<S, typename Sizes::Element> &operands,
    const Changes &changes, S scale, KeyResult keyResult,
    ValueResult valueResult, unsigned char *shared) {
  using T = typename Sizes::Element;
  constexpr bool ofKeys = !isSame<KeyResult, Unused>;
  constexpr bool ofValues = !isSame<ValueResult, Unused>;
  constexpr long long columns =
      most(ofKeys ? Sizes::depth : 0, ofValues ? Sizes::width : 0);
  BlockOfColumns<Sizes::keys, S, columns> own(block);
  const auto place = own.tile;
  int batch = place.head / Sizes::groups, group = place.head % Sizes::groups;
  AnySums<S, Sizes::depth> keySums(own.part);
  AnySums<S, Sizes::width> valueSums(own.part);
#pragma unroll 1
  for (int number = 0; number < Sizes::headsInGroup; ++number) {
    int head = group * Sizes::headsInGroup + number;
    AnyBackward<Sizes, Reach, Changes, S, true> tile{
        operands,    {changes, batch, head, scale},
        {shared, 0}, {shared, 1},
        {shared, 2}, {shared, 3}};
    int end = Reach::endQuery(place.first + kAnyTile, Sizes::tokens);
    int begin = Reach::firstQuery(place.first) / kAnyTile * kAnyTile;
#pragma unroll 1
    for (int from = begin; from < end; from += kAnyTile) {
      tile.weigh(from, place.first);
      if constexpr (ofValues)
        valueSums.add(tile.weights, tile.second,
                      [&](int row, long long column) {
                        return tile.gradientElement(from + row, column);
                      });
      if constexpr (ofKeys)
        keySums.add(tile.changes, tile.second, [&](int row, long long column) {
          return tile.queryElement(from + row, column);
        });
    }
  }
  keySums.forEach([&](int i, int column, S sum) {
    int token = place.first + anyRow(i);
    if (token < Sizes::keys)
      keyResult.store(Sizes::keyAt(batch, token, group) + column,
                      roundSum<T>(sum));
  });
  valueSums.forEach([&](int i, int column, S sum) {
    int token = place.first + anyRow(i);
    if (token < Sizes::keys)
      valueResult.store(Sizes::valueAt(batch, token, group) + column,
                        roundSum<T>(sum));
  });
}

} // namespace mp
