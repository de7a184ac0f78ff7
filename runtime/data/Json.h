//===- Json.h - JSON that is not trusted ----------------------------------===//
#ifndef MP_RUNTIME_DATA_JSON_H
#define MP_RUNTIME_DATA_JSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace mp {

/// How deep what we read may nest; what we know of nests 3 deep.
constexpr unsigned maxJsonNesting = 8;

/// The byte where the text nests deeper than `maxJsonNesting`, if any. To be
/// asked before llvm::json sees the text: it recurses, and runs out of stack.
std::optional<size_t> nestedTooDeep(llvm::StringRef text);

/// llvm::json::parse for text that may nest too deep. Errors say the line, the
/// column and the byte.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace mp

#endif // MP_RUNTIME_DATA_JSON_H
