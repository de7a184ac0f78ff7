//===- TokenCache.h - the tokens of words that were seen ------------------===//
#ifndef MP_RUNTIME_TEXT_TOKENCACHE_H
#define MP_RUNTIME_TEXT_TOKENCACHE_H

#include "runtime/text/Tokenizer.h"
#include "llvm/ADT/StringMap.h"

namespace mp::tokenizers {

/// Keeps the tokens of words: most of a text's words were in it before. It is
/// emptied when it is full, and long words are not kept.
class TokenCache {
public:
  const Tokens *find(llvm::StringRef word) const {
    auto known = words.find(word);
    return known == words.end() ? nullptr : &known->second;
  }
  void keep(llvm::StringRef word, llvm::ArrayRef<Token> tokens) {
    constexpr size_t mostWords = 1 << 16, longestWord = 256;
    if (word.size() > longestWord)
      return;
    if (words.size() >= mostWords)
      words.clear();
    words[word].assign(tokens.begin(), tokens.end());
  }

private:
  llvm::StringMap<Tokens> words;
};

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_TOKENCACHE_H
