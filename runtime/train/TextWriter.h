//===- TextWriter.h - texts that grow token by token ------------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_TEXTWRITER_H
#define MP_RUNTIME_TRAIN_TEXTWRITER_H

#include "runtime/train/Generate.h"

namespace mp {

struct WritingOptions {
  tokenizers::SamplingOptions sampling;
  int64_t samples = 1;  ///< texts for each prompt
  int64_t length = 256; ///< tokens that are written to a text, at most
  /// The last token of a text.
  std::optional<tokenizers::Token> end = std::nullopt;
  /// Only the first so many tokens are drawn, where a vocabulary is filled up.
  uint64_t known = tokenizers::kMostTokens;
};

/// A token that a text was continued by.
struct WrittenToken {
  size_t text; ///< the number of the prompt, times samples, plus the sample's
  tokenizers::Token token;
  bool isLast;                  ///< the text has its length or its end
  llvm::ArrayRef<float> logits; ///< which it was drawn from
};

/// Continues prompts, which may differ in length. Each text takes one token at
/// a time from its beginning on, so that all are as long: a text whose prompt
/// is not over takes the next token of this, and another one what it drew. So a
/// text has the arithmetic that it has alone, and its own random numbers: text
/// `i` draws as one alone with the seed plus i. As long as all have several
/// tokens of their prompts left, they take several at once.
///
/// A network that writes a text from another one reads its prompt as that. The
/// text begins without a token then, and ends once the network's context is
/// full.
class TextWriter {
public:
  /// Begins texts, of which the generator, which has to outlive the result,
  /// holds at least as many. It forgets the texts of before.
  ///
  /// Errors: no prompt, too many texts, a prompt without tokens, longer than
  /// the context, or with a token that is not in the vocabulary.
  static llvm::Expected<TextWriter>
  begin(Generator &generator, llvm::ArrayRef<tokenizers::Tokens> prompts,
        const WritingOptions &options);

  /// Continues texts by a token each, and returns these in the order of the
  /// texts; none once all texts have ended. Texts whose prompt is not over are
  /// not among them. What it returns is valid until the next call. After an
  /// error, such as logits that are NaN, no text goes on.
  llvm::Expected<llvm::ArrayRef<WrittenToken>> next();

private:
  struct Text {
    tokenizers::Tokens tokens; ///< which the generator is to take
    tokenizers::Sampler sampler;
    size_t taken = 0; ///< of them
    int64_t written = 0;
    bool hasEnded = false;

    size_t left() const { return tokens.size() - taken; }
  };

  TextWriter(Generator &generator, const WritingOptions &options)
      : generator(&generator), options(options), rows(generator.texts()) {}
  /// Lets the generator read the prompts; the texts begin with the network's
  /// first token.
  llvm::Error readSource();
  /// Gives `count` tokens of each text to the generator.
  llvm::Expected<llvm::ArrayRef<std::vector<float>>> take(size_t count);
  llvm::Error draw(size_t text, llvm::ArrayRef<float> logits);

  Generator *generator;
  WritingOptions options;
  std::vector<Text> texts;
  std::vector<tokenizers::Tokens> rows;
  std::vector<WrittenToken> written;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TEXTWRITER_H
