//===- Zoo.h - mp-zoo -------------------------------------------*- C++ -*-===//
#ifndef MP_TOOLS_ZOO_ZOO_H
#define MP_TOOLS_ZOO_ZOO_H

#include "llvm/ADT/ArrayRef.h"

namespace mp::tool {
int zoo(llvm::ArrayRef<const char *> arguments);
} // namespace mp::tool

#endif // MP_TOOLS_ZOO_ZOO_H
