//===- Pipeline.h - a tokenizer of stages ---------------------------------===//
#ifndef MP_RUNTIME_TEXT_PIPELINE_H
#define MP_RUNTIME_TEXT_PIPELINE_H

#include "runtime/text/AddedTokens.h"
#include "runtime/text/Stages.h"

namespace mp::tokenizers {

/// The tokenizer of a tokenizer.json. A stage that the file has not is empty.
class Pipeline : public Tokenizer {
public:
  llvm::Error encode(llvm::StringRef text, Tokens &tokens) const override;
  std::string decode(llvm::ArrayRef<Token> tokens) const override;
  size_t settled(llvm::ArrayRef<Token> tokens) const override;
  std::optional<Token> find(llvm::StringRef name) const override;
  uint64_t vocabularySize() const override;

  /// Adds a token to those of the model, which may have it already. Fails if
  /// the model has another one of its name or number.
  llvm::Error add(AddedToken token);
  /// Returns a name without data if there is no such token.
  llvm::StringRef nameOf(Token token) const;

  Normalizer normalizer;
  PreTokenizer preTokenizer;
  std::unique_ptr<Model> model;
  Decoder decoder;

private:
  llvm::Error encodePiece(Piece piece, Tokens &tokens) const;

  /// Those that are found before normalizers, and after them.
  AddedTokens inText, inNormalized;
  /// All of both. The model does not find them in words.
  Vocabulary added;
  /// Texts of added tokens after normalizers, which is how they are decoded.
  llvm::DenseMap<Token, std::string> normalizedNames;
};

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_PIPELINE_H
