//===- TuneModules.h - modules that a tuner measures ------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_CONTRACTION_TUNEMODULES_H
#define MP_CODEGEN_CUDA_CONTRACTION_TUNEMODULES_H

#include "codegen/cuda/contraction/TunePlan.h"

namespace mp::cuda {

/// The operands of a product or convolution, in the op's order, and its result.
struct TunedTensors {
  TensorType a, b, c;
};
TunedTensors tensorsOf(const TunedShape &shape);

/// Returns what a plan could choose kernels for in a Program, in order and
/// without repeats: each such generated kernel begins with its line of a plan,
/// as a comment.
std::vector<TunedShape> shapesOf(const Program &program);

/// Returns a module whose one function, @product, computes only this, of its
/// arguments.
std::string moduleOf(const TunedShape &shape);

/// Returns a module whose one function, `function`, computes this `copies`
/// times, from variables into variables. A tuner compiles it under a plan for
/// that shape, and measures it. Copy i is @c<i>, of @a<i> and @b.
std::string benchmarkOf(const TunedShape &shape, llvm::StringRef function,
                        unsigned copies);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_CONTRACTION_TUNEMODULES_H
