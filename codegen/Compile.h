//===- Compile.h - from a module's text to a Program ----------------------===//
#ifndef MP_CODEGEN_COMPILE_H
#define MP_CODEGEN_COMPILE_H

#include "program/Compiler.h"

namespace mp {

/// Compiles a module's text. A failure's message holds located diagnostics, ten
/// lines at most, without a trailing line feed. Thread-safe.
llvm::Expected<Program> compile(llvm::StringRef module,
                                const CompileOptions &options,
                                KernelSink *sink = nullptr);

} // namespace mp

#endif // MP_CODEGEN_COMPILE_H
