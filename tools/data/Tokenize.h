//===- Tokenize.h - what mp-data tokenize is asked to do ------------------===//
#ifndef MP_TOOLS_DATA_TOKENIZE_H
#define MP_TOOLS_DATA_TOKENIZE_H

#include "runtime/text/TokenFile.h"
#include <optional>

namespace mp::tool {

struct TokenizeOptions {
  std::string tokenizer, dtype, out;
  std::vector<std::string> inputs;

  // For whole files.
  std::string validation; ///< gets what is not for training
  double trainFraction = 0.9;
  std::string end; ///< a token after each input, or after each packed text

  // For a field of rows.
  std::string field, pair, label, lengths, types, labels, classes, pad;
  std::string segments, positions; ///< of texts that are packed into rows
  uint64_t length = 0;
  bool specialTokens = true;

  bool isOfRows() const { return !field.empty(); }
  bool isPacked() const { return !segments.empty(); }
};

/// Writes the tokens of whole files, one after another.
llvm::Error tokenizeTexts(const TokenizeOptions &options);
/// Writes an array of the tokens of a field of each row.
llvm::Error tokenizeRows(const TokenizeOptions &options);

/// Finds a token that an option names.
llvm::Expected<tokenizers::Token>
findToken(const tokenizers::Tokenizer &tokenizer, llvm::StringRef option,
          llvm::StringRef name);

} // namespace mp::tool

#endif // MP_TOOLS_DATA_TOKENIZE_H
