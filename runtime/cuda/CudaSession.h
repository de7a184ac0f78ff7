//===- CudaSession.h - a Session on a CUDA device -------------------------===//
#ifndef MP_RUNTIME_CUDA_CUDASESSION_H
#define MP_RUNTIME_CUDA_CUDASESSION_H

#include "runtime/Session.h"

namespace mp::cuda {

/// A Session whose kernels NVRTC compiles for the device at hand and whose runs
/// are CUDA graphs. Errors as of Session::create.
llvm::Expected<std::unique_ptr<Session>>
createSession(const SessionOptions &options);

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_CUDASESSION_H
