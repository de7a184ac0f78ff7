//===- CublasLt.cpp - cuBLASLt, opened at run time ------------------------===//
#include "runtime/cuda/CublasLt.h"

using namespace llvm;

namespace mp::cuda::lt {

Error Library::check(const char *call, Status status) const {
  if (status == 0)
    return Error::success();
  return deviceError(Twine("cuBLASLt: ") + call +
                     " failed: " + cublasLtGetStatusName(status) + " (" +
                     Twine(status) + ")");
}

/// 130002 is 13.0.2; older versions had another form: 120805 is 12.8.5.
std::string Library::version() const {
  size_t number = cublasLtGetVersion();
  return std::to_string(number / 10000) + "." +
         std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

static Expected<Library> load() {
  Expected<OpenLibrary> opened = openLibrary(kCublasLtLibrary);
  if (!opened)
    return opened.takeError();
  Library library;
  library.path = opened->path;
#define MP_RESOLVE_AS(NAME, TYPE)                                              \
  {                                                                            \
    auto address = findFunction(*opened, kCublasLtLibrary.title, #NAME);       \
    if (!address)                                                              \
      return address.takeError();                                              \
    library.NAME = reinterpret_cast<TYPE>(*address);                           \
  }
#define MP_RESOLVE(NAME, PARAMETERS) MP_RESOLVE_AS(NAME, Status(*) PARAMETERS)
  MP_CUBLASLT_FUNCTIONS(MP_RESOLVE)
  MP_RESOLVE_AS(cublasLtGetVersion, size_t (*)())
  MP_RESOLVE_AS(cublasLtGetStatusName, const char *(*)(Status))
#undef MP_RESOLVE
#undef MP_RESOLVE_AS
  return library;
}

Expected<const Library &> open() { return openOnce(load); }

} // namespace mp::cuda::lt
