//===- Libraries.h - where the CUDA libraries are -------------------------===//
//
// Nothing of CUDA is linked: every library is opened at run time, so one binary
// starts on any machine. A library is looked for in this order:
//
//   1. MP_CUDA_PATH, its lib64 and its lib; where the library is there, nothing
//      else is tried
//   2. CUDA_HOME/lib64, CUDA_PATH/lib64 (and lib)
//   3. the loader's own path (LD_LIBRARY_PATH, ldconfig)
//   4. /usr/local/cuda/lib64
//   5. Python's nvidia wheels: site-packages/nvidia/*/lib of VIRTUAL_ENV, of
//      CONDA_PREFIX, of the python3 on the PATH, and of the user
//
// The driver comes with the kernel's module, and so only from 1 and 3.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_CUDA_LIBRARIES_H
#define MP_RUNTIME_CUDA_LIBRARIES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mp::cuda {

/// A library by what messages call it and the file names it may have, the
/// preferred one first.
struct LibraryName {
  llvm::StringLiteral title;
  llvm::ArrayRef<llvm::StringLiteral> files;
  bool isDriver = false;
};

extern const LibraryName kDriverLibrary, kNvrtcLibrary, kCublasLtLibrary;

/// An open library. Never closed: threads of its own do not survive that.
struct OpenLibrary {
  void *handle = nullptr;
  std::string path; ///< of the file that the loader took
};

/// An error whose code is std::errc::no_such_device: the device, or what it
/// takes to use it, is missing or failed; mp-run exits with 3.
llvm::Error deviceError(const llvm::Twine &text);

/// Opens a library; the environment is read anew at each call. The error says
/// what was tried.
llvm::Expected<OpenLibrary> openLibrary(const LibraryName &name);

/// The files that would be tried in this order; one without a slash is left to
/// the loader.
std::vector<std::string> candidates(const LibraryName &name);

/// The address of a function, or an error that names library and function.
llvm::Expected<void *> findFunction(const OpenLibrary &library,
                                    llvm::StringRef title, const char *name);

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_LIBRARIES_H
