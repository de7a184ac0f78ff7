//===- HostCpu.h - what the CPU of this process can do ----------*- C++ -*-===//
#ifndef MP_SUPPORT_HOSTCPU_H
#define MP_SUPPORT_HOSTCPU_H

#include "llvm/ADT/StringMap.h"

namespace mp {

/// Returns the features of this CPU by LLVM's names, and whether a kernel may
/// use them: the CPU has them, the system gives this process their registers,
/// and the switch MP_CPU_FEATURES ("-amx-bf16,-avx512f") does not leave them
/// out. The first call asks the system for the tile registers of AMX, which are
/// then those of all threads of the process.
const llvm::StringMap<bool> &hostCpuFeatures();

} // namespace mp

#endif // MP_SUPPORT_HOSTCPU_H
