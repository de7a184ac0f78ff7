//===- CudaSession.h - a Session on a CUDA device -------------------------===//
#ifndef MP_RUNTIME_CUDA_CUDASESSION_H
#define MP_RUNTIME_CUDA_CUDASESSION_H

#include "runtime/Session.h"

namespace mp::cuda {

/// Makes a Session whose kernels NVRTC compiles for the device and whose runs
/// are CUDA graphs. Errors are those of Session::create.
llvm::Expected<std::unique_ptr<Session>>
createSession(const SessionOptions &options);

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_CUDASESSION_H
