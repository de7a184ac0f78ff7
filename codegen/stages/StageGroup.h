//===- StageGroup.h - stages that share a loop nest -------------*- C++ -*-===//
//
// A kernel is a list of `linalg.generic` stages. A group of them runs over a
// matrix of `rows` x `columns`; every tensor in it is constant along none, one
// or both of these (its Space). Which index is the outer, parallel one and
// which the inner, looped one is the group's Schedule. No target has a part in
// this.
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

/// Who runs over what. Lanes of a vector are always neighbouring columns.
enum class Schedule {
  Flat,    ///< elementwise over columns; there are no rows
  Whole,   ///< one task: a scalar outside, columns inside
  Rows,    ///< outer: a row; inner: columns
  Columns, ///< outer: some columns; inner: rows
  General, ///< one stage of any maps, alone
};

/// What a space is to a schedule: known before the nest, at its outer index, or
/// in its inner loop; the latter either once for each outer index, or the same
/// for all of them (so that no single outer index may store it).
enum class Role { Global, Outer, Inner, Full };

/// `acc = combiner(acc, element)`, taken from a stage's body.
struct Reduction {
  mlir::Operation *combiner = nullptr; ///< in the body
  mlir::Value element;                 ///< in the body, not depending on `acc`
  mlir::TypedAttr neutral;
};
/// Matches a stage with one result and such a body.
std::optional<Reduction> matchReduction(mlir::linalg::GenericOp op);

/// Whether the accumulator of a reduction that matches starts with what changes
/// nothing: so may each part of the reduction, and its result is the elements'.
/// Zeros of either sign are such for sums.
bool startsNeutral(mlir::linalg::GenericOp op);

/// The one value of a splat constant or a fill, if `tensor` is such.
mlir::TypedAttr constantOf(mlir::Value tensor);

struct Stage {
  mlir::linalg::GenericOp op;
  Space domain = Space::Scalar, result = Space::Scalar;
  bool reduction = false;
  /// A reduction over the outer index. Its result is not known inside the
  /// group: every `StageGroup::chunk` outer indices make one partial result,
  /// and a later stage combines these (a single one is the result itself).
  bool terminal = false;
  /// Passes over the inner index that must come before.
  unsigned level = 0;
  /// Costly and read at several levels: kept, not computed again.
  bool buffered = false;
};

/// What suits a target. Fixed for it, whatever the device at hand: how results
/// are split up decides their bits.
struct StageTarget {
  /// Elements in a partial result: at least so many, and so many rows; more
  /// where there would be more than `mostChunks` of them. Where rows are added
  /// to a row of sums, one after the other, no more than `mostRows`.
  int64_t chunkElements = 32768, chunkRows = 8, mostChunks = INT64_MAX,
          mostRows = 128;
  /// So many elements are reduced by one task, in one go.
  int64_t wholeElements = 65536;
};

struct StageGroup {
  StageTarget target;
  Schedule schedule = Schedule::General;
  int64_t rows = 1, columns = 1;
  /// In the order of the kernel.
  llvm::SmallVector<Stage> stages;
  llvm::DenseMap<mlir::Value, Space> spaces;
  /// Tensors that later groups read or the kernel returns.
  llvm::SmallVector<mlir::Value> outputs;

  Role role(Space space) const;
  Role role(mlir::Value tensor) const { return role(spaces.lookup(tensor)); }
  /// The stage that makes `tensor` here, or null where it comes from memory.
  const Stage *producer(mlir::Value tensor) const;
  bool stores(mlir::Value tensor) const {
    return llvm::is_contained(outputs, tensor);
  }
  /// Outer indices in all.
  int64_t outerSize() const;
  /// Inner indices of each of them.
  int64_t innerSize() const;
  /// Outer indices to a partial result, by the shape alone.
  int64_t chunk() const;
  int64_t chunks() const { return llvm::divideCeil(outerSize(), chunk()); }
  bool hasTerminals() const;
  unsigned levels() const;
  /// The pass that computes most: memory may work beside it.
  unsigned busiestLevel() const;
  /// Tensors that the work of one pass reads from memory.
  llvm::DenseSet<mlir::Value> readAt(unsigned level) const;
  /// Whether the pass of `level` has to compute `stage` for its own sake.
  bool isWorkOf(const Stage &stage, unsigned level) const;
};

/// Tensors that a stage reads to compute an element, the accumulator aside.
llvm::SmallVector<mlir::OpOperand *> readsOf(mlir::linalg::GenericOp op);

/// Operations in a stage's body, functions counted as many.
unsigned costOf(mlir::linalg::GenericOp op);

/// Floating-point operations of all stages, each element of each computed once.
uint64_t flopsOf(const StageGroup &group);

} // namespace mp

#endif // MP_CODEGEN_STAGES_STAGEGROUP_H
