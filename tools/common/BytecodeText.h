//===- BytecodeText.h - MLIR's bytecode as text -----------------*- C++ -*-===//
#ifndef MP_TOOLS_COMMON_BYTECODETEXT_H
#define MP_TOOLS_COMMON_BYTECODETEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir {
class DialectRegistry;
}

namespace mp::tool {

/// Returns the text of a module's bytecode, with its locations. A process of
/// its own reads it, because damaged bytecode crashes upstream's reader, or
/// lets it run on for ever: either becomes an error here. Call it before this
/// process has threads.
llvm::Expected<std::string> textOfBytecode(llvm::StringRef bytes,
                                           llvm::StringRef file,
                                           mlir::DialectRegistry &registry,
                                           bool takesUnknownDialects);

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_BYTECODETEXT_H
