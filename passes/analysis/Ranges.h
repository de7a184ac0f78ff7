//===- Ranges.h - how large the numbers of a graph may be -------*- C++ -*-===//
//
// The analysis is one sweep over a block by the interfaces of its ops: bodies
// of elementwise ops, combiners of reductions, terms of contractions, the parts
// of composite ops.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_ANALYSIS_RANGES_H
#define MP_PASSES_ANALYSIS_RANGES_H

#include "dialect/ops/Attention.h"
#include "dialect/ops/Constant.h"
#include "passes/analysis/ScalarRanges.h"

namespace mp {

class Ranges {
public:
  /// An unknown number may be any finite number of its type.
  Ranges() = default;
  /// Unknown numbers, and the results of contractions and composite ops of
  /// them, are at most `magnitude`; integers of 8 bits or less are known.
  /// `certain` has the ranges without that assumption.
  Ranges(double magnitude, const Ranges &certain)
      : assumed(magnitude), certain(&certain) {}

  /// Sets the range of an input's elements.
  void bound(mlir::Value input, Interval range);
  void run(mlir::Block &block);

  /// Returns the range of a value's elements.
  Interval get(mlir::Value value) const;
  /// Returns the range before rounding to the value's type: beyond its largest
  /// number if they may overflow, infinite if a size is not known.
  Interval exact(mlir::Value value) const;

private:
  /// A value is never less than `of` along `dims`, or equals its largest there.
  struct Extreme {
    mlir::Value of;
    llvm::SmallVector<int64_t> dims;
    bool isEqual = false;
    bool isSpread = false; ///< repeated along `dims`
  };
  /// Along `dims` there is always an element in `range`.
  struct Attained {
    llvm::SmallVector<int64_t> dims;
    Interval range;
  };
  struct Facts {
    Interval range, exact;
    mlir::Value root; ///< the value that this one equals, element by element
    std::optional<Extreme> extreme;
    std::optional<Attained> attained;
    /// Values of its shape that it is never less than, element by element.
    llvm::SmallVector<mlir::Value, 0> floors = {};
  };

  void visit(mlir::Operation *op);
  void visitConstant(ConstantOp op);
  void visitElementwise(ScalarOpInterface op);
  void visitReduction(ReductionOpInterface op);
  void visitMovement(AutocastOpInterface op);
  void visitWindows(AnchorOpInterface op);
  std::optional<Interval> movedInto(mlir::Value result);
  void visitContraction(AnchorOpInterface op);
  void visitAttention(ScaledDotProductAttentionOp op);
  void visitComposite(DecomposableOpInterface op);
  /// Returns the facts of a composite op's results, for so many rows in a
  /// batch; of scratch values.
  llvm::SmallVector<Facts> compose(DecomposableOpInterface op, int64_t batch);

  Interval ofUnknown(mlir::Type element) const;
  Interval settle(Interval exact, mlir::Type element) const;
  Interval assume(Interval range, mlir::Type element) const;
  Facts &set(mlir::Value value, Interval exact);
  /// Sets the facts of results that pass on only their certain range.
  void setLoose(mlir::Value value, Interval exact);
  Facts lookup(mlir::Value value) const;
  mlir::Value rootOf(mlir::Value value) const;
  /// Whether broadcasting puts each of the reduced numbers beside the elements
  /// that it was reduced from.
  static bool isAligned(mlir::Value reduced, const Extreme &extreme);
  bool isAtLeast(mlir::Value more, mlir::Value less) const;
  /// Returns the value that a scalar of an elementwise op's body is the extreme
  /// of.
  std::optional<Extreme>
  extremeOf(mlir::Value scalar, ScalarRanges &ranges,
            const llvm::DenseMap<mlir::Value, mlir::Value> &operands) const;
  /// Adds what the larger of several operands is never less than.
  void addFloors(mlir::Value scalar, mlir::Value result,
                 const llvm::DenseMap<mlir::Value, mlir::Value> &operands);
  void carryAttained(ScalarOpInterface op, const ScalarBody &body,
                     const llvm::DenseMap<mlir::Value, mlir::Value> &operands);

  std::optional<double> assumed;
  const Ranges *certain = nullptr;
  llvm::DenseMap<mlir::Value, Facts> facts;
};

/// Returns a shape with reduced dimensions kept, as ones, or dropped.
llvm::SmallVector<int64_t> reducedShape(mlir::RankedTensorType type,
                                        llvm::ArrayRef<int64_t> dims,
                                        bool keep);
/// Whether a reduction adds its elements.
bool addsUp(ReductionOpInterface op);

} // namespace mp

#endif // MP_PASSES_ANALYSIS_RANGES_H
