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
  /// `places` are those of the loop's results: of carried values, which every
  /// round reads and writes, and of stacks. `firstBuffer` is the first buffer
  /// that is made in the round, and `around` the round that the loop is in, or
  /// null.
  LoopRound(LoopOp loop, mlir::func::FuncOp body,
            llvm::SmallVector<BufferRef> places, size_t firstBuffer,
            const LoopRound *around)
      : loop(loop), block(body.getBody().front()), places(std::move(places)),
        firstBuffer(firstBuffer), loops(around ? around->loops + 1 : 0) {}

  struct Preparation {
    Launch launch;
    StepBufferRefs touched;
  };

  const LoopOp loop;
  mlir::Block &block;
  std::vector<Preparation> preparations;

  unsigned carried() { return LoopOp(loop).getCarried().size(); }
  unsigned results() const { return places.size(); }
  /// What the round returns for a result.
  mlir::Value yielded(unsigned result) {
    return block.getTerminator()->getOperand(result);
  }
  /// Where the round leaves that.
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

  llvm::SmallVector<BufferRef> places;
  size_t firstBuffer;
  size_t loops; ///< around this one
  llvm::DenseSet<unsigned> stored;
};

} // namespace mp

#endif // MP_CODEGEN_PLAN_LOOPROUND_H
