//===- Error.h - errors of one line ---------------------------------------===//
#ifndef MP_SUPPORT_ERROR_H
#define MP_SUPPORT_ERROR_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include <string>

namespace mp {

/// Makes an error of one line; `format` is llvm::formatv's.
template <typename... Ts>
llvm::Error makeError(const char *format, Ts &&...values) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Ts>(values)...).str());
}

/// Makes an error from the errno of a system call: "cannot <what> <path>: No
/// space left on device".
llvm::Error makeSystemError(llvm::StringRef what, llvm::StringRef path,
                            int code);

/// Returns the text with control characters other than line feeds and tabs as
/// \\xNN, and those that change the direction of writing as \\uNNNN: text from
/// a file must neither steer a terminal nor look like another one.
std::string withoutControls(llvm::StringRef text);

/// Returns a name from a file for a message of one line: its control characters
/// as \\xNN, and no more than its beginning if it is longer than any name is.
std::string printableName(llvm::StringRef name);

/// Returns the length of the control character that a text begins with, or 0.
/// Sets `shown` to what stands for it in `withoutControls`.
size_t controlLength(llvm::StringRef text, std::string &shown);

/// Whether `withoutControls` would change the text.
bool hasControls(llvm::StringRef text);

/// Returns the head of a file's text, quoted and made printable, for messages.
std::string printableHead(llvm::StringRef text, size_t limit = 24);

} // namespace mp

#endif // MP_SUPPORT_ERROR_H
