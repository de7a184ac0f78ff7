//===- PassPlugins.cpp - passes that a shared library brings --------------===//
#include "codegen/PassPlugins.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringSet.h"
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

llvm::Error PassRegistryAccess::load(llvm::ArrayRef<std::string> plugins) {
  static llvm::StringSet<> loaded;
  for (const std::string &given : plugins) {
    // The loader would look for a name without a folder in the system's
    // folders, not here.
    llvm::SmallString<256> path(given);
    if (llvm::sys::fs::make_absolute(path) || loaded.contains(path))
      continue;
    if (!llvm::sys::fs::exists(path))
      return llvm::createStringError("--load-pass-plugin: " + given +
                                     ": no such file");
    auto plugin = mlir::PassPlugin::load(path.str().str());
    if (!plugin)
      return llvm::createStringError("--load-pass-plugin: " +
                                     toString(plugin.takeError()));
    plugin->registerPassRegistryCallbacks();
    loaded.insert(path);
  }
  return llvm::Error::success();
}
