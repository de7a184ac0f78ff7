//===- GroupNest.h - the loop nest of a group, being built ------*- C++ -*-===//
//
// The nest has outer indices, passes over the inner one, and in them the
// stages' bodies. A value is computed when it is first asked for, at the depth
// that its role gives: before the nest, at the outer index, or in the inner
// loop.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_NEST_GROUPNEST_H
#define MP_CODEGEN_CPU_NEST_GROUPNEST_H

#include "codegen/cpu/nest/KernelFunction.h"
#include "codegen/cpu/nest/PairedLanes.h"
#include "codegen/cpu/nest/Pick.h"
#include "codegen/cpu/nest/ScalarBody.h"
#include "llvm/ADT/SetVector.h"

namespace mp::cpu {

/// The values computed at one depth of the nest.
struct Scope {
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  /// The op of this depth that is being filled; new values go before it.
  mlir::Operation *open = nullptr;
};

class GroupNest {
public:
  GroupNest(const StageGroup &group, mlir::Value predicate)
      : group(group), f(group.stages.front().op->getContext(),
                        group.stages.front().op->getLoc(), predicate),
        lanes(chooseLanes()), isPaired(canPairLanes(group)) {}

  StageFunction emit();

private:
  // Shape of the code.
  int64_t chooseLanes() const;
  int64_t blockSize() const;
  bool lanesAreOuter() const {
    return group.schedule == LoopSchedule::Flat ||
           group.schedule == LoopSchedule::Columns;
  }
  /// A row of one vector: its values stay in registers from pass to pass.
  bool keepsRow() const { return !lanesAreOuter() && group.columns <= lanes; }
  bool isVector(Space space) const {
    return space == Space::Column || space == Space::Full;
  }

  // Values.
  Scope &scopeOf(Role role) {
    return scopes[std::min<unsigned>(unsigned(role), 2)];
  }
  mlir::Value value(mlir::Value tensor);
  void computeMap(const Stage &stage, Scope &scope);
  mlir::Value element(const Stage &stage, const Reduction &reduction);
  Reduction reductionOf(const Stage &stage) const;
  mlir::Value picked(const Stage &stage, const Pick &pick);
  llvm::SmallVector<mlir::Value> arguments(const Stage &stage);
  BodyPoint point(const Stage &stage);
  mlir::Value memory(mlir::Value tensor, Space space);
  llvm::SmallVector<mlir::Value> indices(Space space);
  llvm::SmallVector<mlir::Value> placeOf(mlir::Value tensor, Space space);
  bool isStream(Space space) const {
    return space == Space::Full ||
           (space == Space::Column && group.schedule == LoopSchedule::Flat);
  }
  void prefetchStreams(bool reads, bool writes);
  mlir::Value rowIndex() const {
    return group.schedule == LoopSchedule::Rows ? outer : inner;
  }
  mlir::Value columnIndex() const { return lanesAreOuter() ? outer : inner; }

  // Loops.
  using Values = llvm::SmallVector<mlir::Value>;
  Values chunkLoop();
  Values outerRange(mlir::Value lower, mlir::Value upper, Values totals);
  Values outerBody(Values totals);
  Values pass(unsigned level, Values totals);
  /// Whether a pass's loop has to compute `stage`.
  bool isLooped(const Stage &stage, unsigned level) const {
    return group.isWorkOf(stage, level) && !picks.contains(stage.op);
  }
  Values innerRange(llvm::ArrayRef<Reduction> reductions, Values start,
                    llvm::function_ref<Values(Values)> body);
  int64_t innerSteps() const;
  Values passBody(unsigned level, Values accumulators);
  void finishReductions(unsigned level, Values accumulators);

  // Terminals.
  llvm::SmallVector<Reduction> totalsOfChunk();
  Values startTotals();
  void clearSums();
  void storeTotals(Values totals);
  mlir::Value partial(const Stage &stage);
  bool isSumsInMemory(const Stage &stage) const {
    return stage.terminal && group.role(stage.result) != Role::Global;
  }
  template <typename Fn> void forEachTotal(Fn fn);
  mlir::Value accumulate(mlir::Operation *combiner, mlir::Value accumulator,
                         mlir::Value element);

  const StageGroup &group;
  KernelFunction f;
  int64_t lanes;
  bool isPaired;   ///< bf16, in all lanes (PairedLanes.h)
  Scope scopes[3]; ///< Global, Outer, Inner and Full
  mlir::Value outer, inner, mask, chunkIndex;
  unsigned level = 0;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::DenseMap<mlir::Operation *, Pick> picks; ///< sums that are loads
  /// Rows of 16 bits whose largest element is found by keys (Largest.h).
  llvm::DenseMap<mlir::Operation *, mlir::Value> largest;
  /// Tensors in memory of which each step reads or writes a new part.
  llvm::SmallSetVector<mlir::Value, 4> readStreams, writtenStreams;
};

/// Calls `fn(stage, reduction)` for each reduction to one value of the chunk.
template <typename Fn> void GroupNest::forEachTotal(Fn fn) {
  for (const Stage &stage : group.stages)
    if (stage.terminal && !isSumsInMemory(stage))
      fn(stage, *matchReduction(stage.op));
}

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_NEST_GROUPNEST_H
