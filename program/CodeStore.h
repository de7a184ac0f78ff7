//===- CodeStore.h - where compiled kernels are kept ----------------------===//
//
// Codegen compiles for the CPU and the runtime for CUDA; both keep what they
// made where the runtime says. This is all that codegen knows of that place.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PROGRAM_CODESTORE_H
#define MP_PROGRAM_CODESTORE_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mp {

/// Everything that decides what a compiler makes.
struct CodeKey {
  std::string kind;   ///< of code, as a file's suffix: "o" or "cubin"
  std::string source; ///< what is compiled, or a hash of it
  /// What else decides, by name: {"LLVM", "22.1.8"}. Apart from the source, so
  /// that a miss can be explained by what has changed.
  std::vector<std::pair<std::string, std::string>> facts;
  /// What a person calls it; no part of the key.
  std::string label = {};
};

/// Code of kernels by key, kept from one process to the next. Thread-safe.
class CodeStore {
public:
  virtual ~CodeStore() = default;
  virtual std::optional<std::string> find(const CodeKey &key) = 0;
  /// Keeps code that took `seconds` to make.
  virtual void keep(const CodeKey &key, llvm::StringRef code,
                    double seconds) = 0;
};

} // namespace mp

#endif // MP_PROGRAM_CODESTORE_H
