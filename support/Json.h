//===- Json.h - JSON read from and written to files -----------------------===//
#ifndef MP_SUPPORT_JSON_H
#define MP_SUPPORT_JSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace mp {

/// How deep what we read may nest; what we know of nests 3 deep.
constexpr unsigned maxJsonNesting = 8;

/// The byte where the text nests deeper than `maxJsonNesting`, if any. To be
/// asked before llvm::json sees the text: it recurses, and runs out of stack.
std::optional<size_t> nestedTooDeep(llvm::StringRef text);

/// llvm::json::parse for text that may nest too deep. Errors say the line, the
/// column and the byte.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// Text as JSON can hold it: what is not UTF-8 becomes U+FFFD. Names come from
/// the user's file, which may hold any bytes.
std::string validUtf8(llvm::StringRef text);

/// Writes the value, indented; "-" is standard output.
llvm::Error writeJsonFile(llvm::StringRef path, const llvm::json::Value &value);

} // namespace mp

#endif // MP_SUPPORT_JSON_H
