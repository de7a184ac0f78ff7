//===- LibraryCall.h - a library's kernel instead of ours -------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_CONTRACTION_LIBRARYCALL_H
#define MP_CODEGEN_CUDA_CONTRACTION_LIBRARYCALL_H

#include "codegen/cuda/KernelModel.h"
#include "codegen/stages/ContractionSpec.h"

namespace mp::cuda {

/// Returns whether the library of `shape` computes an anchor that is `spec`:
/// the plan says so, the library may be called, and it rounds as the generated
/// kernels do, once. So results have the operands' type, and so has a bias.
bool isForLibrary(const TunedShape &shape, const ContractionSpec &spec,
                  const EmitOptions &options);

/// What differs between the calls of libraries.
struct LibraryCall {
  llvm::StringRef routine;
  std::vector<std::pair<std::string, Call::Attribute>> attributes;
  uint64_t flops = 0;
  uint64_t workspace = 0; ///< bytes, the most that the library may use
};

/// Returns the call for an anchor without stages after it: its arguments are
/// the operands, the result and the workspace. Adds the attributes `compute`,
/// "f32" or "tf32", and `workspace`.
EmittedKernel emitLibraryCall(mlir::Operation *anchor, LibraryCall library,
                              bool tf32);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_CONTRACTION_LIBRARYCALL_H
