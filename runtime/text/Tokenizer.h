//===- Tokenizer.h - text as numbers, and back ----------------------------===//
#ifndef MP_RUNTIME_TEXT_TOKENIZER_H
#define MP_RUNTIME_TEXT_TOKENIZER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mp::tokenizers {

/// The number of a token is its place in the vocabulary.
using Token = uint32_t;
using Tokens = std::vector<Token>;

/// The largest vocabulary that is read: far above those in use.
inline constexpr uint64_t kMostTokens = uint64_t(1) << 22;

/// A part of a sample: a text, by its place among the sample's texts, or a
/// token of its own. `type` says to which text the part belongs.
struct TemplatePart {
  std::optional<unsigned> text = {};
  Token token = 0;
  uint8_t type = 0;
};
using Template = std::vector<TemplatePart>;

/// Turns texts into tokens and back, for one thread at a time.
class Tokenizer {
public:
  virtual ~Tokenizer() = default;
  /// Appends the tokens of a text. Fails if the text has what the tokenizer has
  /// no token for, or is not UTF-8 where it must be; the error gives the byte.
  virtual llvm::Error encode(llvm::StringRef text, Tokens &tokens) const = 0;
  /// Returns the text of tokens, each of which is in the vocabulary. It may not
  /// be UTF-8 if the tokens begin or end within a character.
  virtual std::string decode(llvm::ArrayRef<Token> tokens) const = 0;
  /// Returns how many of the tokens have a text that others after them leave
  /// as it is: bytes at the end, such as "<0xE2>", may become a character.
  virtual size_t settled(llvm::ArrayRef<Token> tokens) const {
    return tokens.size();
  }
  /// Returns the token of this name, as "<|endoftext|>".
  virtual std::optional<Token> find(llvm::StringRef name) const = 0;
  /// Returns one more than the largest token.
  virtual uint64_t vocabularySize() const = 0;

  /// What a sample of one text and of two is made of, with the tokens that the
  /// tokenizer's file asks for, such as [CLS] and [SEP].
  Template oneText = {{.text = 0}},
           twoTexts = {{.text = 0}, {.text = 1, .type = 1}};
};

/// The tokens of a sample, and the type of each: 0 in the first text and 1 in
/// the second, unless the tokenizer's file has other types.
struct Sample {
  Tokens tokens;
  std::vector<uint8_t> types;
};

/// Returns a sample of one text or of two, of at most `most` tokens: texts are
/// cut off to leave room for the tokens around them. Two texts are cut as
/// Hugging Face's `longest_first` does.
llvm::Expected<Sample> encodeSample(const Tokenizer &tokenizer,
                                    llvm::ArrayRef<llvm::StringRef> texts,
                                    size_t most);

/// Each byte is a token; a vocabulary of 256.
std::unique_ptr<Tokenizer> byteTokenizer();

/// Each of these characters is a token, in their order.
std::unique_ptr<Tokenizer> characterTokenizer(std::vector<char32_t> characters);

/// The characters of texts, sorted by their numbers, as nanoGPT's
/// shakespeare_char numbers them.
class CharacterSet {
public:
  /// Fails if the text is not UTF-8.
  llvm::Error add(llvm::StringRef text);
  std::vector<char32_t> sorted() const;

private:
  std::vector<bool> seen;
};

/// Reads a .model of SentencePiece, which its name says, or else a
/// tokenizer.json of Hugging Face's tokenizers, with a model BPE, WordPiece or
/// Unigram, or the description of a file of tokens of characters or bytes.
/// Errors name the file and the field.
llvm::Expected<std::unique_ptr<Tokenizer>> readTokenizer(llvm::StringRef path);

/// Reads the text of one that is JSON; errors name it by `path`.
llvm::Expected<std::unique_ptr<Tokenizer>> parseTokenizer(llvm::StringRef text,
                                                          llvm::StringRef path);
/// Reads the bytes of a .model of SentencePiece, of the type unigram or BPE.
llvm::Expected<std::unique_ptr<Tokenizer>>
parseSentencePieces(llvm::StringRef bytes, llvm::StringRef path);

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_TOKENIZER_H
