//===- Json.cpp - JSON read from and written to files ---------------------===//
#include "support/Json.h"
#include "support/Error.h"
#include "support/OutputFile.h"
#include "llvm/Support/ConvertUTF.h"
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

/// Returns the character of two escapes, "\\ud83d\\ude00", that a text begins
/// with, or 0.
static unsigned surrogatePair(StringRef text) {
  auto unit = [&](size_t at) -> unsigned {
    uint16_t value;
    if (!text.substr(at).starts_with("\\u") ||
        text.substr(at + 2, 4).size() < 4 ||
        text.substr(at + 2, 4).getAsInteger(16, value))
      return 0;
    return value;
  };
  unsigned high = unit(0), low = unit(6);
  if (high >> 10 != 0xD800 >> 10 || low >> 10 != 0xDC00 >> 10)
    return 0;
  return 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF);
}

/// Writes characters of two escapes in UTF-8: llvm::json takes those from
/// U+20000 on for others.
static std::string withoutSurrogates(StringRef text) {
  std::string changed;
  while (!text.empty()) {
    if (unsigned character = surrogatePair(text)) {
      char bytes[UNI_MAX_UTF8_BYTES_PER_CODE_POINT];
      char *end = bytes;
      ConvertCodePointToUTF8(character, end);
      changed.append(bytes, end);
      text = text.drop_front(12);
      continue;
    }
    size_t length = text.front() == '\\' ? 2 : 1;
    changed += text.take_front(length);
    text = text.drop_front(std::min(length, text.size()));
  }
  return changed;
}

Expected<json::Value> parseJson(StringRef text) {
  std::optional<size_t> byte = nestedTooDeep(text);
  if (!byte && text.contains("\\u") && text.contains_insensitive("\\ud"))
    return json::parse(withoutSurrogates(text));
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
