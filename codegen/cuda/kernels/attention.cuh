//===- attention.cuh - attention, what its kernels share ------------------===//
//
// Query, key and value are [batch, tokens, heads, depth]; numbers per query are
// [batch, tokens, heads]. Scores exist for a tile of queries and keys at a
// time. attention-half.cuh multiplies on tensor cores, attention-any.cuh any
// type; both have
//
//   attentionForward         a block has a tile of the queries of a head
//   attentionQueryGradient   the same
//   attentionKeyGradients    a block has a tile of the keys of a group
//
// Nothing is added from outside of a block, so sums have one order.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "gemm-tile.cuh"
#include "stages.cuh"

namespace mp {

//===----------------------------------------------------------------------===//
// Sizes and reach
//===----------------------------------------------------------------------===//

template <typename T, long long BATCH, long long TOKENS, long long HEADS,
          long long DEPTH, long long KEYS, long long GROUPS, long long WIDTH>
struct AttentionSizes {
  using Element = T;
  // Heads of all batch entries are at most as many as a grid's blocks.
  static constexpr int batch = BATCH, heads = HEADS, groups = GROUPS;
  static constexpr int headsInGroup = HEADS / GROUPS;
  static constexpr long long tokens = TOKENS, keys = KEYS;
  static constexpr long long depth = DEPTH, width = WIDTH;

  /// The first element of a token's head.
  static long long queryAt(long long batch, long long token, long long head) {
    return ((batch * TOKENS + token) * HEADS + head) * DEPTH;
  }
  static long long resultAt(long long batch, long long token, long long head) {
    return ((batch * TOKENS + token) * HEADS + head) * WIDTH;
  }
  static long long keyAt(long long batch, long long token, long long group) {
    return ((batch * KEYS + token) * GROUPS + group) * DEPTH;
  }
  static long long valueAt(long long batch, long long token, long long group) {
    return ((batch * KEYS + token) * GROUPS + group) * WIDTH;
  }
  /// The rows of a head's first token, which warpgroups count in ints: they
  /// have at least 66 bytes each.
  static int queryRow(int batch, int head) {
    return static_cast<int>(batch * TOKENS * HEADS + head);
  }
  static int keyRow(int batch, int group) {
    return static_cast<int>(batch * KEYS * GROUPS + group);
  }
  static long long numberAt(long long batch, long long token, long long head) {
    return (batch * TOKENS + token) * HEADS + head;
  }
};

/// Query i looks at keys from i + OFFSET - BACK to i + OFFSET + AHEAD; where
/// one of these is negative, there is no such bound. Places of tokens are ints,
/// as registers are few.
template <int OFFSET, int BACK, int AHEAD> struct AttentionReach {
  static constexpr int offset = OFFSET;
  static constexpr bool isCausal = AHEAD >= 0;

  /// Whether every one of so many queries looks at every one of the keys.
  static bool allowsAll(int query, int queries, int key, int keys) {
    return allows(query, key + keys - 1) && allows(query + queries - 1, key);
  }
  static bool allows(int query, int key) {
    int ahead = key - query - OFFSET;
    return (AHEAD < 0 || ahead <= AHEAD) && (BACK < 0 || ahead >= -BACK);
  }
  /// Those that queries in [first, last) may look at: [first, second).
  static int firstKey(int first) {
    return BACK < 0 ? 0 : most(first + OFFSET - BACK, 0);
  }
  static int endKey(int last, int keys) {
    return AHEAD < 0 ? keys : most(min(last + OFFSET + AHEAD, keys), 0);
  }
  /// Those that may look at keys in [first, last).
  static int firstQuery(int first) {
    return AHEAD < 0 ? 0 : most(first - OFFSET - AHEAD, 0);
  }
  static int endQuery(int last, int tokens) {
    return BACK < 0 ? tokens : most(min(last - OFFSET + BACK, tokens), 0);
  }
};

//===----------------------------------------------------------------------===//
// Changes of scores
//===----------------------------------------------------------------------===//

inline float wide(f16 value) { return toFloat(value); }
inline float wide(bf16 value) { return toFloat(value); }
template <typename T> T wide(T value) { return value; }

struct NoMask {
  template <typename S>
  S change(S score, long long, long long, long long, long long) const {
    return score;
  }
};
/// A mask with these distances of neighbours, 0 where it is broadcast.
template <typename T, bool IS_FLAG, long long BATCH, long long HEAD,
          long long QUERY, long long KEY>
struct ScoreMask {
  Global<T> data;

  template <typename S>
  S change(S score, long long batch, long long head, long long query,
           long long key) const {
    T mask = data.load(batch * BATCH + head * HEAD + query * QUERY + key * KEY);
    if constexpr (IS_FLAG)
      return mask ? score : lowest<S>();
    else
      return score + static_cast<S>(wide(mask));
  }
};

struct AllKeys {
  template <typename Sizes> int count(long long) const { return Sizes::keys; }
};
template <typename T> struct KeyLengths {
  Global<T> data;

  template <typename Sizes> int count(long long batch) const {
    long long count = data.load(batch);
    return static_cast<int>(most(min(count, Sizes::keys), 0ll));
  }
};

struct NoSlopes {
  template <typename S> S change(S score, long long, int) const {
    return score;
  }
};
template <typename T> struct HeadSlopes {
  Global<T> data;

  template <typename S> S change(S score, long long head, int distance) const {
    S away = static_cast<S>(distance < 0 ? -distance : distance);
    return score - static_cast<S>(data.load(head)) * away;
  }
};

struct NoDropout {
  static constexpr bool drops = false;
  template <typename S> S change(S value, long long) const { return value; }
};
/// Drops weights by the bits of a key of mp.random_key.
struct WeightDropout {
  static constexpr bool drops = true;
  Global<long long> key;
  unsigned long long least; ///< words below it drop
  double scale;             ///< of what is kept

  template <typename S> S change(S value, long long index) const {
    unsigned block = static_cast<unsigned>(index >> 2);
    unsigned kept = keptOfFour(block) >> (index & 3);
    return kept & 1 ? value * static_cast<S>(scale) : S(0);
  }

  /// Which of four weights are kept, whose indices begin at 4 * block, a bit
  /// each. Philox4x32-10, whose counter is block, stream, attempt and
  /// micro-batch.
  unsigned keptOfFour(unsigned block) const {
    unsigned long long seed = key.load(0);
    unsigned c[4] = {block, static_cast<unsigned>(key.load(1)),
                     static_cast<unsigned>(key.load(2)),
                     static_cast<unsigned>(key.load(3))};
    unsigned low = static_cast<unsigned>(seed),
             high = static_cast<unsigned>(seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; ++round) {
      unsigned long long left = c[0] * 0xD2511F53ull,
                         right = c[2] * 0xCD9E8D57ull;
      c[0] = static_cast<unsigned>(right >> 32) ^ c[1] ^ low;
      c[1] = static_cast<unsigned>(right);
      c[2] = static_cast<unsigned>(left >> 32) ^ c[3] ^ high;
      c[3] = static_cast<unsigned>(left);
      low += 0x9E3779B9u;
      high += 0xBB67AE85u;
    }
    unsigned kept = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      kept |= (c[i] < least ? 0u : 1u) << i;
    return kept;
  }
};

template <typename Mask, typename Lengths, typename Slopes, typename Dropout>
struct ScoreChanges {
  /// Whether a score depends on more than a product and places.
  static constexpr bool changesScores =
      !isSame<Mask, NoMask> || !isSame<Slopes, NoSlopes>;
  static constexpr bool drops = Dropout::drops;
  Mask mask;
  Lengths lengths;
  Slopes slopes;
  Dropout dropout;
};
template <typename Mask, typename Lengths, typename Slopes, typename Dropout>
ScoreChanges(Mask, Lengths, Slopes, Dropout)
    -> ScoreChanges<Mask, Lengths, Slopes, Dropout>;

/// The scores of a head.
template <typename Sizes, typename Reach, typename Changes, typename S>
struct HeadScores {
  const Changes &changes;
  int batch, head;
  S scale;
  int keys = changes.lengths.template count<Sizes>(batch);

  /// The score that a product of query and key stands for; -inf if the query
  /// does not look at the key, or one of them does not exist.
  S operator()(S product, int query, int key) const {
    if (query >= Sizes::tokens || key >= keys || !Reach::allows(query, key))
      return lowest<S>();
    S score = changes.slopes.change(product * scale, head,
                                    query + Reach::offset - key);
    return changes.mask.change(score, batch, head, query, key);
  }
  /// A weight, or its gradient, after dropout.
  S drop(S value, int query, int key) const {
    long long row = (batch * Sizes::heads + head) * Sizes::tokens + query;
    return changes.dropout.change(value, row * Sizes::keys + key);
  }
  int endKey(int last) const { return Reach::endKey(last, keys); }
};

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// The factor before the rounded part of the exponent is added keeps the error
/// near that of the instruction, 2^-22.
inline float weightOf(float exponent) {
  constexpr float log2e = 1.44269504f, ln2 = 0.693147181f;
  exponent = exponent < -150.0f ? -150.0f : exponent;
  float power = exponent * log2e, rest = fma(exponent, log2e, -power);
  float value = exp2Fast(power);
  return fma(value, rest * ln2, value);
}
inline double weightOf(double exponent) { return exponential(exponent); }
/// Once for each query: its error would be that of all weights.
inline float logOf(float value) {
  return static_cast<float>(logarithm(static_cast<double>(value)));
}
inline double logOf(double value) { return logarithm(value); }

/// A row's largest score and the sum of its weights, over the keys so far.
template <typename S> struct RowTotals {
  S largest = lowest<S>(), sum = 0;

  /// Takes the largest of more scores; returns the factor for what was summed.
  S raise(S score) {
    S before = largest;
    largest = score > largest ? score : largest;
    return weightOf(before - shift());
  }
  /// What is taken off scores: of no key at all, the largest is -inf.
  S shift() const { return largest == lowest<S>() ? S(0) : largest; }
  /// What sums are divided by.
  S divisor() const { return sum == 0 ? S(1) : sum; }
  S logSumExp() const { return sum == 0 ? S(0) : largest + logOf(sum); }
};

/// Takes the place of a result that has no use.
struct Unused {
  template <typename T> void store(long long, T) const {}
  template <int N, typename T>
  void storeVector(long long, const Vector<T, N> &) const {}
};

} // namespace mp
