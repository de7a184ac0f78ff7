//===- Error.cpp - errors of one line -------------------------------------===//
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <system_error>

using namespace llvm;

namespace mp {

Error makeSystemError(StringRef what, StringRef path, int code) {
  std::error_code error(code, std::generic_category());
  return createStringError(
      error, formatv("cannot {0} {1}: {2}", what, path, error.message()).str());
}

size_t controlLength(StringRef text, std::string &shown) {
  unsigned char c = text[0];
  if (c < 0x20 || c == 0x7F) {
    if (c == '\n' || c == '\t')
      return 0;
    shown = "\\x" + utohexstr(c, /*LowerCase=*/true, 2);
    return 1;
  }
  if (c < 0x80)
    return 0;
  // U+0080 to U+009F steer terminals, too.
  if (c == 0xC2 && text.size() > 1 && (text[1] & 0xE0) == 0x80) {
    shown = "\\x" + utohexstr(static_cast<unsigned char>(text[1]),
                              /*LowerCase=*/true, 2);
    return 2;
  }
  constexpr std::pair<StringLiteral, StringLiteral> directions[] = {
      {"\xD8\x9C", "061c"},     {"\xE2\x80\x8E", "200e"},
      {"\xE2\x80\x8F", "200f"}, {"\xE2\x80\xAA", "202a"},
      {"\xE2\x80\xAB", "202b"}, {"\xE2\x80\xAC", "202c"},
      {"\xE2\x80\xAD", "202d"}, {"\xE2\x80\xAE", "202e"},
      {"\xE2\x81\xA6", "2066"}, {"\xE2\x81\xA7", "2067"},
      {"\xE2\x81\xA8", "2068"}, {"\xE2\x81\xA9", "2069"}};
  for (const auto &[bytes, code] : directions)
    if (text.starts_with(bytes)) {
      shown = ("\\u" + code).str();
      return bytes.size();
    }
  return 0;
}

std::string withoutControls(StringRef text) {
  std::string clean, shown;
  while (!text.empty()) {
    size_t length = controlLength(text, shown);
    if (length)
      clean += shown;
    else
      clean += text.front();
    text = text.drop_front(std::max<size_t>(length, 1));
  }
  return clean;
}

bool hasControls(StringRef text) {
  std::string shown;
  while (!text.empty()) {
    if (controlLength(text, shown))
      return true;
    text = text.drop_front();
  }
  return false;
}

std::string printableName(StringRef name) {
  constexpr size_t most = 200;
  StringRef head = name.take_front(most);
  // A character of UTF-8 is not cut.
  while (head.size() < name.size() && !head.empty() &&
         (name[head.size()] & 0xC0) == 0x80)
    head = head.drop_back();
  std::string shown;
  for (char c : withoutControls(head))
    if (c == '\n' || c == '\t')
      shown += c == '\n' ? "\\x0a" : "\\x09";
    else
      shown += c;
  return shown + (head.size() < name.size() ? "..." : "");
}

std::string printableHead(StringRef text, size_t limit) {
  std::string shown;
  for (char c : text.take_front(limit))
    shown += isPrint(c) ? c : '?';
  return "\"" + shown + (text.size() > limit ? "...\"" : "\"");
}

} // namespace mp
