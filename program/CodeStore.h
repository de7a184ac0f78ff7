//===- CodeStore.h - interface of the store for compiled code -------------===//
//
// Codegen compiles for the CPU and the runtime for CUDA; both store compiled
// code where the runtime says. This interface is all that codegen knows of that
// store.
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

/// Everything that decides the result of a compilation.
struct CodeKey {
  std::string kind;   ///< the code's kind, as a file's suffix: "o" or "cubin"
  std::string source; ///< the compiled text, or a hash of it
  /// Other facts that decide the result, by name: {"LLVM", "22.1.8"}. They are
  /// apart from the source, so that a miss can be explained by the fact that
  /// has changed.
  std::vector<std::pair<std::string, std::string>> facts;
  /// A name for messages, which is not part of the key.
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
