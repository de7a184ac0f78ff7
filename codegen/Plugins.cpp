//===- Plugins.cpp - passes and dialects that a shared library brings -----===//
#include "codegen/Plugins.h"
#include "codegen/PluginFile.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"

using namespace mp;

static std::mutex &registryMutex() {
  static std::mutex mutex;
  return mutex;
}

PassRegistryAccess::PassRegistryAccess() : lock(registryMutex()) {
  static bool registered = [] {
    mlir::registerTransformsPasses();
    registerMpPasses();
    return true;
  }();
  (void)registered;
}

using Dialects = std::optional<mlir::DialectPlugin>;

/// The plugins that are loaded, by their absolute paths.
static llvm::StringMap<Dialects> &loadedPlugins() {
  static llvm::StringMap<Dialects> loaded;
  return loaded;
}

/// The loader would look for a name without a folder in the system's folders,
/// not here.
static std::string absolute(llvm::StringRef path) {
  llvm::SmallString<256> result(path);
  if (llvm::sys::fs::make_absolute(result))
    return path.str();
  return result.str().str();
}

/// Loads a plugin and registers its passes; returns its dialects.
static llvm::Expected<Dialects> loadPlugin(const std::string &path) {
  if (llvm::Error error = checkPluginFile(path))
    return error;
  std::string reason;
  auto library =
      llvm::sys::DynamicLibrary::getPermanentLibrary(path.c_str(), &reason);
  if (!library.isValid())
    return llvm::createStringError(reason);
  bool hasPasses = library.getAddressOfSymbol("mlirGetPassPluginInfo");
  bool hasDialects = library.getAddressOfSymbol("mlirGetDialectPluginInfo");
  if (!hasPasses && !hasDialects)
    return llvm::createStringError("has neither mlirGetPassPluginInfo nor "
                                   "mlirGetDialectPluginInfo");
  if (hasPasses) {
    auto passes = mlir::PassPlugin::load(path);
    if (!passes)
      return passes.takeError();
    passes->registerPassRegistryCallbacks();
  }
  if (!hasDialects)
    return std::nullopt;
  return mlir::DialectPlugin::load(path);
}

llvm::Error PassRegistryAccess::load(llvm::ArrayRef<std::string> plugins) {
  for (const std::string &given : plugins) {
    std::string path = absolute(given);
    if (loadedPlugins().contains(path))
      continue;
    auto dialects = loadPlugin(path);
    if (!dialects)
      return llvm::createStringError("plugin " + given + ": " +
                                     toString(dialects.takeError()));
    loadedPlugins().try_emplace(path, std::move(*dialects));
  }
  return llvm::Error::success();
}

void PassRegistryAccess::registerDialects(mlir::DialectRegistry &registry) {
  for (const auto &plugin : loadedPlugins())
    if (const Dialects &dialects = plugin.second)
      dialects->registerDialectRegistryCallbacks(registry);
}
