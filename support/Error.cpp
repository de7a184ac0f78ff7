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

std::string withoutControls(StringRef text) {
  std::string shown;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char c = text[i], next = i + 1 < text.size() ? text[i + 1] : 0;
    // U+0080 to U+009F steer terminals, too.
    bool isC1 = c == 0xC2 && next >= 0x80 && next < 0xA0;
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F || isC1)
      shown += "\\x" + utohexstr(isC1 ? next : c, /*LowerCase=*/true, 2);
    else
      shown += text[i];
    i += isC1;
  }
  return shown;
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
