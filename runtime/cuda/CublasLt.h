//===- CublasLt.h - cuBLASLt, opened at run time --------------------------===//
#ifndef MP_RUNTIME_CUDA_CUBLASLT_H
#define MP_RUNTIME_CUDA_CUBLASLT_H

#include "runtime/cuda/DeviceRoutine.h"

namespace mp::cuda {

namespace lt {

using Status = int; ///< 0: success
using LtHandle = struct HandleOpaque *;
using Layout = struct LayoutOpaque *;
using Description = struct DescriptionOpaque *;
using Preference = struct PreferenceOpaque *;

struct Algorithm {
  uint64_t data[8];
};

/// cublasLtMatmulHeuristicResult_t
struct Choice {
  Algorithm algorithm;
  size_t workspaceBytes;
  Status state;
  float waves;
  int reserved[4];
};

/// F(name, (parameters)); every function returns a Status.
#define MP_CUBLASLT_FUNCTIONS(F)                                               \
  F(cublasLtCreate, (LtHandle *))                                              \
  F(cublasLtDestroy, (LtHandle))                                               \
  F(cublasLtMatrixLayoutCreate,                                                \
    (Layout *, int type, uint64_t rows, uint64_t columns, int64_t leading))    \
  F(cublasLtMatrixLayoutSetAttribute,                                          \
    (Layout, int attribute, const void *, size_t bytes))                       \
  F(cublasLtMatrixLayoutDestroy, (Layout))                                     \
  F(cublasLtMatmulDescCreate, (Description *, int compute, int scale))         \
  F(cublasLtMatmulDescSetAttribute,                                            \
    (Description, int attribute, const void *, size_t bytes))                  \
  F(cublasLtMatmulDescDestroy, (Description))                                  \
  F(cublasLtMatmulPreferenceCreate, (Preference *))                            \
  F(cublasLtMatmulPreferenceSetAttribute,                                      \
    (Preference, int attribute, const void *, size_t bytes))                   \
  F(cublasLtMatmulPreferenceDestroy, (Preference))                             \
  F(cublasLtMatmulAlgoGetHeuristic,                                            \
    (LtHandle, Description, Layout a, Layout b, Layout c, Layout d,            \
     Preference, int wanted, Choice *, int *found))                            \
  F(cublasLtMatmul,                                                            \
    (LtHandle, Description, const void *alpha, Address a, Layout, Address b,   \
     Layout, const void *beta, Address c, Layout, Address d, Layout,           \
     const Algorithm *, Address workspace, size_t workspaceBytes, Stream))

/// The open library.
struct Library {
#define MP_DECLARE(NAME, PARAMETERS) Status(*NAME) PARAMETERS = nullptr;
  MP_CUBLASLT_FUNCTIONS(MP_DECLARE)
#undef MP_DECLARE
  size_t (*cublasLtGetVersion)() = nullptr;
  const char *(*cublasLtGetStatusName)(Status) = nullptr;
  std::string path;

  /// "13.0.0"
  std::string version() const;
  /// "cuBLASLt: cublasLtMatmul failed: CUBLAS_STATUS_NOT_SUPPORTED (15)" as an
  /// error, or success.
  llvm::Error check(const char *call, Status status) const;
};

/// The library, opened at the first call. It takes hundreds of megabytes, so
/// call this only if it is needed. Thread-safe.
llvm::Expected<const Library &> open();

/// Like MP_CUDA, for cuBLASLt.
#define MP_CUBLASLT(LIBRARY, NAME, ...)                                        \
  do {                                                                         \
    if (llvm::Error error =                                                    \
            (LIBRARY).check(#NAME, (LIBRARY).NAME(__VA_ARGS__)))               \
      return error;                                                            \
  } while (false)

} // namespace lt

/// Makes "cublaslt.matmul" (program/Program.h), also batched: with the
/// attributes `batch` and a_batch_stride, b_batch_stride, c_batch_stride in
/// elements. The algorithm is chosen here, once, among those that sum in f32
/// and in the same order at every run.
llvm::Expected<std::unique_ptr<DeviceRoutine>>
createCublasLtMatmul(const Call &call, RoutineContext &context);

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_CUBLASLT_H
