//===- PackTexts.h - several texts in a row ---------------------*- C++ -*-===//
#ifndef MP_TOOLS_DATA_PACKTEXTS_H
#define MP_TOOLS_DATA_PACKTEXTS_H

#include "runtime/text/TokenFile.h"

namespace mp::tool {

/// Rows of `length` tokens each, one after the other.
struct PackedTexts {
  size_t rows = 0, filled = 0; ///< `filled` counts the tokens of texts
  std::vector<tokenizers::Token> tokens;
  /// The number of a token's text in its row, from 1 on; 0 after the last one.
  std::vector<uint16_t> segments;
  std::vector<uint16_t> positions; ///< of tokens in their texts; 0 after those
};

/// Packs texts of at most `length` tokens, each of them whole: a text, in the
/// order given, goes to the fullest row that has room, the first of these.
/// Empty texts are left out. `pad` fills the ends of rows.
PackedTexts packTexts(llvm::ArrayRef<std::vector<tokenizers::Token>> texts,
                      size_t length, tokenizers::Token pad);

} // namespace mp::tool

#endif // MP_TOOLS_DATA_PACKTEXTS_H
