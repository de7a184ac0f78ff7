//===- Jit.h - links compiled kernels into this process -------------------===//
#ifndef MP_RUNTIME_CPU_JIT_H
#define MP_RUNTIME_CPU_JIT_H

#include "program/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace mp {

/// The function of a linked kernel: see Kernel in program/Program.h.
using KernelFunction = void (*)(void *const *args, int64_t begin, int64_t end,
                                void *shared);

/// LLVM's name of this machine's CPU, "znver4".
llvm::StringRef hostCpu();
/// The LLVM features that this machine's CPU has, sorted: "avx", "avx2", ...
llvm::ArrayRef<std::string> hostFeatures();
/// Fails if the host lacks one of the comma-separated `features` ("avx2" or
/// "+avx2"; "-avx2" requires nothing), and names the first it lacks.
llvm::Error checkHostFeatures(llvm::StringRef features);

/// A linker of relocatable objects. Symbols that objects leave undefined are
/// resolved in this process, libm's among them. Not thread-safe.
class Jit {
public:
  static llvm::Expected<std::unique_ptr<Jit>> create();
  ~Jit();

  /// Links kernels; a symbol that is linked already is skipped. Errors: a
  /// feature the host lacks, a kernel without code, a damaged object, an
  /// undefined symbol.
  llvm::Error link(llvm::ArrayRef<Kernel> kernels);

  /// The function of a linked kernel, or null.
  KernelFunction find(llvm::StringRef symbol) const {
    return functions.lookup(symbol);
  }

private:
  struct Impl;
  explicit Jit(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
  llvm::StringMap<KernelFunction> functions;
};

} // namespace mp

#endif // MP_RUNTIME_CPU_JIT_H
