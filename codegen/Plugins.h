//===- Plugins.h - passes and dialects that a shared library brings -------===//
#ifndef MP_CODEGEN_PLUGINS_H
#define MP_CODEGEN_PLUGINS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <mutex>
#include <string>

namespace mlir {
class DialectRegistry;
}

namespace mp {

/// Allows lookup of passes by name while it lives: Mantissa's passes,
/// upstream's transforms, and those of plugins. The pass registry is one for
/// the process, and compilations run at once.
class PassRegistryAccess {
public:
  PassRegistryAccess();
  /// Loads libraries with an entry point mlirGetPassPluginInfo or
  /// mlirGetDialectPluginInfo, each once, and registers their passes. Refuses,
  /// without loading it, a library that was built for another LLVM or Mantissa.
  llvm::Error load(llvm::ArrayRef<std::string> plugins);
  /// Registers the dialects of all plugins that this process has loaded.
  void registerDialects(mlir::DialectRegistry &registry);

private:
  std::lock_guard<std::mutex> lock;
};

} // namespace mp

#endif // MP_CODEGEN_PLUGINS_H
