//===- Error.h - how the runtime words its errors -------------------------===//
#ifndef MP_RUNTIME_ERROR_H
#define MP_RUNTIME_ERROR_H

#include "codegen/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include <string>

namespace mp {

/// An error of one line; `format` is llvm::formatv's.
template <typename... Ts>
llvm::Error makeError(const char *format, Ts &&...values) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Ts>(values)...).str());
}

/// An error that a call of the operating system left in errno:
/// "cannot <what> <path>: No space left on device".
llvm::Error makeSystemError(llvm::StringRef what, llvm::StringRef path,
                            int code);

/// Of `names` those that resemble `name` most, at most `limit`, best first;
/// names that share nothing with it are left out.
std::vector<std::string> nearestNames(llvm::StringRef name,
                                      llvm::ArrayRef<std::string> names,
                                      size_t limit = 3);

/// The tail of a message about a name that is not known: ", did you mean 'a' or
/// 'b'?" where some name is near, else " (known: 'a', 'b', ...)".
std::string suggest(llvm::StringRef name, llvm::ArrayRef<std::string> names);

/// "'a', 'b', 'c'"; past `limit` names: "... and 7 more".
std::string quoteList(llvm::ArrayRef<std::string> names, size_t limit = 8);

/// The head of text found in a file, quoted and made printable, for messages.
std::string printableHead(llvm::StringRef text, size_t limit = 24);

/// " (file:line:column)", or "" where the location is not known.
std::string at(const Location &location);

} // namespace mp

#endif // MP_RUNTIME_ERROR_H
