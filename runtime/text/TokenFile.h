//===- TokenFile.h - files of tokens and what is known of them ------------===//
#ifndef MP_RUNTIME_TEXT_TOKENFILE_H
#define MP_RUNTIME_TEXT_TOKENFILE_H

#include "program/Program.h"
#include "runtime/text/Tokenizer.h"
#include "llvm/Support/JSON.h"

namespace mp::tokenizers {

/// How text becomes tokens, as it is asked for: "bytes", "characters", or a
/// file. Characters are known once all texts were read.
class TokenizerChoice {
public:
  explicit TokenizerChoice(std::string name) : name(std::move(name)) {}

  /// Takes a text into account, where the vocabulary depends on it.
  llvm::Error add(llvm::StringRef text);
  llvm::Expected<std::unique_ptr<Tokenizer>> make() const;
  /// Whether texts are counted in bytes, not characters.
  bool countsBytes() const { return name == "bytes"; }
  /// Adds what a file's description says of the tokenizer.
  void describe(llvm::json::Object &description) const;

private:
  bool isCharacters() const { return name == "characters"; }

  std::string name;
  CharacterSet characters;
};

/// Returns the type for the tokens of a vocabulary: "uint16" or "uint32", or
/// the smaller one that holds all if `asked` is empty. Fails if it does not.
llvm::Expected<ElementType> tokenType(uint64_t vocabularySize,
                                      llvm::StringRef asked);
/// NumPy's name of the type.
llvm::StringRef dtypeName(ElementType type);

/// Appends the bytes of tokens, little-endian.
void appendTokens(llvm::ArrayRef<Token> tokens, ElementType type,
                  std::string &bytes);
/// Returns the tokens of such bytes, which are whole ones.
Tokens tokensOf(llvm::StringRef bytes, ElementType type);

/// Returns the name of the description of a file of tokens, a JSON beside it.
std::string descriptionOf(llvm::StringRef path);

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_TOKENFILE_H
