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
  /// that is made in the round.
  LoopRound(LoopOp loop, mlir::func::FuncOp body,
            llvm::SmallVector<BufferRef> places, size_t firstBuffer)
      : loop(loop), block(body.getBody().front()), places(std::move(places)),
        firstBuffer(firstBuffer) {}

  const LoopOp loop;
  mlir::Block &block;

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
    preparations.push_back(std::move(launch));
    prepared.push_back(std::move(touched));
  }
  /// Inserts these launches, and what they touch, before step `number`.
  void insertPreparations(std::vector<Step> &steps,
                          std::vector<StepBufferRefs> &places,
                          size_t number) const {
    auto insert = [&](auto &into, const auto &own) {
      into.insert(into.begin() + number, own.begin(), own.end());
    };
    insert(steps, preparations);
    insert(places, prepared);
  }

  /// Whether the round may write a buffer before it ends.
  bool owns(const BufferRef &ref) const {
    return ref.index >= firstBuffer && ref.stride == 0;
  }

private:
  bool isYielded(mlir::Value value, unsigned result);

  llvm::SmallVector<BufferRef> places;
  size_t firstBuffer;
  llvm::DenseSet<unsigned> stored;
  std::vector<Step> preparations;
  std::vector<StepBufferRefs> prepared; ///< what each of them touches
};

} // namespace mp

#endif // MP_CODEGEN_PLAN_LOOPROUND_H
