//===- RunModule.h - the module that a run trained --------------*- C++ -*-===//
#ifndef MP_TOOLS_RUN_RUNMODULE_H
#define MP_TOOLS_RUN_RUNMODULE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mp::tool {

/// Returns the path of the module that a run was trained with. An error says
/// that --module names it.
llvm::Expected<std::string> moduleOf(llvm::StringRef run);

} // namespace mp::tool

#endif // MP_TOOLS_RUN_RUNMODULE_H
