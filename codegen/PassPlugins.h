//===- PassPlugins.h - passes that a shared library brings ----------------===//
#ifndef MP_CODEGEN_PASSPLUGINS_H
#define MP_CODEGEN_PASSPLUGINS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <mutex>
#include <string>

namespace mp {

/// While it lives, passes may be looked up by name: ours, upstream's
/// transforms, and those of plugins. The registry is one for the process, and
/// compilations run at once.
class PassRegistryAccess {
public:
  PassRegistryAccess();
  /// Loads libraries built for this LLVM with an entry point
  /// mlirGetPassPluginInfo; each once.
  llvm::Error load(llvm::ArrayRef<std::string> plugins);

private:
  std::lock_guard<std::mutex> lock;
};

} // namespace mp

#endif // MP_CODEGEN_PASSPLUGINS_H
