//===- Stages.h - the stages of a tokenizer -------------------------------===//
//
// A tokenizer.json describes a text's way to tokens in stages: normalizers
// change it, pre-tokenizers split it into words, and a model gives each word
// its tokens. Decoders lead back. The names are those of the file.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_TEXT_STAGES_H
#define MP_RUNTIME_TEXT_STAGES_H

#include "runtime/text/Vocabulary.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>

namespace mp::tokenizers {

//===----------------------------------------------------------------------===//
// Normalizers
//===----------------------------------------------------------------------===//

using Normalizer = std::function<std::string(llvm::StringRef)>;

struct BertNormalizer {
  bool cleanText = true, handleChineseChars = true, lowercase = true;
  std::optional<bool> stripAccents = {}; ///< else as `lowercase`

  std::string operator()(llvm::StringRef text) const;
};
std::string stripAccents(llvm::StringRef text);
std::string lowercase(llvm::StringRef text);

//===----------------------------------------------------------------------===//
// Pre-tokenizers
//===----------------------------------------------------------------------===//

/// Calls `word` for each word of a text.
using WordSink = llvm::function_ref<void(llvm::StringRef word)>;
using PreTokenizer = std::function<void(llvm::StringRef text, WordSink word)>;

/// GPT-2's: words with the space before them, each byte as a visible character
/// of its own.
struct ByteLevel {
  bool addPrefixSpace = true, useRegex = true;

  void operator()(llvm::StringRef text, WordSink word) const;
};
/// Words between spaces, and punctuation on its own.
void bertPreTokenizer(llvm::StringRef text, WordSink word);
/// Words between spaces.
void whitespaceSplit(llvm::StringRef text, WordSink word);
/// Runs of \w, and runs of what is neither \w nor a space.
void whitespaceRuns(llvm::StringRef text, WordSink word);

/// Returns the bytes for which ByteLevel's characters stand, or the text itself
/// if it has others.
std::string bytesOfByteLevel(llvm::StringRef text);

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

class Model {
public:
  virtual ~Model() = default;
  /// Appends the tokens of a word.
  virtual void encode(llvm::StringRef word, Tokens &tokens) const = 0;

  Vocabulary vocabulary;
};

/// Byte-pair encoding (Sennrich et al., "Neural Machine Translation of Rare
/// Words with Subword Units", 2016): adjacent tokens are merged, the earliest
/// merge of the list first, and of equal ones the leftmost.
class BytePairs : public Model {
public:
  void encode(llvm::StringRef word, Tokens &tokens) const override;
  /// Appends a merge. Fails if one of the tokens, or what they make, is not in
  /// the vocabulary.
  llvm::Error addMerge(llvm::StringRef left, llvm::StringRef right);

  std::optional<Token> unknown; ///< without it, what is unknown is left out
  std::string continuingPrefix, endSuffix;
  bool fusesUnknown = false, byteFallback = false, ignoresMerges = false;

private:
  struct Merge {
    uint32_t rank;
    Token made;
  };
  struct Symbol;
  class Word;

  std::vector<Token> symbolsOf(llvm::StringRef word) const;
  bool appendBytes(llvm::StringRef symbol, std::vector<Token> &symbols) const;
  const Merge *find(Token left, Token right) const;

  llvm::DenseMap<std::pair<Token, Token>, Merge> merges;
  uint32_t mergeCount = 0;
  /// Words that were seen: most of a text are. No more than `kMostWords`.
  mutable llvm::StringMap<Tokens> words;
};

/// WordPiece (Devlin et al., "BERT", 2019): of the rest of a word, the longest
/// beginning that is a token, until nothing is left.
class WordPiece : public Model {
public:
  void encode(llvm::StringRef word, Tokens &tokens) const override;

  Token unknown = 0;
  std::string continuingPrefix = "##";
  /// Words of more characters are unknown.
  uint64_t mostCharacters = 100;
};

//===----------------------------------------------------------------------===//
// Decoders
//===----------------------------------------------------------------------===//

/// Changes the names of tokens to pieces of text, which follow one another.
using Decoder = std::function<void(std::vector<std::string> &pieces)>;

struct WordPieceDecoder {
  std::string prefix = "##";
  bool cleanup = true; ///< without spaces before punctuation

  void operator()(std::vector<std::string> &pieces) const;
};
/// Of BPE with a suffix at the end of words.
struct SuffixDecoder {
  std::string suffix = "</w>";

  void operator()(std::vector<std::string> &pieces) const;
};
void byteLevelDecoder(std::vector<std::string> &pieces);
/// Spaces between tokens, where a file has no decoder.
void spacedDecoder(std::vector<std::string> &pieces);

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_STAGES_H
