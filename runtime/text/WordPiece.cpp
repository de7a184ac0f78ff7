//===- WordPiece.cpp - the longest tokens that a word begins with ---------===//
#include "runtime/text/Stages.h"
#include "runtime/text/Unicode.h"

using namespace llvm;

namespace mp::tokenizers {

void WordPiece::encode(StringRef word, Tokens &tokens) const {
  std::vector<size_t> ends; // of the characters
  for (StringRef rest = word; !rest.empty();) {
    takeCharacter(rest);
    ends.push_back(word.size() - rest.size());
    if (ends.size() > mostCharacters)
      return tokens.push_back(unknown);
  }
  size_t before = tokens.size(), begin = 0;
  for (size_t first = 0; first < ends.size();) {
    std::optional<Token> found;
    size_t last = ends.size();
    for (; last > first && !found; --last) {
      StringRef part = word.slice(begin, ends[last - 1]);
      found = first ? vocabulary.find(continuingPrefix + part.str())
                    : vocabulary.find(part);
    }
    if (!found) {
      tokens.resize(before);
      return tokens.push_back(unknown);
    }
    tokens.push_back(*found);
    first = last + 1;
    begin = ends[last];
  }
}

} // namespace mp::tokenizers
