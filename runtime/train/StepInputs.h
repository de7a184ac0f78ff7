//===- StepInputs.h - inputs to measure a recipe's step with ----*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_STEPINPUTS_H
#define MP_RUNTIME_TRAIN_STEPINPUTS_H

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

} // namespace mp

#endif // MP_RUNTIME_TRAIN_STEPINPUTS_H
