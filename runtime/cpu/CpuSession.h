//===- CpuSession.h - a Session on this machine's cores -------------------===//
#ifndef MP_RUNTIME_CPU_CPUSESSION_H
#define MP_RUNTIME_CPU_CPUSESSION_H

#include "runtime/Session.h"

namespace mp {

/// A Session whose kernels are linked into this process and run on its own
/// thread pool.
llvm::Expected<std::unique_ptr<Session>>
createCpuSession(const SessionOptions &options);

} // namespace mp

#endif // MP_RUNTIME_CPU_CPUSESSION_H
