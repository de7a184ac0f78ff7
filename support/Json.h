//===- Json.h - JSON read from and written to files -----------------------===//
#ifndef MP_SUPPORT_JSON_H
#define MP_SUPPORT_JSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace mp {

/// The deepest nesting that is read; the known files nest 3 deep.
constexpr unsigned kMaxJsonNesting = 8;

/// Returns the byte at which the text nests deeper than `kMaxJsonNesting`, if
/// any. Call it before llvm::json sees the text: that recurses, and would
/// overflow the stack.
std::optional<size_t> nestedTooDeep(llvm::StringRef text);

/// Parses text that may nest too deep with llvm::json::parse. Errors give the
/// line, the column and the byte.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// Returns text as JSON can hold it: bytes that are not UTF-8 become U+FFFD.
/// Names come from the user's file, which may hold any bytes.
std::string validUtf8(llvm::StringRef text);

/// Writes the value, indented; "-" is standard output.
llvm::Error writeJsonFile(llvm::StringRef path, const llvm::json::Value &value);

} // namespace mp

#endif // MP_SUPPORT_JSON_H
