//===- LoopRound.h - the places of a loop's results -------------*- C++ -*-===//
#ifndef MP_CODEGEN_PLAN_LOOPROUND_H
#define MP_CODEGEN_PLAN_LOOPROUND_H

#include "codegen/Backend.h"
#include "dialect/ops/Loop.h"
#include "program/Program.h"

namespace mp {

/// Returns the bytes of a tensor.
uint64_t bytesOfValue(mlir::Value value);

/// A round of a loop while it is planned: where its values are stored, and
/// which of them have been.
class LoopRound {
public:
  /// `around` is the round that the loop is in, or null.
  LoopRound(LoopOp loop, mlir::func::FuncOp body, const LoopRound *around)
      : loop(loop), block(body.getBody().front()),
        loops(around ? around->loops + 1 : 0), places(loop.getNumResults()),
        rows(loop.getCarried().size()) {}

  struct Preparation {
    Launch launch;
    StepBufferRefs touched;
  };

  const LoopOp loop;
  mlir::Block &block;
  std::vector<Preparation> preparations;

  unsigned carried() const { return rows.size(); }
  unsigned results() const { return places.size(); }
  mlir::BlockArgument argument(unsigned carried) {
    return block.getArgument(LoopOp(loop).getInvariant().size() + carried);
  }
  /// What the round returns for a result.
  mlir::Value yielded(unsigned result) {
    return block.getTerminator()->getOperand(result);
  }

  /// Sets the place of a result of the loop: of a carried value, which every
  /// round reads and writes, or of a stack.
  void setPlace(unsigned result, BufferRef place) { places[result] = place; }
  bool hasPlace(unsigned result) const { return places[result].has_value(); }
  /// Lets what rounds carry on lie in a row: of `row`, which has one element
  /// more than there are rounds, each round reads one and writes the next.
  void carryInRow(unsigned carried, BufferRef row);
  /// The parts of the row that all rounds read, and that they write.
  BufferRef readPart(unsigned carried) const { return rows[carried]->read; }
  BufferRef writtenPart(unsigned carried) const {
    return rows[carried]->written;
  }
  /// The first round's value, and that which the last round leaves.
  BufferRef firstOf(unsigned carried);
  BufferRef lastOf(unsigned carried);
  /// Buffers from here on are made in the round.
  void beginBuffers(size_t number) { firstBuffer = number; }

  /// Where the round finds a carried value.
  BufferRef argumentPlace(unsigned carried);
  /// Where the round leaves what it returns.
  BufferRef placeOf(unsigned result);
  /// Whether it is there.
  bool isStored(unsigned result) const { return stored.contains(result); }
  void setStored(unsigned result) { stored.insert(result); }

  /// Returns the place of a round's element of a tensor.
  BufferRef elementOf(BufferRef tensor, mlir::Value element);
  /// Whether kernels may read and write elements of that size where they are:
  /// they begin where a tensor of its own might.
  static bool isAligned(mlir::Value element);

  /// Returns where a kernel may store a result so that it need not be moved
  /// there, and takes it as stored; or nothing. `mayReplace` says whether that
  /// may overwrite a carried value of the round before.
  std::optional<BufferRef>
  takePlace(mlir::OpResult result,
            llvm::function_ref<bool(mlir::Value before)> mayReplace);

  /// Adds a launch that runs once, before the first round.
  void prepare(Launch launch, StepBufferRefs touched) {
    preparations.push_back({std::move(launch), std::move(touched)});
  }

  /// Whether the round may write a buffer before it ends.
  bool owns(const BufferRef &ref) const {
    return ref.index >= firstBuffer && ref.strides.empty();
  }

private:
  bool isYielded(mlir::Value value, unsigned result);

  struct Row {
    BufferRef read, written;
  };

  size_t loops; ///< around this one
  llvm::SmallVector<std::optional<BufferRef>> places;
  llvm::SmallVector<std::optional<Row>> rows; ///< by carried value
  size_t firstBuffer = 0;
  llvm::DenseSet<unsigned> stored;
};

} // namespace mp

#endif // MP_CODEGEN_PLAN_LOOPROUND_H
