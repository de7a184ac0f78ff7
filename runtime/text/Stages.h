//===- Stages.h - the stages of a tokenizer -------------------------------===//
//
// A tokenizer.json describes a text's way to tokens in stages: normalizers
// change it, pre-tokenizers split it into words, and a model gives each word
// its tokens. Decoders lead back. The names are those of the file.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_TEXT_STAGES_H
#define MP_RUNTIME_TEXT_STAGES_H

#include "runtime/text/Pattern.h"
#include "runtime/text/PieceSearch.h"
#include "runtime/text/TokenCache.h"
#include "runtime/text/Vocabulary.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>
#include <limits>

namespace mp::tokenizers {

/// The most bytes that stages make of a text of `bytes`: files are not trusted,
/// and what replaces what has been replaced grows without end.
inline size_t mostBytesOf(size_t bytes) { return (1 << 16) + 64 * bytes; }
/// Fails if stages have made more of a text.
llvm::Error checkGrowth(size_t before, size_t now);

//===----------------------------------------------------------------------===//
// Normalizers
//===----------------------------------------------------------------------===//

/// Fails where a regular expression takes too many steps.
using Normalizer = std::function<llvm::Expected<std::string>(llvm::StringRef)>;

struct BertNormalizer {
  bool cleanText = true, handleChineseChars = true, lowercase = true;
  std::optional<bool> stripAccents = {}; ///< else as `lowercase`

  std::string operator()(llvm::StringRef text) const;
};
struct Strip {
  bool left = true, right = true;

  std::string operator()(llvm::StringRef text) const;
};
/// Puts a text before what is not empty.
struct Prepend {
  std::string text;

  std::string operator()(llvm::StringRef after) const;
};
struct Replace {
  Pattern pattern;
  std::string with;

  llvm::Expected<std::string> operator()(llvm::StringRef text) const;
};
/// SentencePiece's rules of neural machine translation: no controls, and every
/// space the same.
std::string nmt(llvm::StringRef text);
std::string stripAccents(llvm::StringRef text);
std::string lowercase(llvm::StringRef text);

//===----------------------------------------------------------------------===//
// Pre-tokenizers
//===----------------------------------------------------------------------===//

/// A part of a text, and whether the text begins with it.
struct Piece {
  llvm::StringRef text;
  bool isFirst = false;

  Piece slice(size_t begin, size_t end) const {
    return {text.slice(begin, end), isFirst && begin == 0};
  }
};
/// Calls `word` for each word of a piece. Fails where a regular expression
/// takes too many steps.
using WordSink = llvm::function_ref<void(Piece word)>;
using PreTokenizer = std::function<llvm::Error(Piece piece, WordSink word)>;

/// GPT-2's: words with the space before them, each byte as a visible character
/// of its own.
struct ByteLevel {
  bool addPrefixSpace = true, useRegex = true;

  llvm::Error operator()(Piece piece, WordSink word) const;
};
/// Words between spaces, and punctuation on its own.
llvm::Error bertPreTokenizer(Piece piece, WordSink word);
/// Words between spaces.
llvm::Error whitespaceSplit(Piece piece, WordSink word);
/// Runs of \w, and runs of what is neither \w nor a space.
llvm::Error whitespaceRuns(Piece piece, WordSink word);

/// SentencePiece's: a visible character for each space, and before words.
struct Metaspace {
  enum class Prepends { Always, First, Never };

  std::string replacement;
  Prepends prepends = Prepends::Always;
  bool splits = true;

  llvm::Error operator()(Piece piece, WordSink word) const;
};

/// What becomes of matches: words of their own, nothing, a part of the word
/// before or after, or one word with those beside them.
enum class Behavior {
  Isolated,
  Removed,
  MergedWithPrevious,
  MergedWithNext,
  Contiguous
};
struct Split {
  Pattern pattern;
  Behavior behavior;
  bool isInverted = false; ///< what is between matches counts as one

  llvm::Error operator()(Piece piece, WordSink word) const;
};
/// Splits at numbers: at each digit, or at runs of them.
struct Digits {
  bool isEachAlone = false;

  llvm::Error operator()(Piece piece, WordSink word) const;
};
struct Punctuation {
  Behavior behavior = Behavior::Isolated;

  llvm::Error operator()(Piece piece, WordSink word) const;
};

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
  const Merge *find(Token left, Token right) const;

  llvm::DenseMap<std::pair<Token, Token>, Merge> merges;
  uint32_t mergeCount = 0;
  mutable TokenCache words;
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

/// The unigram language model (Kudo, "Subword Regularization", 2018): of all
/// ways to divide a word into pieces, the most probable.
class Unigram : public Model {
public:
  void encode(llvm::StringRef word, Tokens &tokens) const override;
  /// Appends a piece and the logarithm of its probability. Fails if it is there
  /// already.
  llvm::Error add(llvm::StringRef piece, double score);
  /// Is called after the last piece.
  void sortPieces();

  Token unknown = 0;
  bool byteFallback = false;

private:
  struct Step;

  std::vector<Step> bestSteps(llvm::StringRef word) const;

  std::vector<double> scores;
  double lowestScore = std::numeric_limits<double>::infinity();
  PieceSearch search;
  mutable TokenCache words;
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
/// Of Metaspace. `isPrepended` says that the first token begins with spaces
/// that the text has not.
struct MetaspaceDecoder {
  std::string replacement;
  bool isPrepended = true;

  void operator()(std::vector<std::string> &pieces) const;
};
struct ReplaceDecoder {
  std::string what, with;

  void operator()(std::vector<std::string> &pieces) const;
};
/// Removes a character from the ends of each piece, so many times at most.
struct StripDecoder {
  std::string character;
  uint64_t start = 0, stop = 0;

  void operator()(std::vector<std::string> &pieces) const;
};
/// The bytes of tokens like "<0x0A>": runs of them are characters, or, if they
/// are not UTF-8, U+FFFD for each.
void byteFallbackDecoder(std::vector<std::string> &pieces);
/// Makes one piece of all.
void fuseDecoder(std::vector<std::string> &pieces);
void byteLevelDecoder(std::vector<std::string> &pieces);
/// Spaces between tokens, where a file has no decoder.
void spacedDecoder(std::vector<std::string> &pieces);

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_STAGES_H
