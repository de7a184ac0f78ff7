//===- WeightDropout.h - dropout of the weights of attention ----*- C++ -*-===//
//
// The bits of four neighbouring keys of a query are one block of Philox, which
// is therefore computed once for all four.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_ATTENTION_WEIGHTDROPOUT_H
#define MP_CODEGEN_CPU_ATTENTION_WEIGHTDROPOUT_H

#include "codegen/cpu/attention/AttentionBuilder.h"
#include "dialect/Philox.h"

namespace mp::cpu {

class WeightDropout {
public:
  /// `factors` is the scratch that factors are written to.
  WeightDropout(AttentionBuilder &b, const ScratchPiece &factors)
      : b(b), factors(factors.in(b)) {}

  /// Elements of scratch for a row of `columns` keys.
  static int64_t rowElements(int64_t columns, int64_t lanes) {
    return llvm::alignTo(columns + 3, 4 * lanes);
  }

  void setHead(mlir::Value batch, mlir::Value head);
  /// Writes the factors of `columns` keys of a query, from key `first` on.
  /// Returns where the first one is.
  mlir::Value drawRow(mlir::Value query, mlir::Value first,
                      mlir::Value columns);
  /// Writes rows of keys, which begin at a multiple of four, for queries from
  /// `firstQuery` on: rows of `pitch` elements. The last key's row may be
  /// followed by three others.
  void drawBlock(const Bounds &keys, mlir::Value firstQuery,
                 mlir::Value queries, int64_t pitch);
  /// The factors of neighbours in a row.
  mlir::Value at(mlir::Value place) { return b.load(factors, place, b.lanes); }

private:
  /// The number of a score [batch, heads, tokens, keys].
  mlir::Value indexOf(mlir::Value query, mlir::Value key);
  /// first, first + step, ... as i64.
  Expression series(mlir::Value first, int64_t step);
  mlir::Value factorOf(Expression word);

  AttentionBuilder &b;
  FlatMemory factors;
  RandomKey key;
  mlir::Value headAt; ///< of the head's first query, in queries
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_ATTENTION_WEIGHTDROPOUT_H
