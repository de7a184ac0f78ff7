//===- Plugins.h - plugins on the command line of upstream's mains --------===//
#ifndef MP_TOOLS_COMMON_PLUGINS_H
#define MP_TOOLS_COMMON_PLUGINS_H

#include <optional>
#include <vector>

namespace mlir {
class DialectRegistry;
}

namespace mp::tool {

/// Returns the words without --load-pass-plugin=FILE and
/// --load-dialect-plugin=FILE, and registers the passes and dialects of these
/// plugins; or reports an error and returns nothing. Upstream's mains would
/// load a plugin that was built for another LLVM, and most lack the options.
std::optional<std::vector<char *>> takePlugins(int argc, char **argv,
                                               mlir::DialectRegistry &registry);

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_PLUGINS_H
