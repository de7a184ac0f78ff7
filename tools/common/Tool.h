//===- Tool.h - the shared main of all tools ------------------------------===//
#ifndef MP_TOOLS_COMMON_TOOL_H
#define MP_TOOLS_COMMON_TOOL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mp::tool {

/// Returns the tool that this process is, for messages: "mp-run".
llvm::StringRef toolName();

/// Runs a tool on the words after its name and returns the exit code. Reports
/// crashes and signals, and fails if its output cannot be written.
int runTool(llvm::StringRef name, int argc, char **argv,
            int (*run)(llvm::ArrayRef<const char *> arguments));

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_TOOL_H
