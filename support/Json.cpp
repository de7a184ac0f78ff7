//===- Json.cpp - JSON read from and written to files ---------------------===//
#include "support/Json.h"
#include "support/Error.h"
#include "support/OutputFile.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace mp {

std::optional<size_t> nestedTooDeep(StringRef text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (!inString && (c == '{' || c == '['))
      if (++depth > kMaxJsonNesting)
        return i;
    if (!inString && (c == '}' || c == ']') && depth)
      --depth;
  }
  return std::nullopt;
}

Expected<json::Value> parseJson(StringRef text) {
  std::optional<size_t> byte = nestedTooDeep(text);
  if (!byte)
    return json::parse(text);
  StringRef before = text.take_front(*byte);
  size_t lineStart = before.rfind('\n') + 1; // 0 if there is none
  return makeError("[{0}:{1}, byte={2}]: nests deeper than {3}",
                   before.count('\n') + 1, *byte - lineStart + 1, *byte,
                   kMaxJsonNesting);
}

std::string validUtf8(StringRef text) {
  return json::isUTF8(text) ? text.str() : json::fixUTF8(text);
}

Error writeJsonFile(StringRef path, const json::Value &value) {
  std::string text = formatv("{0:2}\n", value);
  if (path == "-") { // stays open for other output
    outs() << text;
    outs().flush();
    return Error::success();
  }
  return writeAtomically(path,
                         [&](OutputFile &file) { return file.write(text); });
}

} // namespace mp
