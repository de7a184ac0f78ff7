//===- CharacterMap.h - SentencePiece's table of normalized characters ----===//
#ifndef MP_RUNTIME_TEXT_CHARACTERMAP_H
#define MP_RUNTIME_TEXT_CHARACTERMAP_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace mp::tokenizers {

/// `precompiled_charsmap`, the normalizer of SentencePiece's models: texts of a
/// few characters, and what stands for each. The texts are the keys of a trie,
/// a double array of Darts (Yata et al., "A Compact Static Double-Array Keeping
/// Character Codes", 2007).
class CharacterMap {
public:
  /// Reads the bytes of a table: the length of the trie in bytes, the trie, and
  /// the texts that its values are places in. Fails if a value is none.
  static llvm::Expected<CharacterMap> read(llvm::StringRef bytes);

  /// As Hugging Face's package: a grapheme of up to five bytes becomes what
  /// stands for its beginning, and of others, each character does.
  std::string normalized(llvm::StringRef text) const;

  /// A key, by its length, and what stands for it.
  struct Rule {
    size_t length = 0;
    llvm::StringRef with;
  };
  /// Returns the longest key that a text begins with, which is what
  /// SentencePiece replaces, or one of no bytes.
  Rule longestAt(llvm::StringRef text) const;

private:
  void forEachAt(llvm::StringRef text,
                 llvm::function_ref<bool(Rule)> found) const;
  std::optional<llvm::StringRef> find(llvm::StringRef text) const;

  std::vector<uint32_t> units; ///< of the trie
  std::string texts;           ///< each ends with a zero byte
};

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_CHARACTERMAP_H
