//===- BatchMultiple.h - what a leading `?` stands for ----------*- C++ -*-===//
//
// The leading `?` of an argument is the batch. `mp.reshape` may merge it with
// its neighbours, and the `?` of its result is then a multiple of the batch:
// 16 times the batch for tensor<?x16x64xf32> as tensor<?x64xf32>. The types are
// the same, so the multiples of values are found by following their ops.
//
//===----------------------------------------------------------------------===//
#ifndef MP_DIALECT_BATCHMULTIPLE_H
#define MP_DIALECT_BATCHMULTIPLE_H

#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace mp {

/// batch * times / per, in lowest terms.
struct BatchMultiple {
  int64_t times = 1, per = 1;

  bool operator==(const BatchMultiple &) const = default;
  /// The multiple for rows of `from` elements as rows of `to` elements, neither
  /// of which is zero; nothing if 64 bits do not hold it.
  std::optional<BatchMultiple> inRowsOf(int64_t from, int64_t to) const;
  /// The number of rows for a batch; nothing if it is not whole, or 64 bits do
  /// not hold it.
  std::optional<int64_t> rowsOf(int64_t batch) const;
  /// "the batch", "16 times the batch", "1/16 of the batch".
  std::string str() const;
};

/// Returns the multiple that the `?` of a value stands for; nothing for a value
/// without `?`, or if it is not known.
using MultipleOf =
    llvm::function_ref<std::optional<BatchMultiple>(mlir::Value)>;

/// One for each result of an op.
using BatchMultiples = llvm::SmallVector<std::optional<BatchMultiple>, 2>;

/// Whether the leading dimension is `?`.
bool hasBatch(mlir::Type type);

/// Returns the multiple that the operands with `?` have in common: the batch
/// itself if there are none, nothing if it is not known. Fails, naming both,
/// if two differ.
llvm::FailureOr<std::optional<BatchMultiple>>
commonMultiple(mlir::Operation *op, mlir::ValueRange operands,
               MultipleOf multipleOf);

/// Returns the multiples of an op's results, by its BatchOpInterface or by the
/// rule of all other ops: operands and results have the same.
llvm::FailureOr<BatchMultiples> inferBatchMultiples(mlir::Operation *op,
                                                    MultipleOf multipleOf);

} // namespace mp

#endif // MP_DIALECT_BATCHMULTIPLE_H
