//===- AddedTokens.cpp - tokens that are found before a text is split -----===//
#include "runtime/text/AddedTokens.h"
#include "runtime/text/Unicode.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mp::tokenizers {

void AddedTokens::add(AddedToken token) {
  if (token.content.empty())
    return;
  auto &all = byFirst[static_cast<unsigned char>(token.content.front())];
  auto place = find_if(all, [&](const AddedToken &other) {
    return other.content.size() < token.content.size();
  });
  all.insert(place, std::move(token));
  ++count;
}

/// Returns where the last character before a place begins.
static size_t beforeOf(StringRef text, size_t at) {
  do
    --at;
  while (at && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

/// Whether a token stands between characters that are not of a word.
static bool isAlone(StringRef text, size_t begin, size_t end) {
  bool before =
      begin && isWord(*firstCharacter(text.substr(beforeOf(text, begin))));
  std::optional<char32_t> after = firstCharacter(text.substr(end));
  return !before && !(after && isWord(*after));
}

const AddedToken *AddedTokens::longestAt(StringRef text, size_t at) const {
  StringRef rest = text.substr(at);
  for (const AddedToken &token :
       byFirst[static_cast<unsigned char>(rest.front())])
    if (rest.starts_with(token.content))
      return &token;
  return nullptr;
}

void AddedTokens::split(StringRef text, function_ref<void(StringRef)> between,
                        function_ref<void(Token)> found) const {
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const AddedToken *token = longestAt(text, at);
    if (!token) {
      ++at;
      continue;
    }
    size_t begin = at, end = at + token->content.size();
    at = end;
    if (token->singleWord && !isAlone(text, begin, end))
      continue;
    while (token->stripLeft && begin > done &&
           isSpace(*firstCharacter(text.substr(beforeOf(text, begin)))))
      begin = beforeOf(text, begin);
    while (token->stripRight && end < text.size() &&
           isSpace(*firstCharacter(text.substr(end))))
      end += characterLength(text.substr(end));
    if (begin > done)
      between(text.slice(done, begin));
    found(token->token);
    at = done = end;
  }
  if (done < text.size())
    between(text.substr(done));
}

} // namespace mp::tokenizers
