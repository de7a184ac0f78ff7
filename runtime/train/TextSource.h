//===- TextSource.h - what texts are written from ---------------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_TEXTSOURCE_H
#define MP_RUNTIME_TRAIN_TEXTSOURCE_H

#include "runtime/Session.h"
#include "runtime/text/Tokenizer.h"

namespace mp {

/// Gives a network the texts that it writes others from, such as those that are
/// translated: the part of it that is computed once for them (mp-split-source)
/// leaves what it computes in variables.
class TextSource {
public:
  /// `entry`: that part, which has to outlive the result.
  ///
  /// Error: its inputs are not tokens [texts, tokens] and, unless all texts are
  /// as long, how many of them a text has, [texts].
  static llvm::Expected<TextSource> open(Executable &entry);

  /// The most tokens of a text.
  int64_t context() const { return tokens().shape[1]; }
  /// Reads a text in each row. Shorter ones are filled up with zeros.
  ///
  /// Error: a token that is not in the vocabulary.
  llvm::Error read(llvm::ArrayRef<tokenizers::Tokens> rows);

private:
  explicit TextSource(Executable &entry) : entry(&entry) {}
  const TensorType &tokens() const {
    return entry->entry().inputs[tokensInput].type;
  }

  Executable *entry;
  unsigned tokensInput = 0;
  std::optional<unsigned> lengthsInput;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TEXTSOURCE_H
