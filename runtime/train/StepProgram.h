//===- StepProgram.h - a recipe's step, and inputs to measure it with
//------===//
#ifndef MP_RUNTIME_TRAIN_STEPPROGRAM_H
#define MP_RUNTIME_TRAIN_STEPPROGRAM_H

#include "runtime/Memory.h"
#include "runtime/Model.h"

namespace mp {

/// The inputs of one step, kept as long as this.
struct StepInputs {
  std::vector<Memory> memories;
  std::vector<TensorView> views;
};

/// The first `count` batches of a folder, in its order; without a folder random
/// numbers, and integers within what the input allows, others for each batch.
llvm::Expected<std::vector<StepInputs>>
makeBatches(Model &model, const Entry &entry, uint64_t batch, uint64_t count,
            llvm::StringRef folder, uint64_t seed);

/// The first of them.
llvm::Error makeInputs(Model &model, const Entry &entry, uint64_t batch,
                       llvm::StringRef folder, uint64_t seed,
                       StepInputs &inputs);

/// The entry points of a step.
struct StepProgram {
  Executable *last = nullptr;   ///< the step, or what applies micro-batches
  Executable *gather = nullptr; ///< takes a micro-batch, where there are many
  int64_t microBatches = 1;
  /// Results of `last`, where it has them.
  std::optional<unsigned> loss = std::nullopt, scale = std::nullopt,
                          skipped = std::nullopt;

  Executable &takesInputs() const { return gather ? *gather : *last; }
  llvm::Expected<Executable::Ticket> submit(Executable::Inputs inputs) const;
};

/// Compiles the recipe's step where that has not happened yet.
llvm::Expected<StepProgram> findStep(Model &model, uint64_t batch);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_STEPPROGRAM_H
