//===- Arch.h - generations of NVIDIA GPUs ----------------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_ARCH_H
#define MP_CODEGEN_CUDA_ARCH_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace mp::cuda {

/// A compute capability, major * 10 + minor.
struct Arch {
  unsigned capability = 80;

  /// Reads "sm_90"; empty: "sm_80". Errors: another form; an architecture below
  /// sm_80, which has neither cp.async nor bf16.
  static llvm::Expected<Arch> get(llvm::StringRef name);
  /// As `get`, for a name that a person gave: accepts only the architectures of
  /// today. The device of a machine may be a later one.
  static llvm::Expected<Arch> known(llvm::StringRef name);
  /// "sm_90".
  std::string name() const;
  /// Bytes of shared memory that one block can have (CUDA C++ Programming
  /// Guide, Compute Capabilities).
  uint64_t sharedBytes() const;
  /// Multiprocessors of a common device of this architecture. One with fewer
  /// runs what was compiled for it too, but more slowly.
  int64_t multiprocessors() const;
};

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_ARCH_H
