//===- Diff.h - mp-diff's command line ------------------------------------===//
#ifndef MP_TOOLS_DIFF_DIFF_H
#define MP_TOOLS_DIFF_DIFF_H

#include "llvm/ADT/ArrayRef.h"

namespace mp::tool {

/// Takes the words after the program's name and returns the exit code.
int diff(llvm::ArrayRef<const char *> arguments);

} // namespace mp::tool

#endif // MP_TOOLS_DIFF_DIFF_H
