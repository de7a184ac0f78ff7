//===- ScalarRanges.h - interval arithmetic on bodies of ops ----*- C++ -*-===//
#ifndef MP_PASSES_ANALYSIS_SCALARRANGES_H
#define MP_PASSES_ANALYSIS_SCALARRANGES_H

#include "dialect/Mp.h"
#include <limits>

namespace mp {

/// Numbers from `low` to `high`. NaN is in no range, and infinity only after an
/// overflow: inputs are taken to be finite.
struct Interval {
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  double low = -infinity, high = infinity;

  static Interval point(double value) { return {value, value}; }
  /// Returns all numbers of an element type, for floats the finite ones. A type
  /// that is neither float nor integer has no bounds.
  static Interval of(mlir::Type element);

  bool operator==(const Interval &other) const {
    return low == other.low && high == other.high;
  }
  bool isPoint() const { return low == high; }
  bool isFinite() const { return low > -infinity && high < infinity; }
  bool contains(Interval other) const {
    return low <= other.low && other.high <= high;
  }
  /// The largest absolute value.
  double magnitude() const;
  Interval hull(Interval other) const;
  /// Returns the numbers that are in both; if there are none, the nearest
  /// number.
  Interval clip(Interval other) const;
};

Interval operator+(Interval lhs, Interval rhs);
Interval operator-(Interval range);
Interval operator*(Interval lhs, Interval rhs);

/// Returns the sum of `count` numbers of a range, or of any number of them.
Interval sumOf(Interval term, std::optional<int64_t> count);

/// One element of an elementwise op, computed in a block of its own. Operands
/// that are the same value share an argument.
struct ScalarBody {
  explicit ScalarBody(ScalarOpInterface op);

  std::unique_ptr<mlir::Block> block;
  llvm::SmallVector<mlir::Value> arguments; ///< one for each operand
  llvm::SmallVector<mlir::Value> results;
};

/// Ranges of the values of a body, which are `arith` and `math` on scalars.
class ScalarRanges {
public:
  using IsAtLeast = llvm::function_ref<bool(mlir::Value, mlir::Value)>;

  /// `isAtLeast` tells pairs of arguments of which one is never less.
  ScalarRanges(llvm::DenseMap<mlir::Value, Interval> arguments,
               IsAtLeast isAtLeast)
      : pinned(std::move(arguments)), isAtLeast(isAtLeast) {}

  /// Returns the scalar's range: all numbers of its type if nothing is known.
  Interval get(mlir::Value scalar);
  /// Whether a flag is always set, or never; nullopt if it may be either.
  std::optional<bool> decided(mlir::Value flag);

private:
  Interval compute(mlir::Operation *op);
  std::optional<Interval> computeFloat(mlir::Operation *op);
  std::optional<Interval> computeMath(mlir::Operation *op);
  std::optional<Interval> computeInteger(mlir::Operation *op);
  Interval select(mlir::arith::SelectOp op);
  /// Returns the range of a branch, given the outcome of the comparison.
  Interval under(mlir::Value condition, bool holds, mlir::Value branch);
  Interval operand(mlir::Operation *op, unsigned index) {
    return get(op->getOperand(index));
  }

  llvm::DenseMap<mlir::Value, Interval> pinned, known;
  IsAtLeast isAtLeast;
};

} // namespace mp

#endif // MP_PASSES_ANALYSIS_SCALARRANGES_H
