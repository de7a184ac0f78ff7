//===- Generate.h - texts that a language model continues -------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_GENERATE_H
#define MP_RUNTIME_TRAIN_GENERATE_H

#include "runtime/text/Sampler.h"
#include "runtime/train/Evaluate.h"
#include "runtime/train/TextSource.h"

namespace mp {

/// Gives tokens to a causal language model, a few at a time, and returns what
/// it says of the next. What it computed of earlier tokens is kept (mp-decode),
/// so that a token costs the same wherever it is. Texts are rows of a batch,
/// which all are as long.
///
/// A network that writes a text from another one, as for a translation, reads
/// that first (mp-split-source).
class Generator {
public:
  /// Loads the weights of EvalOptions::checkpoint. EvalOptions::batch is the
  /// number of texts (1), and EvalOptions::predictions names the logits, the
  /// only result with dimensions unless it does. `input` names the input that
  /// holds the tokens, if there are several.
  ///
  /// Errors: the network is no causal language model (the op that is not
  /// causal is named), has inputs beside a text and one that it is written
  /// from, or has no logits of [batch, tokens, vocabulary].
  static llvm::Expected<Generator>
  open(const EvalOptions &options, llvm::StringRef input, Compiler compiler,
       SessionFactory createSession = Session::create);

  /// The network with its state.
  Model &model() const { return *trained.model; }
  int64_t texts() const { return next->entry().inputs[0].type.shape[0]; }
  /// The most tokens that the network looks at: as many as a position can
  /// count if a state is all that it keeps of them, and nothing else depends on
  /// where a token is.
  int64_t context() const { return contextSize; }
  int64_t vocabulary() const {
    return next->entry().results[0].type.shape.back();
  }

  /// Whether texts are written from others, which `read` takes.
  bool hasSource() const { return source.has_value(); }
  /// The most tokens that a prompt may have: of what a text is written from, or
  /// begins with.
  int64_t longestPrompt() const {
    return source ? source->context() : contextSize;
  }
  /// Whether the next token makes the network forget.
  bool isFull() const { return length() >= contextSize; }
  /// Reads what texts are written from, a row for each text, and forgets all
  /// tokens. The first token of each text is the network's own: that which is
  /// taken first stands for it.
  llvm::Error read(llvm::ArrayRef<tokenizers::Tokens> rows);

  /// How many of its tokens a text still has once the context is full.
  int64_t remembered() const { return std::max<int64_t>(1, contextSize / 2); }

  /// Forgets all tokens.
  void clear() { taken.assign(taken.size(), {}); }
  /// Takes the next tokens, one at least: a row of equal length for each text.
  /// Returns the logits of the token that follows, a row for each text, which
  /// are valid until the next call. Once the context is full, the network
  /// forgets all but the newest tokens, which it takes again, at the first
  /// positions. Error: a token that is not in the vocabulary.
  llvm::Expected<llvm::ArrayRef<std::vector<float>>>
  take(llvm::ArrayRef<tokenizers::Tokens> rows);

private:
  Generator() = default;
  /// Whether the network has variables whose names begin so.
  bool keeps(llvm::StringRef prefix) const;
  /// Compiles what texts are written from, if they are.
  llvm::Error openSource();
  /// Computes the tokens from `first` on that an entry takes in a call, which
  /// may be more than there are.
  llvm::Error compute(Executable &entry, int64_t first);
  /// Computes all tokens from `first` on.
  llvm::Error computeFrom(int64_t first);
  void readLogits(const Entry &entry, Results results, int64_t row);
  int64_t length() const { return taken[0].size(); }

  TrainedModel trained;
  Executable *next = nullptr;    ///< takes one token
  Executable *several = nullptr; ///< takes a few; null until it is needed
  std::optional<TextSource> source;
  int64_t contextSize = 0;
  /// A state is that of the tokens so far: none is taken twice, and none that
  /// is not there.
  bool isRecurrent = false;
  std::vector<tokenizers::Tokens> taken;
  std::vector<std::vector<float>> logits;
  std::vector<char> input;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_GENERATE_H
