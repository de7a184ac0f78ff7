//===- Cudnn.cpp - cuDNN, opened at run time ------------------------------===//
#include "runtime/cuda/Cudnn.h"

using namespace llvm;

namespace mp::cuda::dnn {

Error Library::check(const char *call, Status status) const {
  if (status == 0)
    return Error::success();
  char details[512] = "";
  cudnnGetLastErrorString(details, sizeof(details));
  StringRef reason = StringRef(details).split('\n').first;
  return deviceError(
      Twine("cuDNN: ") + call + " failed: " + cudnnGetErrorString(status) +
      " (" + Twine(status) + ")" + (reason.empty() ? "" : ": ") + reason);
}

/// 91002 is 9.10.2.
std::string Library::version() const {
  size_t number = cudnnGetVersion();
  return std::to_string(number / 10000) + "." +
         std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

static Expected<Library> load() {
  Expected<OpenLibrary> opened = openLibrary(kCudnnLibrary);
  if (!opened)
    return deviceError(toString(opened.takeError()) +
                       "; install it (pip install nvidia-cudnn-cu13, or "
                       "-cu12 beside CUDA 12), set MP_CUDA_PATH to its folder, "
                       "or compile without a plan that names cudnn");
  Library library;
  library.path = opened->path;
#define MP_RESOLVE_AS(NAME, TYPE)                                              \
  {                                                                            \
    auto address = findFunction(*opened, kCudnnLibrary.title, #NAME);          \
    if (!address)                                                              \
      return address.takeError();                                              \
    library.NAME = reinterpret_cast<TYPE>(*address);                           \
  }
#define MP_RESOLVE(NAME, PARAMETERS) MP_RESOLVE_AS(NAME, Status(*) PARAMETERS)
  MP_CUDNN_FUNCTIONS(MP_RESOLVE)
  MP_RESOLVE_AS(cudnnGetVersion, size_t (*)())
  MP_RESOLVE_AS(cudnnGetErrorString, const char *(*)(Status))
  MP_RESOLVE_AS(cudnnGetLastErrorString, void (*)(char *, size_t))
#undef MP_RESOLVE
#undef MP_RESOLVE_AS
  return library;
}

Expected<const Library &> open() { return openOnce(load); }

} // namespace mp::cuda::dnn
