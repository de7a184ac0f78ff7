//===- Philox.cpp - random bits -------------------------------------------===//
#include "dialect/Philox.h"
#include <cmath>

using namespace mlir;
using namespace mp;

/// The low 32 bits of an integer.
static Expression toWord(Expression x) {
  return getElementTypeOrSelf(x.getType()).isInteger(32) ? x : truncate(x, 32);
}
static Expression isSet(Expression word, double bit) {
  return (word & bit) != 0;
}

// Philox on i64 scalars of which only the low word is meaningful: a product is
// then one multiplication of low words, which vector units have, and the upper
// bits need not be cleared.

static Expression upperWord(Expression x) { return shiftRightLogical(x, 32); }
static Expression timesWord(Expression x, uint32_t factor) {
  return (x & UINT32_MAX) * factor;
}

std::array<Expression, 4> mp::randomWords(const RandomKey &key,
                                          Expression block) {
  constexpr uint32_t weyl[] = {0x9E3779B9, 0xBB67AE85};
  std::array<Expression, 4> c{block, key.stream, key.attempt, key.microBatch};
  Expression low = key.seed, high = upperWord(key.seed);
  for (int round = 0; round < 10; ++round) {
    Expression left = timesWord(c[0], 0xD2511F53);
    Expression right = timesWord(c[2], 0xCD9E8D57);
    Expression first = upperWord(right) ^ c[1] ^ low;
    Expression third = upperWord(left) ^ c[3] ^ high;
    c = {first, right, third, left};
    low = low + weyl[0];
    high = high + weyl[1];
  }
  for (Expression &word : c)
    word = toWord(word);
  return c;
}

Expression mp::randomWord(const RandomKey &key, Expression index) {
  Expression block = shiftRightLogical(index, 2);
  if (!getElementTypeOrSelf(block.getType()).isInteger(64))
    block = zeroExtend(block, 64);
  auto words = randomWords(key, block);
  Expression place = toWord(index);
  Expression isOdd = isSet(place, 1), isUpper = isSet(place, 2);
  Expression upper = select(isOdd, words[3], words[2]);
  return select(isUpper, upper, select(isOdd, words[1], words[0]));
}

double mp::dropoutBound(double p) { return std::nearbyint(p * 0x1p32); }

Expression mp::dropoutFactor(Expression word, double p, Type type) {
  auto &b = word.builder();
  Expression zero = Expression::constant(b, type, 0);
  // For p = 1 the bound exceeds every word.
  double bound = dropoutBound(p);
  if (bound > UINT32_MAX)
    return zero;
  Expression least = word.number(bound);
  Value isKept = arith::CmpIOp::create(b, arith::CmpIPredicate::uge,
                                       Value(word), Value(least));
  return select({b, isKept}, Expression::constant(b, type, 1 / (1 - p)), zero);
}
