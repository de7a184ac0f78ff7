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

std::string printableHead(StringRef text, size_t limit) {
  std::string shown;
  for (char c : text.take_front(limit))
    shown += isPrint(c) ? c : '?';
  return "\"" + shown + (text.size() > limit ? "...\"" : "\"");
}

} // namespace mp
