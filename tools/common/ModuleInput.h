//===- ModuleInput.h - the module that upstream's mains read ----*- C++ -*-===//
#ifndef MP_TOOLS_COMMON_MODULEINPUT_H
#define MP_TOOLS_COMMON_MODULEINPUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir {
class DialectRegistry;
}

namespace mp::tool {

/// What may be in the module of a command line.
struct ModuleInput {
  std::string path;        ///< or "-", for standard input
  std::string splitMarker; ///< separates modules in a file; "": there is one
  /// The dialects of trusted bytecode, of which text is made; null: bytecode is
  /// refused.
  mlir::DialectRegistry *trusted = nullptr;
  bool takesUnknownDialects = false; ///< in bytecode
  bool hasControls = false; ///< set: diagnostics may show control characters
};

/// Checks that MLIR's parser can read the module, before it does; else prints
/// an error and returns false. Pipes, standard input and the text of bytecode
/// become standard input, as they are there only once; `path` is "-" then.
bool acceptModule(ModuleInput &input);

/// Returns the word of a command line that names a file, other than the value
/// of -o; null if there is none.
char **moduleWord(llvm::MutableArrayRef<char *> words);

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_MODULEINPUT_H
