//===- StepInputs.h - inputs to measure a recipe's step with ----*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_STEPINPUTS_H
#define MP_RUNTIME_TRAIN_STEPINPUTS_H

#include "runtime/Memory.h"
#include "runtime/Model.h"

namespace mp {

/// The inputs of one step, with the memory that they are in.
struct StepInputs {
  std::vector<Memory> memories;
  std::vector<TensorView> views;
};

/// The first `count` batches of a folder, in its order. Without a folder, each
/// batch has other random numbers; integers are within the input's range.
llvm::Expected<std::vector<StepInputs>>
makeBatches(Model &model, const Entry &entry, uint64_t batch, uint64_t count,
            llvm::StringRef folder, uint64_t seed);

/// Makes only the first of them.
llvm::Error makeInputs(Model &model, const Entry &entry, uint64_t batch,
                       llvm::StringRef folder, uint64_t seed,
                       StepInputs &inputs);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_STEPINPUTS_H
