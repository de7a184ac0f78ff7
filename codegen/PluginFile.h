//===- PluginFile.h - what a plugin was built for -------------------------===//
#ifndef MP_CODEGEN_PLUGINFILE_H
#define MP_CODEGEN_PLUGINFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mp {

/// Reads a shared library without loading it: two versions of LLVM in a process
/// would exchange objects of different layouts. Fails if it needs an LLVM, an
/// MLIR or a Mantissa of another version than this one, or contains a copy of
/// MLIR, whose type ids are not those of this process.
llvm::Error checkPluginFile(llvm::StringRef path);

} // namespace mp

#endif // MP_CODEGEN_PLUGINFILE_H
