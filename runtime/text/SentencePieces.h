//===- SentencePieces.h - SentencePiece's models --------------------------===//
//
// Kudo and Richardson, "SentencePiece", 2018. Unlike the stages of Hugging
// Face's tokenizers, which follow it, a text is not split into words first, and
// scores are floats, so that other pieces may be the best.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_TEXT_SENTENCEPIECES_H
#define MP_RUNTIME_TEXT_SENTENCEPIECES_H

#include "runtime/text/CharacterMap.h"
#include "runtime/text/PieceSearch.h"
#include "runtime/text/Vocabulary.h"
#include <limits>

namespace mp::tokenizers {

/// The numbers are those of the files.
enum class PieceType : uint8_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,     ///< is not found in texts, and has none
  UserDefined = 4, ///< is found as a whole
  Unused = 5,      ///< is not given out, but BPE merges to it
  Byte = 6
};

/// What a file says, by its names.
struct SentenceModel {
  enum class Type { Unigram = 1, Bpe = 2 };

  Vocabulary vocabulary;
  std::vector<float> scores; ///< by token, as those below
  std::vector<PieceType> types;

  // trainer_spec
  Type type = Type::Unigram;
  bool byteFallback = false;
  std::string unknownSurface = " \u2047 ";

  // normalizer_spec
  std::optional<CharacterMap> characterMap;
  bool addDummyPrefix = true, removeExtraWhitespaces = true,
       escapeWhitespaces = true;

  // What follows from these.
  Token unknown = 0;
  /// Those that a text may have: normal ones, unused ones, and those of users.
  PieceSearch inText;
  PieceSearch userDefined;
  float lowestScore = std::numeric_limits<float>::max(); ///< of normal ones

  /// Returns the piece of this name if a text may have it.
  std::optional<Token> findInText(llvm::StringRef name) const;
  bool isOf(Token token, PieceType type) const { return types[token] == type; }
};

/// Is called for the pieces of a text, one after the other.
using PieceSink = llvm::function_ref<void(Token token, llvm::StringRef piece)>;

/// Finds the pieces whose scores have the largest sum.
void forEachUnigram(const SentenceModel &model, llvm::StringRef text,
                    PieceSink piece);
/// Merges neighbours to the piece of the highest score, until none is left.
void forEachMerged(const SentenceModel &model, llvm::StringRef text,
                   PieceSink piece);

class SentencePieces : public Tokenizer {
public:
  explicit SentencePieces(std::unique_ptr<SentenceModel> model)
      : model(std::move(model)) {}

  llvm::Error encode(llvm::StringRef text, Tokens &tokens) const override;
  std::string decode(llvm::ArrayRef<Token> tokens) const override;
  size_t settled(llvm::ArrayRef<Token> tokens) const override;
  std::optional<Token> find(llvm::StringRef name) const override {
    return model->vocabulary.find(name);
  }
  uint64_t vocabularySize() const override { return model->vocabulary.size(); }

private:
  std::string normalized(llvm::StringRef text) const;
  CharacterMap::Rule ruleAt(llvm::StringRef text) const;

  std::unique_ptr<SentenceModel> model;
};

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_SENTENCEPIECES_H
