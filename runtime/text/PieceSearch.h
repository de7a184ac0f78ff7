//===- PieceSearch.h - the pieces that a text begins with -----------------===//
#ifndef MP_RUNTIME_TEXT_PIECESEARCH_H
#define MP_RUNTIME_TEXT_PIECESEARCH_H

#include "runtime/text/Tokenizer.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mp::tokenizers {

/// Pieces in their order, so that those that begin alike are neighbours.
class PieceSearch {
public:
  /// The names must stay where they are.
  void add(llvm::StringRef name, Token token) {
    pieces.push_back({name, token});
  }
  /// Is called after the last piece.
  void sort();

  /// Calls `found` for the pieces that a text begins with, the shortest first,
  /// with their lengths.
  void forEachAt(llvm::StringRef text,
                 llvm::function_ref<void(Token, size_t)> found) const;
  /// Returns the length of the longest of them, or 0.
  size_t longestAt(llvm::StringRef text) const;

private:
  struct Piece {
    llvm::StringRef name;
    Token token;
  };

  std::vector<Piece> pieces;
};

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_PIECESEARCH_H
