//===- Vocabulary.cpp - tokens and their names ----------------------------===//
#include "runtime/text/Vocabulary.h"
#include "support/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mp::tokenizers {

Error Vocabulary::add(StringRef name, uint64_t token) {
  if (token >= kMostTokens)
    return makeError("token '{0}' is number {1}, expected numbers below {2}",
                     printableName(name), token, kMostTokens);
  auto [entry, isNew] = tokens.try_emplace(name, token);
  if (!isNew && entry->second != token)
    return makeError("token '{0}' is number {1} and {2}", printableName(name),
                     entry->second, token);
  if (token >= names.size())
    names.resize(token + 1);
  StringRef &known = names[token];
  if (isNew && known.data())
    return makeError("'{0}' and '{1}' are both token {2}", printableName(known),
                     printableName(name), token);
  known = entry->first();
  return Error::success();
}

std::optional<Token> Vocabulary::find(StringRef name) const {
  auto found = tokens.find(name);
  if (found == tokens.end())
    return std::nullopt;
  return found->second;
}

bool Vocabulary::appendBytes(StringRef text, Tokens &to) const {
  size_t before = to.size();
  for (unsigned char byte : text) {
    std::optional<Token> token =
        find(formatv("<0x{0:X-2}>", unsigned(byte)).str());
    if (!token) {
      to.resize(before);
      return false;
    }
    to.push_back(*token);
  }
  return true;
}

std::optional<char> byteOf(StringRef name) {
  if (name.size() != 6 || !name.consume_front("<0x") || !isHexDigit(name[0]) ||
      !isHexDigit(name[1]) || name[2] != '>')
    return std::nullopt;
  return static_cast<char>(hexFromNibbles(name[0], name[1]));
}

} // namespace mp::tokenizers
