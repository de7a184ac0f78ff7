//===- AddedTokens.h - tokens that are found before a text is split -------===//
#ifndef MP_RUNTIME_TEXT_ADDEDTOKENS_H
#define MP_RUNTIME_TEXT_ADDEDTOKENS_H

#include "runtime/text/Tokenizer.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>

namespace mp::tokenizers {

/// An entry of `added_tokens`.
struct AddedToken {
  Token token = 0;
  std::string content;
  bool singleWord = false;                    ///< not within a word
  bool stripLeft = false, stripRight = false; ///< takes the spaces beside it
  bool isNormalized = false; ///< is found in the text after normalizers
};

/// Finds added tokens in a text: from left to right, the longest that begins
/// at a place.
class AddedTokens {
public:
  void add(AddedToken token);
  bool empty() const { return count == 0; }

  /// Calls `between` for the text between tokens, and `found` for each token.
  void split(llvm::StringRef text,
             llvm::function_ref<void(llvm::StringRef)> between,
             llvm::function_ref<void(Token)> found) const;

private:
  const AddedToken *longestAt(llvm::StringRef text, size_t at) const;

  /// By their first byte, the longest first.
  std::array<std::vector<AddedToken>, 256> byFirst;
  size_t count = 0;
};

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_ADDEDTOKENS_H
