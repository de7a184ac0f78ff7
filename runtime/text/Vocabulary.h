//===- Vocabulary.h - tokens and their names ------------------------------===//
#ifndef MP_RUNTIME_TEXT_VOCABULARY_H
#define MP_RUNTIME_TEXT_VOCABULARY_H

#include "runtime/text/Tokenizer.h"
#include "llvm/ADT/StringMap.h"

namespace mp::tokenizers {

/// The names of tokens. Numbers may be left out.
class Vocabulary {
public:
  Vocabulary() = default;
  Vocabulary(const Vocabulary &) = delete;

  /// Fails if the number is too large, or one of the two is there already with
  /// another partner.
  llvm::Error add(llvm::StringRef name, uint64_t token);
  std::optional<Token> find(llvm::StringRef name) const;
  /// Returns "" for a token that is not there.
  llvm::StringRef nameOf(Token token) const {
    return token < names.size() ? names[token] : llvm::StringRef();
  }
  uint64_t size() const { return names.size(); }
  /// Appends the tokens of the bytes of a text, "<0x0A>", if there are all.
  bool appendBytes(llvm::StringRef text, Tokens &tokens) const;

private:
  llvm::StringMap<Token> tokens;
  /// By token; they lie in the keys of `tokens`, and have no data if there is
  /// no such token.
  std::vector<llvm::StringRef> names;
};

/// Returns the byte for which a token like "<0x0A>" stands.
std::optional<char> byteOf(llvm::StringRef name);

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_VOCABULARY_H
