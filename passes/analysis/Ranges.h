//===- Ranges.h - how large the numbers of a graph may be -------*- C++ -*-===//
//
// One sweep over a block by what interfaces say of its ops: bodies of
// elementwise ops, combiners of reductions, terms of contractions, the parts of
// what decomposes.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_ANALYSIS_RANGES_H
#define MP_PASSES_ANALYSIS_RANGES_H

#include "dialect/ops/Arithmetic.h"
#include "passes/analysis/ScalarRanges.h"

namespace mp {

class Ranges {
public:
  /// What is not known may be any finite number of its type.
  Ranges() = default;
  /// What is not known, and what contractions and composite ops make of it, is
  /// at most `magnitude`; integers of 8 bits or less are known. `certain` has
  /// what holds without that.
  Ranges(double magnitude, const Ranges &certain)
      : assumed(magnitude), certain(&certain) {}

  /// Says what the elements of an input are.
  void bound(mlir::Value input, Interval range);
  void run(mlir::Block &block);

  /// What the elements of a value may be.
  Interval get(mlir::Value value) const;
  /// The same before they are rounded to the value's type: beyond its largest
  /// number where they may overflow, infinite where a size is not known.
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
  };

  void visit(mlir::Operation *op);
  void visitConstant(ConstantOp op);
  void visitElementwise(ScalarOpInterface op);
  void visitReduction(ReductionOpInterface op);
  void visitMovement(AutocastOpInterface op);
  void visitContraction(AnchorOpInterface op);
  void visitComposite(DecomposableOpInterface op);
  /// The facts of a composite op's results, with as many rows in a batch;
  /// of scratch values.
  llvm::SmallVector<Facts> compose(DecomposableOpInterface op, int64_t batch);

  Interval ofUnknown(mlir::Type element) const;
  Interval settle(Interval exact, mlir::Type element) const;
  Interval assume(Interval range, mlir::Type element) const;
  Facts &set(mlir::Value value, Interval exact);
  /// The same for results of which only what is certain is handed on.
  void setLoose(mlir::Value value, Interval exact);
  Facts lookup(mlir::Value value) const;
  mlir::Value rootOf(mlir::Value value) const;
  /// Whether broadcasting puts each of the reduced numbers beside those that it
  /// comes from.
  static bool isAligned(mlir::Value reduced, const Extreme &extreme);
  bool isAtLeast(mlir::Value more, mlir::Value less) const;
  /// What a scalar of an elementwise op's body is the extreme of.
  std::optional<Extreme>
  extremeOf(mlir::Value scalar, ScalarRanges &ranges,
            const llvm::DenseMap<mlir::Value, mlir::Value> &operands) const;
  void carryAttained(ScalarOpInterface op, const ScalarBody &body,
                     const llvm::DenseMap<mlir::Value, mlir::Value> &operands);

  std::optional<double> assumed;
  const Ranges *certain = nullptr;
  llvm::DenseMap<mlir::Value, Facts> facts;
};

/// A shape with reduced dimensions kept, as ones, or dropped.
llvm::SmallVector<int64_t> reducedShape(mlir::RankedTensorType type,
                                        llvm::ArrayRef<int64_t> dims,
                                        bool keep);
/// Whether a reduction adds its elements up.
bool addsUp(ReductionOpInterface op);

} // namespace mp

#endif // MP_PASSES_ANALYSIS_RANGES_H
