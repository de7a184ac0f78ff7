//===- ModuleText.h - what of a module's text MLIR may parse --------------===//
//
// MLIR's parser recurses for each bracket and overflows the stack on text that
// nests deeply. Its verifier and its printer recurse too, also over attributes
// that nest by aliases (#b = [#a], #c = [#b], ...) where no bracket does. A
// text is therefore read here first, without recursion.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PROGRAM_MODULETEXT_H
#define MP_PROGRAM_MODULETEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace mp {

/// What is wrong in a text, and where: counted from 1, in bytes.
struct TextFault {
  size_t line, column;
  std::string message;
};

/// Returns a fault if the text nests deeper or is longer than program/Limits.h
/// allows, needs a newer dialect, or is bytecode. Where `splitMarker` begins a
/// comment, another module begins.
std::optional<TextFault> findTextFault(llvm::StringRef text,
                                       llvm::StringRef splitMarker = "");

/// Fails with such a fault, as "FILE:LINE:COLUMN: error: ...".
llvm::Error checkModuleText(llvm::StringRef text, llvm::StringRef file,
                            llvm::StringRef splitMarker = "");

/// Whether bytes are MLIR's bytecode.
bool isBytecode(llvm::StringRef bytes);

/// Whether a text has characters that steer a terminal, or strings with escapes
/// that make such characters.
bool showsControls(llvm::StringRef text);

} // namespace mp

#endif // MP_PROGRAM_MODULETEXT_H
