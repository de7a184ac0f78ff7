//===- StageGroup.h - stages that share a loop nest -------------*- C++ -*-===//
//
// A kernel is a list of `linalg.generic` stages. A group of them runs over a
// matrix of `rows` x `columns`; every tensor in it is constant along none, one
// or both of these (its Space). Which index is the outer, parallel one and
// which the inner, looped one is the group's LoopSchedule. All of this is
// independent of the target.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_STAGES_STAGEGROUP_H
#define MP_CODEGEN_STAGES_STAGEGROUP_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mp {

/// The indices that a tensor, or a stage, varies with.
enum class Space { Scalar, Row, Column, Full };

/// How the loops map to rows and columns. Lanes of a vector are always
/// neighbouring columns.
enum class LoopSchedule {
  Flat,    ///< elementwise over columns; there are no rows
  Whole,   ///< one task: a scalar outside, columns inside
  Rows,    ///< outer: a row; inner: columns
  Columns, ///< outer: some columns; inner: rows
  General, ///< one stage of any maps, alone
};

/// The place of a space in a schedule: known before the nest, at its outer
/// index, or in its inner loop; the latter either once for each outer index, or
/// the same for all of them (so that no single outer index may store it).
enum class Role { Global, Outer, Inner, Full };

/// `acc = combiner(acc, element)`, taken from a stage's body.
struct Reduction {
  mlir::Operation *combiner = nullptr; ///< in the body
  mlir::Value element;                 ///< in the body, not depending on `acc`
  mlir::TypedAttr neutral;
};
/// Matches a stage with one result and such a body.
std::optional<Reduction> matchReduction(mlir::linalg::GenericOp op);

/// Whether the accumulator of a matching reduction starts with a neutral value:
/// then each part of the reduction may do so too. Zeros of either sign are
/// neutral for sums.
bool startsNeutral(mlir::linalg::GenericOp op);

/// Returns the one value of a splat constant or a fill, if `tensor` is such.
mlir::TypedAttr constantOf(mlir::Value tensor);

struct Stage {
  mlir::linalg::GenericOp op;
  Space domain = Space::Scalar, result = Space::Scalar;
  bool reduction = false;
  /// A reduction over the outer index. Its result is not known inside the
  /// group: every `StageGroup::chunk` outer indices make one partial result,
  /// and a later stage combines these (a single one is the result itself).
  bool terminal = false;
  /// The number of passes over the inner index that must come before.
  unsigned level = 0;
  /// Whether the value is costly and read at several levels: it is kept, not
  /// computed again.
  bool buffered = false;
};

/// The sizes that suit a target. They are fixed for it, whatever the device:
/// how results are split up decides their bits.
struct StageTarget {
  /// The least elements and rows in a partial result; it has more if there
  /// would be more than `mostChunks` of them. If rows are added to a row of
  /// sums, one after the other, it has at most `mostRows`.
  int64_t chunkElements = 32768, chunkRows = 8, mostChunks = INT64_MAX,
          mostRows = 128;
  /// The number of elements that one task reduces at once.
  int64_t wholeElements = 65536;
};

struct StageGroup {
  StageTarget target;
  LoopSchedule schedule = LoopSchedule::General;
  int64_t rows = 1, columns = 1;
  /// The stages in the order of the kernel.
  llvm::SmallVector<Stage> stages;
  llvm::DenseMap<mlir::Value, Space> spaces;
  /// Tensors from memory that have fewer rows than the group: the row that
  /// belongs to the group's row d0.
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> repeatedRows;
  /// Tensors that later groups read or the kernel returns.
  llvm::SmallVector<mlir::Value> outputs;

  Role role(Space space) const;
  Role role(mlir::Value tensor) const { return role(spaces.lookup(tensor)); }
  /// Returns the stage that makes `tensor` here, or null if it comes from
  /// memory.
  const Stage *producer(mlir::Value tensor) const;
  bool stores(mlir::Value tensor) const {
    return llvm::is_contained(outputs, tensor);
  }
  /// The number of outer indices.
  int64_t outerSize() const;
  /// The number of inner indices of each outer one.
  int64_t innerSize() const;
  /// The number of outer indices in a partial result, by the shape alone.
  int64_t chunk() const;
  int64_t chunks() const { return llvm::divideCeil(outerSize(), chunk()); }
  bool hasTerminals() const;
  unsigned levels() const;
  /// Returns the pass that computes most, beside which memory may work.
  unsigned busiestLevel() const;
  /// Returns the tensors that the work of one pass reads from memory.
  llvm::DenseSet<mlir::Value> readAt(unsigned level) const;
  /// Whether the pass of `level` has to compute `stage` for its own sake.
  bool isWorkOf(const Stage &stage, unsigned level) const;
};

/// Returns the tensors that a stage reads to compute an element, without the
/// accumulator.
llvm::SmallVector<mlir::OpOperand *> readsOf(mlir::linalg::GenericOp op);

/// Returns the elements in memory from the first of `tensor` to the last: as
/// many as it has, or more if it is a part of another one.
int64_t extentOf(mlir::Value tensor);

/// Returns the number of elements, a power of two, that the first element's
/// place and each row's are multiples of, if they are not those of a tensor
/// without gaps; else the largest one.
int64_t alignmentOf(mlir::Value tensor);

/// Counts the operations in a stage's body; a function counts as many.
unsigned costOf(mlir::linalg::GenericOp op);

/// Counts the floating-point operations of all stages, with each element of
/// each computed once.
uint64_t flopsOf(const StageGroup &group);

} // namespace mp

#endif // MP_CODEGEN_STAGES_STAGEGROUP_H
