//===- PassPlugins.h - passes that a shared library brings ----------------===//
#ifndef MP_CODEGEN_PASSPLUGINS_H
#define MP_CODEGEN_PASSPLUGINS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <mutex>
#include <string>

namespace mp {

/// Allows lookup of passes by name while it lives: Mantissa's passes,
/// upstream's transforms, and those of plugins. The pass registry is one for
/// the process, and compilations run at once.
class PassRegistryAccess {
public:
  PassRegistryAccess();
  /// Loads libraries that were built for this LLVM and have an entry point
  /// mlirGetPassPluginInfo. Loads each once.
  llvm::Error load(llvm::ArrayRef<std::string> plugins);

private:
  std::lock_guard<std::mutex> lock;
};

} // namespace mp

#endif // MP_CODEGEN_PASSPLUGINS_H
