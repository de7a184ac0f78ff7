//===- Plugins.cpp - plugins on the command line of upstream's mains ------===//
#include "tools/common/Plugins.h"
#include "codegen/Plugins.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

/// Whether a word is an option for plugins. Sets `file` if it contains one.
static bool isPluginOption(StringRef word, StringRef &file) {
  if (!word.consume_front("-"))
    return false;
  word.consume_front("-");
  StringRef name;
  std::tie(name, file) = word.split('=');
  return name == "load-pass-plugin" || name == "load-dialect-plugin";
}

/// The plugins that the words name; `others` gets all other words.
static Expected<std::vector<std::string>>
findPlugins(ArrayRef<char *> words, std::vector<char *> &others) {
  std::vector<std::string> plugins;
  while (!words.empty()) {
    char *word = words.consume_front();
    StringRef file;
    if (!isPluginOption(word, file)) {
      others.push_back(word);
      continue;
    }
    if (file.empty() && words.empty())
      return createStringError(StringRef(word) + " needs a file");
    plugins.push_back(file.empty() ? words.consume_front() : file.str());
  }
  return plugins;
}

static Error registerPlugins(ArrayRef<std::string> plugins,
                             mlir::DialectRegistry &registry) {
  mp::PassRegistryAccess access;
  if (Error error = access.load(plugins))
    return error;
  access.registerDialects(registry);
  return Error::success();
}

std::optional<std::vector<char *>>
mp::tool::takePlugins(int argc, char **argv, mlir::DialectRegistry &registry) {
  std::vector<char *> others;
  auto plugins = findPlugins({argv, argv + argc}, others);
  Error error =
      plugins ? registerPlugins(*plugins, registry) : plugins.takeError();
  if (!error)
    return others;
  errs() << "error: " << toString(std::move(error)) << "\n";
  return std::nullopt;
}
