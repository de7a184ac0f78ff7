//===- Version.h - the output of --version ----------------------*- C++ -*-===//
#ifndef MP_TOOLS_COMMON_VERSION_H
#define MP_TOOLS_COMMON_VERSION_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mp::tool {

/// "mp-run of Mantissa 0.1.0, with LLVM 22.1.8"
std::string versionText(llvm::StringRef tool);

/// Makes `--version` print it, for a tool whose options llvm::cl reads.
void setVersionOf(llvm::StringRef tool);

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_VERSION_H
