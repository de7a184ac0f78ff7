//===- Nvrtc.h - NVIDIA's compiler, opened at run time --------------------===//
#ifndef MP_RUNTIME_CUDA_NVRTC_H
#define MP_RUNTIME_CUDA_NVRTC_H

#include "program/Program.h"
#include "runtime/cuda/Libraries.h"

namespace mp::cuda {

using NvrtcProgram = struct NvrtcProgramOpaque *;
using NvrtcResult = int; ///< 0: success

/// F(name, (parameters)); every function returns an NvrtcResult.
#define MP_NVRTC_FUNCTIONS(F)                                                  \
  F(nvrtcVersion, (int *major, int *minor))                                    \
  F(nvrtcGetNumSupportedArchs, (int *))                                        \
  F(nvrtcGetSupportedArchs, (int *))                                           \
  F(nvrtcCreateProgram,                                                        \
    (NvrtcProgram *, const char *source, const char *name, int headers,        \
     const char *const *texts, const char *const *names))                      \
  F(nvrtcDestroyProgram, (NvrtcProgram *))                                     \
  F(nvrtcCompileProgram, (NvrtcProgram, int count, const char *const *))       \
  F(nvrtcGetCUBINSize, (NvrtcProgram, size_t *))                               \
  F(nvrtcGetCUBIN, (NvrtcProgram, char *))                                     \
  F(nvrtcGetProgramLogSize, (NvrtcProgram, size_t *))                          \
  F(nvrtcGetProgramLog, (NvrtcProgram, char *))

/// The open compiler. Its functions may be called from several threads.
struct Nvrtc {
#define MP_DECLARE(NAME, PARAMETERS) NvrtcResult(*NAME) PARAMETERS = nullptr;
  MP_NVRTC_FUNCTIONS(MP_DECLARE)
#undef MP_DECLARE
  const char *(*nvrtcGetErrorString)(NvrtcResult) = nullptr;
  std::string path;
  int major = 0, minor = 0;
  std::vector<int> architectures; ///< that it compiles for: 80, 86, 90, ...

  std::string version() const {
    return std::to_string(major) + "." + std::to_string(minor);
  }
  /// "NVRTC: nvrtcCompileProgram failed: NVRTC_ERROR_COMPILATION (6)" as an
  /// error, or success.
  llvm::Error check(const char *call, NvrtcResult result) const;
};

/// NVRTC, opened at the first call. Errors: it is missing or older than 12.0,
/// or a call fails. Thread-safe.
llvm::Expected<const Nvrtc &> openNvrtc();

/// Like MP_CUDA, for NVRTC.
#define MP_NVRTC(NVRTC, NAME, ...)                                             \
  do {                                                                         \
    if (llvm::Error error = (NVRTC).check(#NAME, (NVRTC).NAME(__VA_ARGS__)))   \
      return error;                                                            \
  } while (false)

/// The architecture that code for compute capability `major`.`minor` is
/// compiled for: "sm_90" for 9.0, or the nearest that this NVRTC knows and that
/// the device runs, since a cubin runs on later minor versions too.
llvm::Expected<std::string> chooseArchitecture(const Nvrtc &nvrtc, int major,
                                               int minor);

/// The options for every kernel.
std::vector<std::string> compilerOptions(const Nvrtc &nvrtc,
                                         llvm::StringRef architecture);

/// The result of compiling one source.
struct Compilation {
  std::string cubin;
  std::string log; ///< registers and more: see ResourceUsage.h
};

/// Compiles a kernel's source, with headers in memory, to a cubin. If NVRTC
/// rejects it, the error holds the beginning of its log.
llvm::Expected<Compilation> compileToCubin(const Nvrtc &nvrtc,
                                           const std::string &source,
                                           llvm::ArrayRef<Header> headers,
                                           llvm::ArrayRef<std::string> options);

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_NVRTC_H
