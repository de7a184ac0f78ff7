//===- Nccl.cpp - NCCL, opened at run time --------------------------------===//
#include "runtime/cuda/Nccl.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstdlib>

using namespace llvm;

namespace mp::cuda::nccl {

/// Sends and other collectives in one graph, on all that we use of them.
static constexpr int kOldest = 21800;

Error Library::check(const char *call, Status status) const {
  if (status == 0)
    return Error::success();
  std::string text =
      (Twine("NCCL: ") + call + " failed: " + ncclGetErrorString(status) +
       " (" + Twine(status) + ")")
          .str();
  if (const char *details = ncclGetLastError(nullptr); details && *details)
    text += std::string(": ") + details;
  return deviceError(text);
}

Error Library::asyncError(Comm comm) const {
  Status status = 0;
  int asked = ncclCommGetAsyncError(comm, &status);
  if (status == inProgress)
    status = 0;
  // The text belongs to the failure only while nothing else is called.
  return check("an exchange", asked ? asked : status);
}

/// Says how to install what is missing.
static Error notFound(Error error) {
  std::string wheel = "nvidia-nccl-cu12";
  if (auto driver = openDriver(); !driver)
    consumeError(driver.takeError());
  else if (driver->version >= 13000)
    wheel = "nvidia-nccl-cu13";
  return deviceError(toString(std::move(error)) +
                     "; ranks on CUDA devices need it: pip install " + wheel +
                     ", or set MP_CUDA_PATH to its folder");
}

/// 22703 is 2.27.3.
static std::string numberText(int number) {
  return std::to_string(number / 10000) + "." +
         std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

static Expected<Library> load() {
  // NCCL would register the tensors of graphs with other processes, and memory
  // that is registered must not be freed; an arena that grows is. It may read
  // its variables once, when the first ranks meet.
  setenv("NCCL_GRAPH_REGISTER", "0", /*overwrite=*/0);
  Expected<OpenLibrary> opened = openLibrary(kNcclLibrary);
  if (!opened)
    return notFound(opened.takeError());
  Library library;
  library.path = opened->path;
#define MP_RESOLVE_AS(NAME, TYPE)                                              \
  {                                                                            \
    auto address = findFunction(*opened, kNcclLibrary.title, #NAME);           \
    if (!address)                                                              \
      return address.takeError();                                              \
    library.NAME = reinterpret_cast<TYPE>(*address);                           \
  }
#define MP_RESOLVE(NAME, PARAMETERS) MP_RESOLVE_AS(NAME, Status(*) PARAMETERS)
  MP_RESOLVE_AS(ncclGetErrorString, const char *(*)(Status))
  MP_RESOLVE_AS(ncclGetLastError, const char *(*)(Comm))
  MP_NCCL_FUNCTIONS(MP_RESOLVE)
#undef MP_RESOLVE
#undef MP_RESOLVE_AS
  int version = 0;
  MP_NCCL(library, ncclGetVersion, &version);
  if (version < kOldest)
    return deviceError("NCCL " + library.path + " is " + numberText(version) +
                       ", expected " + numberText(kOldest) + " or later");
  return library;
}

Expected<const Library &> open() { return openOnce(load); }

int dataType(ElementType type) {
  switch (type) {
  case ElementType::I8:
    return 0;
  case ElementType::I1:
  case ElementType::U8:
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
    return 1;
  case ElementType::I32:
    return 2;
  case ElementType::U32:
    return 3;
  case ElementType::I64:
    return 4;
  case ElementType::F16:
  case ElementType::I16:
  case ElementType::U16:
    return 6;
  case ElementType::F32:
    return 7;
  case ElementType::F64:
    return 8;
  case ElementType::BF16:
    return 9;
  }
  llvm_unreachable("all types are handled");
}

} // namespace mp::cuda::nccl
