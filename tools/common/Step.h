//===- Step.h - a recipe's step and inputs to measure it with -------------===//
#ifndef MP_TOOLS_COMMON_STEP_H
#define MP_TOOLS_COMMON_STEP_H

#include "runtime/Memory.h"
#include "runtime/Model.h"
#include "runtime/data/Prefetcher.h"

namespace mp::tool {

/// The inputs of one step, kept as long as this.
struct StepInputs {
  std::vector<Memory> memories;
  std::optional<Dataset> data;
  std::unique_ptr<Prefetcher> batch;
  std::vector<const void *> pointers;
};

/// The first batch of a folder, in its order; without one random numbers, and
/// integers within what the input allows.
llvm::Error makeInputs(Model &model, const Entry &entry, uint64_t batch,
                       llvm::StringRef folder, uint64_t seed,
                       StepInputs &inputs);

/// The entry points of a step.
struct StepProgram {
  Executable *last = nullptr;   ///< the step, or what applies micro-batches
  Executable *gather = nullptr; ///< takes a micro-batch, where there are many
  int64_t microBatches = 1;
  std::optional<unsigned> skipped = std::nullopt; ///< result of `last`

  Executable &takesInputs() const { return gather ? *gather : *last; }
  llvm::Expected<Executable::Ticket> submit(Executable::Inputs inputs) const;
};

/// Compiles the recipe's step where that has not happened yet.
llvm::Expected<StepProgram> findStep(Model &model, uint64_t batch);

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_STEP_H
