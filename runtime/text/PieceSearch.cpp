//===- PieceSearch.cpp - the pieces that a text begins with ---------------===//
#include "runtime/text/PieceSearch.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mp::tokenizers {

void PieceSearch::sort() {
  llvm::sort(pieces,
             [](const Piece &a, const Piece &b) { return a.name < b.name; });
}

void PieceSearch::forEachAt(StringRef text,
                            function_ref<void(Token, size_t)> found) const {
  // The pieces that begin with the first `at` bytes.
  ArrayRef<Piece> alike = pieces;
  auto byteOf = [](const Piece &piece, size_t at) {
    StringRef name = piece.name;
    return at < name.size() ? static_cast<unsigned char>(name[at]) : -1;
  };
  for (size_t at = 0; at < text.size() && !alike.empty(); ++at) {
    int byte = static_cast<unsigned char>(text[at]);
    const Piece *first = partition_point(
        alike, [&](const Piece &piece) { return byteOf(piece, at) < byte; });
    const Piece *last =
        std::partition_point(first, alike.end(), [&](const Piece &piece) {
          return byteOf(piece, at) == byte;
        });
    alike = ArrayRef<Piece>(first, last);
    if (!alike.empty() && alike[0].name.size() == at + 1)
      found(alike[0].token, at + 1);
  }
}

size_t PieceSearch::longestAt(StringRef text) const {
  size_t longest = 0;
  forEachAt(text, [&](Token, size_t length) { longest = length; });
  return longest;
}

} // namespace mp::tokenizers
