//===- Names.cpp - names and comments of the DSL --------------------------===//
#include "Generate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mp {

std::string typeName(StringRef mnemonic) {
  return convertToCamelFromSnakeCase(mnemonic, /*capitalizeFirst=*/true);
}

std::string functionName(StringRef mnemonic) {
  static constexpr StringLiteral keywords[] = {"and", "or", "not", "xor"};
  if (is_contained(keywords, mnemonic))
    return "logical" + typeName(mnemonic);
  return convertToCamelFromSnakeCase(mnemonic);
}

void comment(raw_ostream &os, StringRef text, StringRef indent) {
  SmallVector<StringRef> lines;
  text.trim().split(lines, '\n');
  for (StringRef line : lines) {
    StringRef trimmed = line.rtrim();
    // The text of a record is indented by four.
    trimmed.consume_front("    ");
    os << indent << "///" << (trimmed.empty() ? "" : " ") << trimmed << "\n";
  }
}

} // namespace mp
