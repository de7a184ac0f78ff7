//===- WeightDropout.cpp - dropout of the weights of attention ------------===//
#include "codegen/cpu/attention/WeightDropout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

void WeightDropout::setHead(Value batch, Value head) {
  const AttentionShape &shape = b.shape;
  headAt = b.mul(b.add(b.mul(batch, shape.heads), head), shape.tokens);
  auto part = [&](int64_t number) {
    Value scalar = b.loadScalar(b.dropoutKey(), b.index(number));
    return Expression(b, b.splat(scalar));
  };
  key = {part(0), part(1), part(2), part(3)};
}

Value WeightDropout::indexOf(Value query, Value keyIndex) {
  return b.add(b.mul(b.add(headAt, query), b.shape.keys), keyIndex);
}

Expression WeightDropout::series(Value first, int64_t step) {
  SmallVector<int64_t> numbers(b.lanes);
  for (auto [lane, number] : llvm::enumerate(numbers))
    number = lane * step;
  Value steps = arith::ConstantOp::create(b, b.getI64VectorAttr(numbers));
  Value start = b.splat(arith::IndexCastOp::create(b, b.getI64Type(), first));
  return {b, arith::AddIOp::create(b, start, steps)};
}

Value WeightDropout::factorOf(Expression word) {
  return dropoutFactor(word, *b.shape.dropout,
                       VectorType::get({b.lanes}, b.accumulator));
}

Value WeightDropout::drawRow(Value query, Value first, Value columns) {
  Value begin = indexOf(query, first), block = b.div(begin, 4);
  Value before = b.sub(begin, b.mul(block, 4));
  Value blocks = b.divideUp(b.add(before, columns), 4);
  b.forEach(b.index(0), blocks, b.lanes, [&](Value at) {
    auto words = randomWords(key, series(b.add(block, at), 1));
    auto both = [&](Value even, Value odd) -> Value {
      return vector::InterleaveOp::create(b, even, odd);
    };
    Value even = both(factorOf(words[0]), factorOf(words[2])),
          odd = both(factorOf(words[1]), factorOf(words[3]));
    b.store(both(even, odd), factors, b.mul(at, 4));
  });
  return before;
}

void WeightDropout::drawBlock(const Bounds &keys, Value firstQuery,
                              Value queries, int64_t pitch) {
  // Else blocks begin at other keys in each query.
  int64_t together = b.shape.keys % 4 ? 1 : 4;
  b.forEach(keys.first, keys.second, together, [&](Value keyIndex) {
    Value row = b.mul(b.sub(keyIndex, keys.first), pitch);
    b.forEach(b.index(0), queries, b.lanes, [&](Value query) {
      Value first = indexOf(b.add(firstQuery, query), keyIndex);
      Value to = b.add(row, query);
      if (together == 1) {
        Expression word = randomWord(key, series(first, b.shape.keys));
        return b.store(factorOf(word), factors, to);
      }
      auto words = randomWords(key, series(b.div(first, 4), b.shape.keys / 4));
      for (auto [i, word] : llvm::enumerate(words))
        b.store(factorOf(word), factors, b.add(to, i * pitch));
    });
  });
}
