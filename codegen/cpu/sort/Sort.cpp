//===- Sort.cpp - sorted rows on the CPU ----------------------------------===//
#include "codegen/cpu/sort/Sort.h"
#include "codegen/cpu/layout/LayoutBuilder.h"
#include "codegen/cpu/sort/SortKeys.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

/// Up to here, inserting beats sorting by digits.
static constexpr int64_t kMostInserted = 64;

namespace {

/// What both algorithms share: keys, and where scratch memory lies.
class SortEmitter {
public:
  SortEmitter(const SortedRows &sorted, Type element, int64_t scratchBytes)
      : sorted(sorted), element(element), word(wordOf(element)),
        lanes(lanesFor(sorted.size, bytesOf(word))), scratchBytes(scratchBytes),
        b(element.getContext(),
          {{word, sorted.rows * sorted.size},
           {i32(), sorted.rows * sorted.kept}},
          scratchBytes) {}

  LogicalResult launch(ObjectCompiler &compiler, EmittedKernel &kernel,
                       const LayoutTensor &source, const LayoutTensor &result) {
    int64_t rowsInTask = elementsInTask(bytesOf(word)) / sorted.size;
    if (failed(b.launch(compiler, kernel, {source.argument, result.argument},
                        sorted.rows, rowsInTask)))
      return failure();
    kernel.launches.back().shared = scratchBytes;
    return success();
  }

protected:
  Type i32() const { return IntegerType::get(element.getContext(), 32); }
  Value toI32(Value index) {
    return arith::IndexCastOp::create(b, i32(), index);
  }
  Value constant(Type type, int64_t value) {
    return arith::ConstantOp::create(b, IntegerAttr::get(type, value));
  }
  Value keys(Value bits) {
    return sortKeysOf(b, bits, element, sorted.descending);
  }
  /// Calls body(row, place of its first element).
  void forRows(llvm::function_ref<void(Value, Value)> body) {
    b.forEach(b.begin(), b.end(), 1,
              [&](Value row) { body(row, b.mul(row, sorted.size)); });
  }
  void storeResult(Value row, Value at, Value index) {
    b.storeScalar(index, b.argument(1), b.add(b.mul(row, sorted.kept), at));
  }

  SortedRows sorted;
  Type element, word; ///< of the source, and its bits
  int64_t lanes, scratchBytes;
  LayoutBuilder b;
};

//===----------------------------------------------------------------------===//
// Few are kept
//===----------------------------------------------------------------------===//

/// Keeps the first elements so far in order, at places 1 to `kept`. Place 0 has
/// a key that no other is below.
class InsertionEmitter : public SortEmitter {
public:
  InsertionEmitter(const SortedRows &sorted, Type element)
      : SortEmitter(sorted, element, bytesFor(sorted, element)),
        offered(b.scratch(word, 0, lanes)),
        best(b.scratch(word, offeredBytes, sorted.kept + 1)),
        indices(b.scratch(i32(), offeredBytes + keyBytes(sorted, element),
                          sorted.kept + 1)) {
    forRows([&](Value row, Value first) { emitRow(row, first); });
  }

private:
  static constexpr int64_t offeredBytes = 64; // a vector
  static int64_t keyBytes(const SortedRows &sorted, Type element) {
    return llvm::alignTo(bytesOf(element) * (sorted.kept + 1), 64);
  }
  static int64_t bytesFor(const SortedRows &sorted, Type element) {
    return offeredBytes + keyBytes(sorted, element) + 4 * (sorted.kept + 1);
  }

  void emitRow(Value row, Value first) {
    b.storeScalar(constant(word, 0), best, b.index(0));
    b.forEach(sorted.kept, [&](Value at) {
      insert(keys(b.loadScalar(b.argument(0), b.add(first, at))), at,
             b.add(at, 1));
    });
    Value rest = b.index(sorted.size - sorted.kept);
    b.forVectors(rest, lanes, [&](Value start, Value mask) {
      offer(first, b.add(start, sorted.kept), mask);
    });
    b.forEach(sorted.kept, [&](Value at) {
      storeResult(row, at, b.loadScalar(indices, b.add(at, 1)));
    });
  }

  Value last() { return b.loadScalar(best, b.index(sorted.kept)); }

  /// Looks at a vector of elements. Most have none that is inserted.
  void offer(Value first, Value start, Value mask) {
    Value found = keys(b.load(b.argument(0), b.add(first, start), lanes, mask));
    Value bound = vector::BroadcastOp::create(b, found.getType(), last());
    Value any = vector::ReductionOp::create(b, vector::CombiningKind::OR,
                                            b.isBelow(found, bound));
    b.choose(any, [&] {
      b.store(found, offered, b.index(0));
      Value count = b.min(b.sub(b.index(sorted.size), start), lanes);
      b.forEach(b.index(0), count, 1, [&](Value lane) {
        Value key = b.loadScalar(offered, lane);
        b.choose(b.isBelow(key, last()), [&] {
          insert(key, b.add(start, lane), b.index(sorted.kept));
        });
      });
    });
  }

  /// Inserts an element among those before `place`, whose own is overwritten.
  /// Equal ones stay before it.
  void insert(Value key, Value index, Value place) {
    auto previous = [&](Value at) { return b.sub(at, b.index(1)); };
    auto loop = scf::WhileOp::create(b, TypeRange(b.getIndexType()), place);
    {
      OpBuilder::InsertionGuard guard(b);
      Block *before =
          b.createBlock(&loop.getBefore(), {}, b.getIndexType(), b.getLoc());
      Value at = before->getArgument(0);
      Value other = b.loadScalar(best, previous(at));
      scf::ConditionOp::create(b, b.isBelow(key, other), at);
      Block *after =
          b.createBlock(&loop.getAfter(), {}, b.getIndexType(), b.getLoc());
      at = after->getArgument(0);
      Value from = previous(at);
      b.storeScalar(b.loadScalar(best, from), best, at);
      b.storeScalar(b.loadScalar(indices, from), indices, at);
      scf::YieldOp::create(b, from);
    }
    b.storeScalar(key, best, loop.getResult(0));
    b.storeScalar(toI32(index), indices, loop.getResult(0));
  }

  FlatMemory offered, best, indices;
};

//===----------------------------------------------------------------------===//
// Many are kept
//===----------------------------------------------------------------------===//

/// Sorts by the digits of the keys, the lowest first. Each pass keeps the order
/// of equal digits, and moves keys and indices from one half of the scratch
/// memory to the other.
class DigitEmitter : public SortEmitter {
public:
  DigitEmitter(const SortedRows &sorted, Type element)
      : SortEmitter(sorted, element, countBytes + bytesFor(sorted, element)),
        counts(b.scratch(i32(), 0, digits)),
        held(b.scratch(word, countBytes, 2 * sorted.size)),
        indices(b.scratch(i32(), countBytes + keyBytes(sorted, element),
                          2 * sorted.size)) {
    forRows([&](Value row, Value first) { emitRow(row, first); });
  }

private:
  static constexpr int64_t digitBits = 8, digits = 1 << digitBits;
  static constexpr int64_t countBytes = 4 * digits;
  static int64_t keyBytes(const SortedRows &sorted, Type element) {
    return llvm::alignTo(2 * bytesOf(element) * sorted.size, 64);
  }
  static int64_t bytesFor(const SortedRows &sorted, Type element) {
    return keyBytes(sorted, element) + 4 * 2 * sorted.size;
  }

  void emitRow(Value row, Value first) {
    b.forVectors(b.index(sorted.size), lanes, [&](Value start, Value mask) {
      Value bits = b.load(b.argument(0), b.add(first, start), lanes, mask);
      b.store(keys(bits), held, start, mask);
    });
    b.forEach(sorted.size,
              [&](Value at) { b.storeScalar(toI32(at), indices, at); });
    // The number of passes is even, so the last one ends in the first half.
    b.forEach(bytesOf(word), [&](Value pass) {
      Value from = b.mul(b.rem(pass, 2), sorted.size);
      sortByDigit(pass, from, b.sub(b.index(sorted.size), from));
    });
    b.forEach(sorted.kept, [&](Value at) {
      storeResult(row, at, b.loadScalar(indices, at));
    });
  }

  Value digitOf(Value key, Value pass) {
    Value shift = arith::IndexCastOp::create(b, word, b.mul(pass, digitBits));
    Value shifted = arith::ShRUIOp::create(b, key, shift);
    Value digit = arith::AndIOp::create(b, shifted, constant(word, digits - 1));
    return arith::IndexCastUIOp::create(b, b.getIndexType(), digit);
  }
  Value plusOne(Value count) {
    return arith::AddIOp::create(b, count, constant(i32(), 1));
  }

  void sortByDigit(Value pass, Value from, Value to) {
    b.forEach(digits, [&](Value digit) {
      b.storeScalar(constant(i32(), 0), counts, digit);
    });
    b.forEach(sorted.size, [&](Value at) {
      Value digit = digitOf(b.loadScalar(held, b.add(from, at)), pass);
      b.storeScalar(plusOne(b.loadScalar(counts, digit)), counts, digit);
    });
    // Counts become the places of the first element of each digit.
    b.fold(b.index(0), b.index(digits), constant(i32(), 0),
           [&](Value digit, ValueRange before) -> SmallVector<Value> {
             Value count = b.loadScalar(counts, digit);
             b.storeScalar(before[0], counts, digit);
             return {arith::AddIOp::create(b, before[0], count)};
           });
    b.forEach(sorted.size, [&](Value at) {
      Value key = b.loadScalar(held, b.add(from, at));
      Value digit = digitOf(key, pass);
      Value place = b.loadScalar(counts, digit);
      b.storeScalar(plusOne(place), counts, digit);
      Value target =
          b.add(to, arith::IndexCastUIOp::create(b, b.getIndexType(), place));
      b.storeScalar(key, held, target);
      b.storeScalar(b.loadScalar(indices, b.add(from, at)), indices, target);
    });
  }

  FlatMemory counts, held, indices;
};

} // namespace

LogicalResult mp::cpu::emitArgsort(const SortedRows &sorted,
                                   const LayoutTensor &source,
                                   const LayoutTensor &result,
                                   ObjectCompiler &compiler,
                                   EmittedKernel &kernel) {
  if (result.count() == 0)
    return success();
  if (sorted.kept <= kMostInserted)
    return InsertionEmitter(sorted, source.element())
        .launch(compiler, kernel, source, result);
  return DigitEmitter(sorted, source.element())
      .launch(compiler, kernel, source, result);
}
