//===- Vocabulary.cpp - tokens and their names ----------------------------===//
#include "runtime/text/Vocabulary.h"
#include "support/Error.h"

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

} // namespace mp::tokenizers
