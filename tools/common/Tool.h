//===- Tool.h - what the mains of our own tools do alike ------------------===//
#ifndef MP_TOOLS_COMMON_TOOL_H
#define MP_TOOLS_COMMON_TOOL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mp::tool {

/// The tool that this process is, for messages: "mp-run".
llvm::StringRef toolName();

/// Runs a tool on the words behind its name and returns the exit code. Crashes
/// and signals are seen to, and so is that what was printed arrives.
int runTool(llvm::StringRef name, int argc, char **argv,
            int (*run)(llvm::ArrayRef<const char *> arguments));

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_TOOL_H
