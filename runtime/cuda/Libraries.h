//===- Libraries.h - finds and opens the CUDA libraries -------------------===//
//
// No CUDA library is linked: all are opened at run time, so that one binary
// starts on any machine. A library is searched for in this order:
//
//   1. MP_CUDA_PATH, its lib64 and its lib; if the library is there, nothing
//      else is tried
//   2. CUDA_HOME/lib64, CUDA_PATH/lib64 (and lib)
//   3. the loader's own path (LD_LIBRARY_PATH, ldconfig)
//   4. /usr/local/cuda/lib64
//   5. Python's nvidia wheels: site-packages/nvidia/*/lib of VIRTUAL_ENV, of
//      CONDA_PREFIX, of the python3 on the PATH, and of the user
//
// The driver comes with the kernel module, and so only from 1 and 3.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_CUDA_LIBRARIES_H
#define MP_RUNTIME_CUDA_LIBRARIES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace mp::cuda {

/// The name of a library in messages and its possible file names, the preferred
/// one first.
struct LibraryName {
  llvm::StringLiteral title;
  llvm::ArrayRef<llvm::StringLiteral> files;
  bool isDriver = false;
};

extern const LibraryName kDriverLibrary, kNvrtcLibrary, kCublasLtLibrary,
    kCudnnLibrary, kNcclLibrary;

/// An open library. It is never closed, as its threads would not survive that.
struct OpenLibrary {
  void *handle = nullptr;
  std::string path; ///< of the file that the loader opened
};

/// An error whose code is std::errc::no_such_device: the device, or what its
/// use requires, is missing or failed; mp-run exits with 3.
llvm::Error deviceError(const llvm::Twine &text);

/// Opens a library; the environment is read anew at each call. The error lists
/// what was tried.
llvm::Expected<OpenLibrary> openLibrary(const LibraryName &name);

/// What `load` returns at the first call of this for a type, for good: a
/// library is opened once, and its absence has one message. Thread-safe.
template <typename Library>
llvm::Expected<const Library &> openOnce(llvm::Expected<Library> (*load)()) {
  static std::string problem;
  static const std::optional<Library> library =
      [&]() -> std::optional<Library> {
    llvm::Expected<Library> loaded = load();
    if (loaded)
      return std::move(*loaded);
    problem = llvm::toString(loaded.takeError());
    return std::nullopt;
  }();
  if (!library)
    return deviceError(problem);
  return *library;
}

/// The files that would be tried, in order; the loader searches for one without
/// a slash.
std::vector<std::string> candidates(const LibraryName &name);

/// The address of a function, or an error that names library and function.
llvm::Expected<void *> findFunction(const OpenLibrary &library,
                                    llvm::StringRef title, const char *name);

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_LIBRARIES_H
