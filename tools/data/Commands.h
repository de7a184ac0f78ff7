//===- Commands.h - the subcommands of mp-data ----------------------------===//
#ifndef MP_TOOLS_DATA_COMMANDS_H
#define MP_TOOLS_DATA_COMMANDS_H

#include "tools/common/Common.h"

namespace mp::tool {

// Each function takes the words after its name and returns the exit code.
int tokenize(llvm::ArrayRef<const char *> arguments);
int detokenize(llvm::ArrayRef<const char *> arguments);
int classWeights(llvm::ArrayRef<const char *> arguments);

} // namespace mp::tool

#endif // MP_TOOLS_DATA_COMMANDS_H
