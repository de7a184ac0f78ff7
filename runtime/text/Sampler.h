//===- Sampler.h - the next token, drawn from logits ------------*- C++ -*-===//
#ifndef MP_RUNTIME_TEXT_SAMPLER_H
#define MP_RUNTIME_TEXT_SAMPLER_H

#include "runtime/text/Tokenizer.h"
#include <random>

namespace mp::tokenizers {

/// How tokens are drawn, with the names and meaning of Hugging Face's
/// `generate`: the temperature divides the logits, then top_k and after it
/// top_p leave out tokens, and what is left is drawn by its softmax.
struct SamplingOptions {
  double temperature = 1; ///< 0: the token with the largest logit
  uint64_t topK = 0;      ///< the most probable tokens; 0: all
  /// The most probable tokens whose probabilities add up to this: at least one.
  double topP = 1;
  uint64_t seed = 0;
};

/// Draws tokens. The same seed and logits give the same tokens on all machines.
class Sampler {
public:
  explicit Sampler(const SamplingOptions &options)
      : options(options), bits(options.seed) {}

  /// Returns a token; of several with the same logit, the first counts as more
  /// probable. Error: no logit is finite, or one is NaN or +infinity.
  llvm::Expected<Token> draw(llvm::ArrayRef<float> logits);

private:
  struct Candidate {
    double weight; ///< exp of the logit less the largest
    Token token;
  };
  /// Fills `candidates`, the most probable first where that matters.
  void choose(llvm::ArrayRef<float> logits, float largest);

  SamplingOptions options;
  std::mt19937_64 bits;
  std::vector<Candidate> candidates;
};

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_SAMPLER_H
