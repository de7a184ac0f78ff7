//===- CheckpointWeights.h - weights without a state ------------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_CHECKPOINTWEIGHTS_H
#define MP_RUNTIME_TRAIN_CHECKPOINTWEIGHTS_H

#include "runtime/Session.h"

namespace mp {

/// Which weights of a checkpoint are read: the trained ones, their moving
/// averages if the recipe has `ema`, or weights to begin training with. Initial
/// weights come without the histories of 8-bit training, which then stay empty.
enum class Weights { Trained, Averaged, Initial };

/// Fills parameters and buffers by name, converting between floating-point
/// types, then runs `derive`. All other state stays as it is. `path` is a
/// safetensors file (such as a PyTorch state_dict), a checkpoint, or a run
/// folder. Weights whose name one of the shell patterns `except` matches stay
/// as they are, whatever the file has of them. An error lists missing and
/// unexpected names, or a pattern that matches no weight, and leaves the
/// session as it was.
llvm::Error loadWeights(llvm::StringRef path, Session &session,
                        Weights which = Weights::Trained,
                        llvm::ArrayRef<std::string> except = {});

/// The number of exported tensors, and their bytes.
struct Exported {
  size_t tensors = 0;
  uint64_t bytes = 0;
  uint64_t flushed = 0; ///< elements that became zero in a narrower type
};

/// Writes the parameters and buffers of a checkpoint or run folder to a
/// safetensors file that PyTorch's load_state_dict accepts: without slots,
/// scaler and the histories of 8-bit training. `which` is Trained or Averaged.
/// With an `element`, tensors of floating-point numbers are rounded to it. An
/// error names a tensor with a finite element that it cannot hold.
llvm::Expected<Exported>
exportWeights(llvm::StringRef from, llvm::StringRef to,
              Weights which = Weights::Trained,
              std::optional<ElementType> element = std::nullopt);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_CHECKPOINTWEIGHTS_H
