//===- StepInputs.h - inputs to measure a recipe's step with ----*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_STEPINPUTS_H
#define MP_RUNTIME_TRAIN_STEPINPUTS_H

#include "runtime/Memory.h"
#include "runtime/Model.h"

namespace mp {

/// The inputs of one step. The views are valid as long as the object.
struct StepInputs {
  std::vector<Memory> memories;
  std::vector<TensorView> views;
};

/// Returns the first `count` batches of a folder, in its order. Without a
/// folder, each batch has other random numbers, with integers in the range of
/// the input.
llvm::Expected<std::vector<StepInputs>>
makeBatches(Model &model, const Entry &entry, uint64_t batch, uint64_t count,
            llvm::StringRef folder, uint64_t seed);

/// Makes the first of these batches.
llvm::Error makeInputs(Model &model, const Entry &entry, uint64_t batch,
                       llvm::StringRef folder, uint64_t seed,
                       StepInputs &inputs);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_STEPINPUTS_H
