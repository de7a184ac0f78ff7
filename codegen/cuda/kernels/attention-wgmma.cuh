//===- attention-wgmma.cuh - attention by Hopper's warpgroups -------------===//
//
// f16 and bf16 where warpgroups multiply what lies in shared memory. Each has
// 64 rows of scores, in the fragments of attention-weights.cuh; weights are a
// left operand in the registers that they are made in. What passes by comes
// through a ring of stages. Only for sm_90.
//
// Tiles are GroupTiles<Groups, Passing, Stages>: warpgroups of a block, tokens
// that pass by at a time, and stages.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "attention-weights.cuh"

namespace mp {

template <int Groups, int Passing, int Stages> struct GroupTiles {
  static constexpr int rows = Groups * 64, threads = Groups * 128;
  static constexpr int passing = Passing, stages = Stages;
};

/// A tile of `Rows` tokens, as wide as whole panels.
template <typename T, int Rows, long long Columns>
using TokenTile = PanelTile<T, Rows, Columns <= 64 ? 64 : 128>;

/// Which tile of which head a block has. Where some tiles have more work than
/// others, the blocks that start last have the least.
template <typename Reach, long long Items, int Rows, int Heads,
          bool LastIsLongest>
struct BlockOfHeads {
  static constexpr int tiles = ceilDivide(Items, Rows);
  int first;
  int head; ///< of all batch entries

  // Without a sign, dividing by what is no power of two takes a register less.
  explicit BlockOfHeads(int block) {
    int tile = Reach::isCausal ? block / Heads : unsigned(block) % tiles;
    head = Reach::isCausal ? block % Heads : unsigned(block) / tiles;
    first = (Reach::isCausal && LastIsLongest ? tiles - 1 - tile : tile) * Rows;
  }
};

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Copies a tile that stays.
template <typename Tile, int Threads, long long Tokens, long long Heads,
          long long Columns>
void copyOnce(typename Tile::Element *tile,
              Global<typename Tile::Element> source, long long first, int row) {
  TileCopy<Tile, Threads, Tokens, Columns, true, Heads * Columns>(source, first,
                                                                  row, 0)
      .start(tile);
}

/// Pairs of tiles of two tensors of as many tokens and heads, one pair after
/// another. The ring has a pair whose products begin, the one before it, whose
/// products end, and those that are on their way.
template <typename First, typename Second, typename Tiles, long long Tokens,
          long long Heads, long long FirstColumns, long long SecondColumns>
class PairRing {
  using T = typename First::Element;
  template <typename Tile, long long Columns>
  using Copy =
      TileCopy<Tile, Tiles::threads, Tokens, Columns, true, Heads * Columns>;

public:
  static constexpr int stageBytes = First::bytes + Second::bytes;
  static constexpr int bytes = stageBytes * Tiles::stages;
  /// Pairs on their way while one is multiplied.
  static constexpr int ahead = Tiles::stages - 2;
  static_assert(ahead >= 1, "stages");

  /// `head` is the first of the head's rows in both tensors, and `row` that of
  /// its tokens which comes first.
  PairRing(unsigned char *shared, Global<T> first, Global<T> second, int head,
           int row, int count)
      : first(first), second(second), shared(shared), head(head), row(row),
        left(count) {}

  void begin() {
#pragma unroll 1
    for (int i = 0; i < ahead; ++i)
      startNext();
  }
  /// A group of copies ends, whether there is another pair or not.
  void startNext() {
    // Where they lie is computed again, as registers are few.
    if (left > 0) {
      Copy<First, FirstColumns>(first, head * FirstColumns, row, 0)
          .start(reinterpret_cast<T *>(shared + into));
      Copy<Second, SecondColumns>(second, head * SecondColumns, row, 0)
          .start(reinterpret_cast<T *>(shared + into + First::bytes));
    }
    commitCopies();
    row += Tiles::passing;
    --left;
    into = after(into);
  }
  /// Waits for the next pair; all warps have multiplied the one before the
  /// last.
  void arrive() {
    waitForCopies<ahead - 1>();
    publishShared();
    barrier();
  }
  void advance() { from = after(from); }

  const T *firstTile() const { return reinterpret_cast<T *>(shared + from); }
  const T *secondTile() const {
    return reinterpret_cast<T *>(shared + from + First::bytes);
  }
  /// Which stages these, and the pair that starts next, are in.
  int stage() const { return from / stageBytes; }
  int nextStage() const { return into / stageBytes; }
  bool hasNext() const { return left > 0; }
  int nextRow() const { return row; }

private:
  static int after(int stage) {
    return stage + stageBytes == bytes ? 0 : stage + stageBytes;
  }

  Global<T> first, second;
  unsigned char *shared;
  int head, row;
  int left;               ///< pairs that are not yet started
  int from = 0, into = 0; ///< where the stages lie in `shared`
};

/// The rows of a warpgroup, from `row` on, as an operand.
template <typename Tile>
SharedMatrix rowsOf(const typename Tile::Element *tile, int row = 0) {
  return {tile + row * Tile::pitch, Tile::panelBytes, 8 * 128};
}
inline int rowOfGroup() { return threadIdx.x / 128 * 64; }

/// Where 16 elements of a tile's rows lie, k from the first.
template <typename Tile> constexpr int alongRows(int k) {
  return k / 64 * Tile::panelBytes + k % 64 * 2;
}

/// sums = the products of 64 rows of `left` and all rows of `right`, along the
/// `Depth` elements that are not padding.
template <typename Left, typename Right, int Depth, int Fragments>
void multiplyAlong(float (&sums)[Fragments][4], SharedMatrix left,
                   SharedMatrix right) {
  using T = typename Left::Element;
  constexpr int width = Fragments * 8;
  multiplyMatrices<T, width, false, false, false>(sums, left, right);
#pragma unroll
  for (int k = 16; k < Depth; k += 16)
    multiplyMatrices<T, width, false, false>(
        sums, left.further(alongRows<Left>(k)),
        right.further(alongRows<Right>(k)));
}
/// sums += the products of weights and the rows of `right`.
template <typename Right, int Fragments, int Steps>
void multiplyWeights(float (&sums)[Fragments][4],
                     const unsigned (&weights)[Steps][4], SharedMatrix right) {
  static_assert(Right::columns == Fragments * 8 && Right::rows == Steps * 16,
                "a product of weights");
#pragma unroll
  for (int step = 0; step < Steps; ++step)
    multiplyMatrices<typename Right::Element, Fragments * 8, true>(
        sums, weights[step], right.further(step * 16 * 128));
}
template <typename T, int Steps, int Fragments>
void packWeights(unsigned (&packed)[Steps][4],
                 const float (&weights)[Fragments][4]) {
#pragma unroll
  for (int step = 0; step < Steps; ++step)
    packLeft<T>(packed[step], weights, step * 16);
}
constexpr int wholeSteps(long long size) { return ceilDivide(size, 16) * 16; }

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

template <typename Sizes, typename Reach, typename Tiles, typename Changes,
          typename Result, typename Numbers>
void attentionForwardGroups(int block, Global<typename Sizes::Element> query,
                            Global<typename Sizes::Element> key,
                            Global<typename Sizes::Element> value,
                            const Changes &changes, float scale, Result result,
                            Numbers logSumExp, unsigned char *shared) {
  using T = typename Sizes::Element;
  using Query = TokenTile<T, Tiles::rows, Sizes::depth>;
  using Key = TokenTile<T, Tiles::passing, Sizes::depth>;
  using Value = TokenTile<T, Tiles::passing, Sizes::width>;
  constexpr int depth = wholeSteps(Sizes::depth);
  BlockOfHeads<Reach, Sizes::tokens, Tiles::rows, Sizes::batch * Sizes::heads,
               true>
      place(block);
  int batch = place.head / Sizes::heads, head = place.head % Sizes::heads;
  int group = head / Sizes::headsInGroup;
  WarpScores<Sizes, Reach, Changes, true> scores(changes, batch, head, scale);
  int from = Reach::firstKey(place.first) / Tiles::passing * Tiles::passing;
  int end = scores.endKey(place.first + Tiles::rows);
  int count = ceilDivide(end - from, Tiles::passing);

  LaneRows rows;
  float sums[Value::columns / 8][4] = {};
  if (count > 0) {
    copyOnce<Query, Tiles::threads, Sizes::tokens, Sizes::heads, Sizes::depth>(
        reinterpret_cast<T *>(shared), query, Sizes::queryAt(batch, 0, head),
        place.first);
    PairRing<Key, Value, Tiles, Sizes::keys, Sizes::groups, Sizes::depth,
             Sizes::width>
        ring(shared + Query::bytes, key, value, Sizes::keyRow(batch, group),
             from, count);
    const SharedMatrix queries =
        rowsOf<Query>(reinterpret_cast<T *>(shared), rowOfGroup());
    ring.begin();
    unsigned packed[Tiles::passing / 16][4];
    float factors[2];
    ScoreTile<true> tile{place.first, from};
    auto weigh = [&](float (&weights)[Tiles::passing / 8][4],
                     const auto &kept) {
      rows.weigh(scores, tile, weights, factors);
      dropWeights(scores, kept, weights);
      tile.column += Tiles::passing;
    };

    ring.arrive();
    {
      float weights[Tiles::passing / 8][4];
      beginGroups();
      multiplyAlong<Query, Key, depth>(weights, queries,
                                       rowsOf<Key>(ring.firstTile()));
      commitGroup();
      ring.startNext();
      const auto kept = scores.template kept<Tiles::passing>(tile);
      waitForGroups<0>();
      weigh(weights, kept);
      packWeights<T>(packed, weights);
    }
    // A tile's products with values go on while the next one's weights are
    // made.
#pragma unroll 1
    for (int number = 1; number < count; ++number) {
      const SharedMatrix values = rowsOf<Value>(ring.secondTile());
      ring.advance();
      ring.arrive();
      float weights[Tiles::passing / 8][4];
      beginGroups();
      multiplyAlong<Query, Key, depth>(weights, queries,
                                       rowsOf<Key>(ring.firstTile()));
      commitGroup();
      multiplyWeights<Value>(sums, packed, values);
      commitGroup();
      const auto kept = scores.template kept<Tiles::passing>(tile);
      waitForGroups<1>();
      weigh(weights, kept);
      // Its branch keeps the weights before the wait: without one, ptxas waits
      // first.
      ring.startNext();
      waitForGroups<0>();
      if (anyRaised(factors))
        scaleRows(sums, factors);
      packWeights<T>(packed, weights);
    }
    beginGroups();
    multiplyWeights<Value>(sums, packed, rowsOf<Value>(ring.secondTile()));
    commitGroup();
    waitForCopies<0>();
    waitForGroups<0>();
  }
  finishRows<Sizes>(rows, scores, sums, batch, head, place.first, result,
                    logSumExp);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// The tiles of a block of the backward pass: rows that stay, and those that
/// pass by.
template <typename Sizes, typename Tiles> struct GroupBackward {
  using T = typename Sizes::Element;
  using DepthRows = TokenTile<T, Tiles::rows, Sizes::depth>;
  using WidthRows = TokenTile<T, Tiles::rows, Sizes::width>;
  using DepthPassing = TokenTile<T, Tiles::passing, Sizes::depth>;
  using WidthPassing = TokenTile<T, Tiles::passing, Sizes::width>;
  static constexpr int depth = wholeSteps(Sizes::depth);
  static constexpr int width = wholeSteps(Sizes::width);
  static constexpr int rowBytes = DepthRows::bytes + WidthRows::bytes;
  template <long long Tokens, long long Heads>
  using Ring = PairRing<DepthPassing, WidthPassing, Tiles, Tokens, Heads,
                        Sizes::depth, Sizes::width>;
  using Packed = unsigned[Tiles::passing / 16][4];

  /// The rows that stay.
  T *depthRows, *widthRows;
  explicit GroupBackward(unsigned char *shared)
      : depthRows(reinterpret_cast<T *>(shared)),
        widthRows(reinterpret_cast<T *>(shared + DepthRows::bytes)) {}

  /// Begins the products of rows with the pair that passes by: those that are
  /// scores, and those that are gradients of weights.
  template <typename Ring, int Fragments>
  void multiply(float (&scores)[Fragments][4], float (&changes)[Fragments][4],
                const Ring &ring) const {
    beginGroups();
    multiplyAlong<DepthRows, DepthPassing, depth>(
        scores, rowsOf<DepthRows>(depthRows, rowOfGroup()),
        rowsOf<DepthPassing>(ring.firstTile()));
    multiplyAlong<WidthRows, WidthPassing, width>(
        changes, rowsOf<WidthRows>(widthRows, rowOfGroup()),
        rowsOf<WidthPassing>(ring.secondTile()));
    commitGroup();
  }
};

template <typename Sizes, typename Reach, typename Tiles, typename Changes,
          typename Result>
void attentionQueryGradientGroups(
    int block,
    const AttentionOperands<float, typename Sizes::Element> &operands,
    const Changes &changes, float scale, Result result, unsigned char *shared) {
  using T = typename Sizes::Element;
  using B = GroupBackward<Sizes, Tiles>;
  BlockOfHeads<Reach, Sizes::tokens, Tiles::rows, Sizes::batch * Sizes::heads,
               true>
      place(block);
  int batch = place.head / Sizes::heads, head = place.head % Sizes::heads;
  int group = head / Sizes::headsInGroup;
  WarpScores<Sizes, Reach, Changes, true> scores(changes, batch, head, scale);
  int from = Reach::firstKey(place.first) / Tiles::passing * Tiles::passing;
  int end = scores.endKey(place.first + Tiles::rows);
  int count = ceilDivide(end - from, Tiles::passing);

  float sums[B::DepthRows::columns / 8][4] = {};
  if (count > 0) {
    const B tiles(shared);
    copyOnce<typename B::DepthRows, Tiles::threads, Sizes::tokens, Sizes::heads,
             Sizes::depth>(tiles.depthRows, operands.query,
                           Sizes::queryAt(batch, 0, head), place.first);
    copyOnce<typename B::WidthRows, Tiles::threads, Sizes::tokens, Sizes::heads,
             Sizes::width>(tiles.widthRows, operands.gradient,
                           Sizes::resultAt(batch, 0, head), place.first);
    typename B::template Ring<Sizes::keys, Sizes::groups> ring(
        shared + B::rowBytes, operands.key, operands.value,
        Sizes::keyRow(batch, group), from, count);
    ring.begin();
    const RowNumbers<Sizes> numbers(operands, batch, head, place.first);
    typename B::Packed packed;
#pragma unroll 1
    for (int number = 0; number < count; ++number) {
      const ScoreTile<true> tile{place.first, from + number * Tiles::passing};
      float weights[Tiles::passing / 8][4], scoreChanges[Tiles::passing / 8][4];
      ring.arrive();
      waitForGroups<0>();
      tiles.multiply(weights, scoreChanges, ring);
      ring.startNext();
      const auto kept = scores.template kept<Tiles::passing>(tile);
      waitForGroups<0>();
      weighBackward(weights, scoreChanges, scores, tile, numbers, kept);
      packWeights<T>(packed, scoreChanges);
      // These products go on while the next ones begin.
      beginGroups();
      multiplyWeights<typename B::DepthPassing>(
          sums, packed, rowsOf<typename B::DepthPassing>(ring.firstTile()));
      commitGroup();
      ring.advance();
    }
    waitForCopies<0>();
    waitForGroups<0>();
  }
  storeRows<T, Sizes::depth>(sums, result, [&](int row) {
    int token = place.first + row;
    return token < Sizes::tokens ? Sizes::queryAt(batch, token, head) : -1ll;
  });
}

/// What the blocks of keys have summed up.
template <typename Sizes, typename Tiles, bool OfKeys, bool OfValues>
struct KeySums {
  using T = typename Sizes::Element;
  using B = GroupBackward<Sizes, Tiles>;
  float keys[OfKeys ? B::DepthRows::columns / 8 : 1][4] = {};
  float values[OfValues ? B::WidthRows::columns / 8 : 1][4] = {};

  /// Begins to add the products with a pair of queries and gradients.
  template <typename Ring>
  void multiply(const typename B::Packed &weights,
                const typename B::Packed &changes, const Ring &ring) {
    beginGroups();
    if constexpr (OfValues)
      multiplyWeights<typename B::WidthPassing>(
          values, weights, rowsOf<typename B::WidthPassing>(ring.secondTile()));
    if constexpr (OfKeys)
      multiplyWeights<typename B::DepthPassing>(
          keys, changes, rowsOf<typename B::DepthPassing>(ring.firstTile()));
    commitGroup();
  }
  template <typename KeyResult, typename ValueResult>
  void store(const KeyResult &keyResult, const ValueResult &valueResult,
             int batch, int group, int first) const {
    if constexpr (OfKeys)
      storeRows<T, Sizes::depth>(keys, keyResult, [&](int row) {
        int token = first + row;
        return token < Sizes::keys ? Sizes::keyAt(batch, token, group) : -1ll;
      });
    if constexpr (OfValues)
      storeRows<T, Sizes::width>(values, valueResult, [&](int row) {
        int token = first + row;
        return token < Sizes::keys ? Sizes::valueAt(batch, token, group) : -1ll;
      });
  }
};

template <typename Sizes, typename Reach, typename Tiles, typename Changes,
          typename KeyResult, typename ValueResult>
void attentionKeyGradientsGroups(
    int block,
    const AttentionOperands<float, typename Sizes::Element> &operands,
    const Changes &changes, float scale, KeyResult keyResult,
    ValueResult valueResult, unsigned char *shared) {
  using T = typename Sizes::Element;
  using B = GroupBackward<Sizes, Tiles>;
  using Ring = typename B::template Ring<Sizes::tokens, Sizes::heads>;
  BlockOfHeads<Reach, Sizes::keys, Tiles::rows, Sizes::batch * Sizes::groups,
               false>
      place(block);
  int batch = place.head / Sizes::groups, group = place.head % Sizes::groups;
  int from = Reach::firstQuery(place.first) / Tiles::passing * Tiles::passing;
  int end = Reach::endQuery(place.first + Tiles::rows, Sizes::tokens);
  int count = ceilDivide(end - from, Tiles::passing);

  const B tiles(shared);
  copyOnce<typename B::DepthRows, Tiles::threads, Sizes::keys, Sizes::groups,
           Sizes::depth>(tiles.depthRows, operands.key,
                         Sizes::keyAt(batch, 0, group), place.first);
  copyOnce<typename B::WidthRows, Tiles::threads, Sizes::keys, Sizes::groups,
           Sizes::width>(tiles.widthRows, operands.value,
                         Sizes::valueAt(batch, 0, group), place.first);
  auto numbersAt = [&](int stage) -> PassingNumbers<Sizes, Tiles::passing> {
    using Numbers = PassingNumbers<Sizes, Tiles::passing>;
    return {reinterpret_cast<float *>(shared + B::rowBytes + Ring::bytes +
                                      stage * Numbers::bytes)};
  };
  KeySums<Sizes, Tiles, !isSame<KeyResult, Unused>,
          !isSame<ValueResult, Unused>>
      sums;
#pragma unroll 1
  for (int i = 0; count > 0 && i < Sizes::headsInGroup; ++i) {
    int head = group * Sizes::headsInGroup + i;
    WarpScores<Sizes, Reach, Changes, false> scores(changes, batch, head,
                                                    scale);
    Ring ring(shared + B::rowBytes, operands.query, operands.gradient,
              Sizes::queryRow(batch, head), from, count);
    auto startNext = [&] {
      if (ring.hasNext())
        numbersAt(ring.nextStage())
            .start(operands, batch, head, ring.nextRow());
      ring.startNext();
    };
#pragma unroll 1
    for (int ahead = 0; ahead < Ring::ahead; ++ahead)
      startNext();
    typename B::Packed packedWeights, packedChanges;
#pragma unroll 1
    for (int number = 0; number < count; ++number) {
      const ScoreTile<false> tile{place.first, from + number * Tiles::passing};
      float weights[Tiles::passing / 8][4], scoreChanges[Tiles::passing / 8][4];
      ring.arrive();
      waitForGroups<0>();
      tiles.multiply(weights, scoreChanges, ring);
      startNext();
      const auto kept = scores.template kept<Tiles::passing>(tile);
      waitForGroups<0>();
      weighBackward(weights, scoreChanges, scores, tile,
                    numbersAt(ring.stage()), kept);
      packWeights<T>(packedWeights, weights);
      packWeights<T>(packedChanges, scoreChanges);
      sums.multiply(packedWeights, packedChanges, ring);
      ring.advance();
    }
    // The next head's ring takes the place of this one's.
    waitForCopies<0>();
    waitForGroups<0>();
    barrier();
  }
  sums.store(keyResult, valueResult, batch, group, place.first);
}

} // namespace mp
